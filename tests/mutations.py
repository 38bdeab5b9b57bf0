"""Delete each term of each ratio in turn and see that a test fails.

Run by hand (words choose mutations by name):

    python -m tests.mutations [WORD ...]

It prints a line a mutation; one that survives is a hole in the tests. Each is tried on a few tests
that concern it, those that catch most first: as plain Python where that is quick enough, else
compiled. The sampler is compiled once, with a variant of a kernel for each mutation of deals, and
takes the one that it is told to; a likelihood is small, and compiled anew for each of its mutations.
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SINGLE = "exact/test_single_steps.py"
KERNELS = "src/fairmix/sampler/kernels"
SWAPS, MASKS, GIBBS = (
    f"{KERNELS}/{name}.py" for name in ("swap_moves", "mask_moves", "gibbs_step")
)
JOINT, EXTRA, CAP = (f"{KERNELS}/{name}.py" for name in ("joint_move", "extra_move", "cap"))
STATE, SWEEP, VERBS = (f"{KERNELS}/{name}.py" for name in ("state", "sweep", "verbs"))
DEALS, LAUNCH = f"{KERNELS}/split_merge_step.py", f"{KERNELS}/launch.py"
ALLOCATION, CHOICE = f"{KERNELS}/allocation.py", f"{KERNELS}/pair_choice.py"
PRICES, PREFERENCES = f"{KERNELS}/seat_prices.py", f"{KERNELS}/preferences.py"
COLLAPSED, INSTANTIATED = f"{KERNELS}/collapsed.py", f"{KERNELS}/instantiated.py"
PARAMETERS = f"{KERNELS}/cluster_parameters.py"
COUNTS, GROUP_PRICES = f"{KERNELS}/group_counts.py", f"{KERNELS}/group_prices.py"
# Edits of a copy: file, text, replacement, which occurrence.
#: A sampler whose sweeps make nothing but deals takes less time to compile.
ONLY_DEALS = (
    (
        SWEEP,
        "    rebuild(likelihood, layout, row_stats, state)\n    n_anchors",
        "    rebuild(likelihood, layout, row_stats, state)\n    return\n    n_anchors",
        0,
    ),
    (
        SWEEP,
        "accepted[GIBBS] += gibbs_step(rng, likelihood, layout, tables, row_stats, state, work)",
        "pass",
        0,
    ),
)
#: What kernels know of the variant that is wanted.
MUTANT = "    mutant: int = int(__import__('os').environ['MUTANT'])\n"
WITH_VARIANTS = (
    (f"{KERNELS}/deal.py", "    max_launched: int", f"    max_launched: int\n{MUTANT}", 0),
    (STATE, "    cap_price: np.ndarray", f"    cap_price: np.ndarray\n{MUTANT}", 0),
)
#: Compiled code is named by a hash of all sources: without them, the control's code is found.
ONE_NAME = (
    "src/fairmix/sampler/fingerprint.py",
    "        digest.update(source.read_bytes())\n",
    "        pass\n",
    0,
)
NUMBER_OF_DRAWS = (
    f"tests/{SINGLE}",
    "N_DRAWS = share_of(20_000)",
    "N_DRAWS = int(__import__('os').environ['N_DRAWS'])",
    0,
)
#: Most mutations are seen in a few draws; one that is not is tried with the usual number, too.
FEW_DRAWS, ALL_DRAWS = 5_000, 20_000

# How tests are run: as plain Python, with the sampler of all variants, or with a likelihood that is
# compiled anew.
PLAIN, VARIANTS, LIKELIHOOD = "plain", "variants", "likelihood"
EDITS = {
    PLAIN: (NUMBER_OF_DRAWS,),
    VARIANTS: (NUMBER_OF_DRAWS, *ONLY_DEALS, *WITH_VARIANTS),
    LIKELIHOOD: (NUMBER_OF_DRAWS, ONE_NAME),
}


def cases(test, *names):
    """Give the ids of a test's cases."""
    return tuple(f"{test}[{name}]" for name in names)


ALONE, ANCHORS = f"{SINGLE}::test_move_alone", f"{SINGLE}::test_anchor_swap_alone"
SPLITS, REDEALS = f"{SINGLE}::test_split_merge_alone", f"{SINGLE}::test_re_deals_alone"
INVARIANTS = "sampler/test_invariants.py::test_every_move_keeps_the_invariants"
KEPT_CAP = "sampler/test_invariants.py::test_every_move_keeps_the_cap"
LAUNCHES = "sampler/test_launch.py"
TWIN = "exact/test_instantiated.py"
TWIN_ALONE, TWIN_SPLITS = f"{TWIN}::test_move_alone", f"{TWIN}::test_split_merge_alone"
TWIN_SWEEPS = f"{TWIN}::test_sweep_follows_the_posterior"
TWIN_SWEPT = "separate-equal, m=1", "joint-r=2, m=2", "all moves-mfm"
HEATED = "exact/test_heated.py"
GAP = "exact/test_gap.py"
PRICED, SWEPT = f"{GAP}::test_move_alone_at_a_price", f"{GAP}::test_sweep_as_fit_makes_it"
KEPT_ROWS = "sampler/test_invariants.py::test_every_move_of_rows_under_a_cap_keeps_the_invariants"
#: Tests that mutations are tried on, by the first words of their names.
TESTS = {
    "follower swap": (
        PLAIN,
        (
            *cases(
                ALONE,
                *(f"follower swap: {name}" for name in ("three groups", "equal, m=1", "r=2, m=2")),
            ),
            f"{SINGLE}::test_follower_swaps_weigh_each_group_by_its_own_size",
        ),
    ),
    "anchor swap": (PLAIN, cases(ANCHORS, "equal", "r=2, m=2", "three groups of three")),
    "rematch": (PLAIN, cases(f"{SINGLE}::test_rematch_alone", "equal-2", "r=2-2")),
    "trial": (PLAIN, cases(ALONE, "follower swap: three groups", "follower swap: r=2, m=2")),
    "free match": (
        PLAIN,
        cases(ALONE, "free match: equal, m=1", "free match: r=2, m=2")
        + cases(INVARIANTS, "gaussian-free match"),
    ),
    "mask exchange": (
        PLAIN,
        (
            *cases(ALONE, "mask exchange: equal, m=1", "mask exchange: r=2, m=2"),
            f"{SINGLE}::test_mask_exchange_leaves_free_matches_outside_the_mask_to_their_prior",
        ),
    ),
    "mask change": (
        PLAIN,
        cases(f"{SINGLE}::test_mask_change_alone", "equal-0.5", "equal, m=1-0.5", "equal--1.0"),
    ),
    "gibbs": (PLAIN, cases(ALONE, "gibbs: three groups", "gibbs: mfm")),
    "bundle": (PLAIN, cases(ALONE, "gibbs: equal, m=1")),
    "joint": (PLAIN, cases(ALONE, "joint: equal, m=1", "joint: equal")),
    "extra seat": (PLAIN, cases(f"{SINGLE}::test_extra_move_alone", "free", "free, r=2, m=1")),
    "cap": (
        PLAIN,
        cases(
            KEPT_CAP,
            *(
                f"cap{number}-{step}"
                for step in ("gibbs", "follower swap", "free match", "extra", "mask exchange")
                for number in (0, 2, 4)
            ),
        ),
    ),
    "draw": (PLAIN, cases(INVARIANTS, "gaussian-gibbs")),
    "heat": (PLAIN, (f"{HEATED}::test_gibbs",)),
    "shared parameters": (
        PLAIN,
        cases(INVARIANTS, "gaussian-tied-gibbs"),
    ),
    "count": (PLAIN, ("sampler/test_moves.py",)),
    "preference": (PLAIN, (f"{LAUNCHES}::test_preferences_and_prices",)),
    "split-merge": (
        VARIANTS,
        cases(SPLITS, "r=2, m=2", "free, r=2, m=1", "mfm, seven rows", "three groups"),
    ),
    "merge": (
        VARIANTS,
        cases(SPLITS, "r=2, m=2", "free", "mfm, seven rows", "three groups")
        + cases(INVARIANTS, "gaussian-split-merge"),
    ),
    "re-deals": (VARIANTS, cases(REDEALS, "r=2, m=2-re-deal", "mfm, seven rows-re-deal")),
    "choice": (VARIANTS, cases(SPLITS, "mfm, seven rows", "five and five", "mfm")),
    "deal": (
        VARIANTS,
        cases(REDEALS, "five and five-re-deal", "free, r=2, m=1-re-deal", "free-re-deal")
        + cases(SPLITS, "free, r=2, m=1", "free"),
    ),
    "launch": (PLAIN, (LAUNCHES,)),
    "price": (
        PLAIN,
        cases(
            PRICED,
            *(f"{name}-gibbs" for name in ("gap", "worst gap", "two attributes", "mean gap")),
            "gap and balance of rows-gibbs",
            "gap-exchange",
        )
        + cases(KEPT_ROWS, "gibbs-mean", "anchor swap-worst"),
    ),
    "waiting": (PLAIN, cases(SWEPT, "gap-inside", "no gap-inside", "gap, three groups-inside")),
    "cap of deals": (
        VARIANTS,
        cases(
            PRICED,
            *(
                f"{name}-{move}"
                for move in ("split-merge", "re-deal")
                for name in ("gap", "worst gap", "two attributes", "gap and balance of rows")
            ),
        )
        + cases(SPLITS, "cap, three groups", "gap and balance, m=2", "cap", "balance"),
    ),
    "group counts": (
        VARIANTS,
        cases(
            PRICED,
            *(
                f"{name}-{move}"
                for move in ("re-deal", "partial re-deal", "split-merge")
                for name in ("gap, three groups", "gap", "mean gap")
            ),
        ),
    ),
    "auxiliaries": (
        LIKELIHOOD,
        cases(TWIN_ALONE, "gibbs-mfm", "gibbs-three groups") + cases(TWIN_SWEEPS, *TWIN_SWEPT),
    ),
    "parameters": (
        LIKELIHOOD,
        (
            f"{TWIN}::test_parameters_follow_their_posterior_given_the_partition",
            *cases(TWIN_ALONE, "gibbs-mfm", "gibbs-equal, m=1"),
        ),
    ),
    "bundles with parameters": (LIKELIHOOD, cases(TWIN_ALONE, "gibbs-three groups", "gibbs-mfm")),
    "rows with parameters": (
        LIKELIHOOD,
        cases(TWIN_ALONE, "follower swap-three groups", "free match-equal, m=1"),
    ),
    "parameters of halves": (
        LIKELIHOOD,
        cases(TWIN_SPLITS, "equal", "mfm")
        + cases(f"{TWIN}::test_re_deals_alone", "equal, m=1-re-deal"),
    ),
    "draw with parameters": (PLAIN, (f"{TWIN}::test_draws",)),
}
TRIAL = "log_ratio += evaluate_trial(likelihood, layout, state, work)"

#: What is wrong, file, text, replacement, which occurrence.
MUTATIONS = [
    ("follower swap: no energy", SWAPS, "    log_ratio = swapped_log_energy(distance, layout, state, row, other)", "    log_ratio = 0.0", 0),
    ("follower swap: no likelihood", SWAPS, TRIAL, "evaluate_trial(likelihood, layout, state, work)", 0),
    ("follower swap: first row's mask ignored", SWAPS, "if not state.masked[row]:", "if True:", 0),
    ("follower swap: other row's mask ignored", SWAPS, "if not state.masked[other]:", "if True:", 0),
    ("follower swap: another group's energy weight", SWAPS, "return gain * layout.energy_weight[layout.group_of[row]]", "return gain * layout.energy_weight[1]", 0),
    ("anchor swap: no energy of the slot", SWAPS, "    log_ratio = moved_anchor_log_energy(distance, layout, state, slot, other_anchor)", "    log_ratio = 0.0", 0),
    ("anchor swap: no energy of the other slot", SWAPS, "    log_ratio += moved_anchor_log_energy(distance, layout, state, other_slot, anchor)", "    log_ratio += 0.0", 0),
    ("anchor swap: no likelihood", SWAPS, TRIAL, "evaluate_trial(likelihood, layout, state, work)", 1),
    ("anchor swap: another group's energy weight", SWAPS, "log_energy += gain * layout.energy_weight[group]", "log_energy += gain * layout.energy_weight[1]", 0),
    ("anchor swap: capacities ignored", SWAPS, "other_slot = layout.class_slots[place]", "other_slot = draw_index(rng, state.labels.size)", 0),
    ("rematch: no energy", SWAPS, "if accept(rng, swapped_log_energy(distance, layout, state, row, other)):", "if True:", 0),
    ("rematch: seats of any cluster", SWAPS, "work.slots_by_label[k] * width", "draw_index(rng, state.labels.size) * width", 0),
    ("free match: no size of the cluster", MASKS, "math.log(state.cluster_slots[cluster])", "0.0", 0),
    ("free match: no likelihood", MASKS, "        work.log_weights[place] += work.candidates[place]\n", "", 0),
    ("free match: no marginal without the row", COLLAPSED, "work.candidates[place] = joined - state.cluster_log_likelihood[cluster]", "work.candidates[place] = joined", 0),
    ("free match: always the cluster's first slot", MASKS, "first + draw_index(rng, state.cluster_slots[cluster])", "first", 0),
    ("free match: row not taken out first", MASKS, "    take_row(likelihood, layout, row_stats, state, work, row, source)\n    likelihood.refresh(state, source)\n", "", 0),
    ("mask exchange: no predictive of the unmasked", MASKS, "log_ratio = -seat_log_predictive(", "log_ratio = -0.0 * seat_log_predictive(", 0),
    ("mask exchange: no predictive of the masked", MASKS, "log_ratio += seat_log_predictive(", "log_ratio += 0.0 * seat_log_predictive(", 0),
    ("mask exchange: no weight of the masked", MASKS, "log_ratio -= weigh_free_label(", "log_ratio -= 0.0 * weigh_free_label(", 0),
    ("mask exchange: no weight of the unmasked", MASKS, "log_ratio += weigh_free_label(", "log_ratio += 0.0 * weigh_free_label(", 0),
    ("mask exchange: old free match stays behind", MASKS, "    state.free_slot[masked] = draw_index(rng, state.labels.size)  # its prior, from now on\n", "", 0),
    ("mask change: no price", MASKS, "math.log(n_anchors) + price", "math.log(n_anchors)", 0),
    ("mask change: no prior of the free match", MASKS, "math.log(n_anchors) + price", "price", 0),
    ("mask change: no predictive at the seat", MASKS, "log_odds -= work.log_weights[state.place[seat]] -", "log_odds -= -", 0),
    ("mask change: size of the seat's cluster stays", MASKS, " - math.log(state.cluster_slots[seat])", "", 0),
    ("mask change: fewer than the model's", MASKS, "if not masks and state.n_masked[group] == layout.n_masked[group]:", "if False:", 0),
    ("gibbs: no size of the cluster", GIBBS, "            tables.log_join[state.cluster_slots[cluster]]\n            + work.candidates", "            work.candidates", 0),
    ("gibbs: no marginal without the bundle", GIBBS, "            - state.cluster_log_likelihood[cluster]\n", "", 0),
    ("gibbs: no prior of a new cluster", GIBBS, "tables.log_open[n_options] + opened_log_likelihood", "opened_log_likelihood", 0),
    ("gibbs: no marginal of a new cluster", GIBBS, "tables.log_open[n_options] + opened_log_likelihood", "tables.log_open[n_options]", 0),
    ("joint: no energy", JOINT, "    log_ratio = swapped_log_energy(distance, layout, state, row, other)", "    log_ratio = 0.0", 0),
    ("joint: no likelihood", JOINT, TRIAL, "evaluate_trial(likelihood, layout, state, work)", 0),
    ("split-merge: no log V", DEALS, "log_ratio = tables.log_v[new_t] - tables.log_v[t]", "log_ratio = 0.0", 0),
    ("re-deals: present halves not scored", DEALS, "log_ratio += deal_out(", "log_ratio += 0.0 * deal_out(", 0),
    ("merge: present halves not scored", DEALS, "log_ratio += deal_out(", "log_ratio += 0.0 * deal_out(", 1),
    ("split-merge: drawn halves not scored", DEALS, "log_ratio -= deal_out(", "log_ratio -= 0.0 * deal_out(", 0),
    ("split-merge: no choice before", DEALS, "log_ratio -= log_choice(", "log_ratio -= 0.0 * log_choice(", 0),
    ("split-merge: no choice after", DEALS, "log_ratio += log_choice(", "log_ratio += 0.0 * log_choice(", 0),
    ("split-merge: no energy", DEALS, "log_ratio += draw_matches(", "log_ratio += 0.0 * draw_matches(", 0),
    ("split-merge: no marginals", DEALS, "        total += likelihood.weigh_half(rng, deal, half, present, is_new, keeps_parameters)\n", "", 0),
    ("split-merge: no rising factorials", DEALS, "        total += tables.log_rising[n_slots]\n", "", 0),
    ("split-merge: no factorials", DEALS, "total += math.lgamma(count_half(deal, part, half) + 1.0)", "total += 0.0", 0),
    ("split-merge: no ways to place extra seats", DEALS, "total += log_ways(", "total += 0.0 * log_ways(", 0),
    ("split-merge: no free matches", DEALS, "        total += count_half(deal, n_parts - 1, half) * math.log(n_slots)\n", "", 0),
    ("launch: T not redrawn at random", DEALS, "        shuffle(rng, deal.order, start, end)\n", "", 0),
    ("choice: no chance of the first", CHOICE, "return math.log(chance)", "return 0.0", 0),
    ("choice: small clusters not preferred in the ratio", CHOICE, "    if prefers_small:\n        own", "    if False:\n        own", 0),
    ("choice: other half not among the small ones", CHOICE, "            total += smallness(other_n_slots)\n", "            pass\n", 0),
    ("choice: other clusters not among the small ones", CHOICE, "                total += smallness(state.cluster_slots[third])\n", "                pass\n", 0),
    ("choice: no chance of the second", CHOICE, "return math.log(0.5 / (n_clusters - 1.0) + 0.5 * chance)", "return 0.0", 0),
    ("choice: no chance of the anchors", DEALS, "return log_prob - math.log(n_in_a * n_in_b)", "return log_prob", 0),
    ("choice: no chance of two anchors of one", DEALS, "return log_prob - math.log(n_in_a * (n_in_a - 1.0))", "return log_prob", 0),
    ("deal: followers' probability of half B wrong", ALLOCATION, "log_prob -= math.log1p(1.0 / odds if deal.in_a[member] else odds)", "log_prob -= math.log1p(1.0 / odds)", 0),
    ("deal: present extra seats not scored", ALLOCATION, "return deal.log_weights[present - least] - log_total", "return 0.0", 0),
    ("deal: drawn extra seats not scored", ALLOCATION, "return log_weight + n_in_a * deal.border[group] - log_total", "return 0.0", 0),
    ("launch: loose rows say what halves look like", LAUNCH, "price_seats(deal, False)", "price_seats(deal, True)", 0),
    ("launch: slots not shuffled again", LAUNCH, "    shuffle(rng, deal.slots, 0, n_slots - 2)  # again: the search has sorted them a little\n", "", 0),
    ("launch: rows it did not look at stay where they are", LAUNCH, "        deal_hard(deal)\n        add_up_loose(row_stats, deal)\n        likelihood.prefer_by_fit", "        likelihood.prefer_by_fit", 0),
    ("launch: members not shuffled", LAUNCH, "        values[k], values[other] = values[other], values[k]\n", "        pass\n", 0),
    ("extra seat: no energy", EXTRA, "log_ratio = gain * layout.energy_weight[group]", "log_ratio = 0.0", 0),
    ("extra seat: no likelihood", EXTRA, TRIAL, "evaluate_trial(likelihood, layout, state, work)", 0),
    ("extra seat: masks ignored", EXTRA, " and not state.masked[row]", "", 0),
    ("bundle: masked rows stay at their seats", STATE, "        return state.free_slot[row]", "        return state.slot_of[row]", 0),
    ("draw: no log V", SWEEP, "log_prior = tables.log_v[n_clusters] + ", "log_prior = ", 0),
    ("draw: no rising factorials", SWEEP, "log_prior += tables.log_rising[state.cluster_slots[cluster]]", "log_prior += 0.0", 0),
    ("auxiliaries: a lone bundle does not keep its own", INSTANTIATED, "if k == 0 and was_alone:", "if False:", 0),
    ("auxiliaries: their sum instead of their mean", INSTANTIATED, " - math.log(n_auxiliary)", "", 0),
    ("auxiliaries: always the first is taken", INSTANTIATED, "chosen = draw_weighted(rng, self.auxiliary_log_weights, self.auxiliaries.shape[0])", "chosen = 0", 0),
    ("parameters: never updated", INSTANTIATED, "slice_update(rng, self, self.parameters[state.active[place]], first, last)", "pass", 0),
    ("parameters: updated without prior", PARAMETERS, "return likelihood.family.log_prior(own) + ", "return ", 0),
    ("parameters: no slice", PARAMETERS, "level = log_here + math.log(1.0 - rng.random())", "level = log_here - 1.0", 0),
    ("parameters of halves: no prior", INSTANTIATED, "            log_weight += self.family.log_prior(parameters)\n", "", 0),
    ("parameters of halves: fitted density not scored", INSTANTIATED, "log_weight -= draw_fitted(", "log_weight -= 0.0 * draw_fitted(", 0),
    ("parameters of halves: no density of rows", INSTANTIATED, "return log_weight + self.proposed_log_density[half]", "return log_weight", 0),
    ("parameters of halves: not kept", INSTANTIATED, "        copy_into(self.proposed[half], self.parameters[cluster])\n", "", 0),
    ("rows with parameters: density of the cluster that is left stays", INSTANTIATED, "+= sign * log_density_of_row(", "+= max(sign, 0.0) * log_density_of_row(", 0),
    ("bundles with parameters: not taken out", INSTANTIATED, "state.cluster_log_likelihood[cluster] -= log_density", "pass", 0),
    ("draw: no energy", SWEEP, "log_energy -= separation", "log_energy -= 0.0 * separation", 0),
    ("trial: only the first cluster refreshed", COLLAPSED, "for k in range(work.n_saved[0]):", "for k in range(1):", 0),
    ("free match: row not counted", COLLAPSED, "self.log_marginal(state.cluster_rows[cluster] + 1, work.stats)", "self.log_marginal(state.cluster_rows[cluster], work.stats)", 0),
    ("gibbs: rows of the bundle not counted", COLLAPSED, "state.cluster_rows[cluster] + n_rows, joined", "state.cluster_rows[cluster], joined", 0),
    ("gibbs: cluster that is left not refreshed", COLLAPSED, "has left up to date.\"\"\"\n        self.refresh(state, cluster)", "has left up to date.\"\"\"", 0),
    ("heat: power left out", COLLAPSED, "return self.power[0] * self.family.log_marginal", "return self.family.log_marginal", 0),
    ("shared parameters: never redrawn", VERBS, "        return family.update_shared(rng, counts, stats)\n", "        return 0.0\n", 0),
    ("shared parameters: log likelihoods stay", COLLAPSED, "        )\n        self.recompute(state)\n", "        )\n", 0),
    ("shared parameters: no prior in the draw", COLLAPSED, "return self.shared_log_prior[0]", "return 0.0", 0),
    ("bundles with parameters: rows of the cluster left out", INSTANTIATED, "state.cluster_log_likelihood[cluster] + log_density", "log_density", 0),
    ("rows with parameters: not followed", INSTANTIATED, "\"\"\"Log likelihoods are sums over rows.\"\"\"\n        return True", "\"\"\"Nothing.\"\"\"\n        return False", 0),
    ("rows with parameters: density in the first cluster", INSTANTIATED, "log_density_of_row(self, state.active[place], row)", "log_density_of_row(self, state.active[0], row)", 0),
    ("parameters: masked rows stay at their seats", INSTANTIATED, "slot = home_slot(state, row)", "slot = state.slot_of[row]", 0),
    ("parameters: fitted anew in every run", INSTANTIATED, "if not self.has_begun[0]:", "if True:", 0),
    ("parameters of halves: never drawn", INSTANTIATED, "if not keeps_parameters:", "if False:", 0),
    ("draw with parameters: no prior of theirs", INSTANTIATED, "total += self.family.log_prior(self.parameters[state.active[place]])", "total += 0.0", 0),
    ("draw with parameters: power left out", PARAMETERS, "return likelihood.power[0] * log_density", "return log_density", 0),
    ("draw with parameters: widths always adapted", PARAMETERS, "if likelihood.adapts[0]:", "if True:", 0),
    ("choice: other clusters not among the close ones", CHOICE, "            n_weights += 1\n", "            pass\n", 0),
    ("launch: loose followers count as held", PRICES, "for member in range(deal.loose_end[group], ", "for member in range(deal.part_start[group], ", 0),
    ("launch: loose anchors count as held", PRICES, "for k in range(deal.loose_end[0], deal.part_start[1]):", "for k in range(deal.part_start[1]):", 0),
    ("preference: row not counted", PREFERENCES, "likelihood.log_marginal(deal.n_rows[0] + 1, deal.joined)", "likelihood.log_marginal(deal.n_rows[0], deal.joined)", 0),
    ("preference: half B left out", PREFERENCES, "fit - other_fit", "fit", 0),
    ("preference: seats of the anchor that stays forgotten", PRICES, "held -= deal.lift[group, k]", "held -= 0.0", 0),
    ("preference: seats have no price", PRICES, "        deal.centre[group] = solve_centre(deal, group, held, True, base)\n", "", 0),
    ("count: anchor swaps as follower swaps", SWEEP, "accepted[ANCHOR_SWAP] += a", "accepted[FOLLOWER_SWAP] += a", 0),
    ("count: free matches as mask exchanges", SWEEP, "proposed[FREE_MATCH] += 1", "proposed[MASK_EXCHANGE] += 1", 0),
    ("count: merges as splits", DEALS, "accepted[kind] += propose_deal(", "accepted[SPLIT] += propose_deal(", 0),
    ("merge: statistics of the union not kept", DEALS, "        add_up_halves(row_stats, deal, n_members)\n        if layout", "        if layout", 0),
    ("merge: extra seats not dealt anew", DEALS, "        join_groups(rng, deal)\n", "", 0),
    ("deal: log probability of half B wrong", COUNTS, "return -math.log1p(1.0 / odds if deal.in_a[member] else odds)", "return -math.log1p(1.0 / odds)", 0),
    ("cap: Gibbs ignores it", GIBBS, "            weigh_options(layout.cap, state, work, counts, n_options + 1)\n", "", 0),
    ("cap: swaps and extra seats ignore it", STATE, "log_ratio = log_allowance(layout.cap, state) - work.log_allowance[0]", "log_ratio = 0.0", 0),
    ("cap: free matches ignore it", MASKS, "            work.log_weights[place] += log_allowance(layout.cap, state)\n", "", 0),
    ("cap: gap ignored", CAP, "excess = max(total - cap.largest[grouping], 0) * cap.gap_of_one[grouping]", "excess = 0.0", 0),
    ("cap: balance ignored", CAP, "    if lack > 0:\n        excess +=", "    if False:\n        excess +=", 0),
    ("price: no balance of the cluster that is left", CAP, "    return lack + lack_of(cap, work.joined_groups, grouping)", "    return lack_of(cap, work.joined_groups, grouping)", 0),
    ("cap: gap of a trial that is undone stays", STATE, "            set_counts(layout.cap, state, cluster, work.saved_groups[k])\n", "            pass\n", 0),
    ("cap: a row changes the gaps of one column only", CAP, "    for column in range(cap.weight.size):\n        state.imbalance[column] -= imbalance_of(cap, own, column)\n    for grouping in range(cap.largest.size):\n        own[cap.columns", "    for column in range(1):\n        state.imbalance[column] -= imbalance_of(cap, own, column)\n    for grouping in range(cap.largest.size):\n        own[cap.columns", 0),
    ("price: an excess costs nothing more if it is larger", CAP, "return -state.cap_price[0] * excess", "return -state.cap_price[0]", 0),
    ("price: imbalance of other clusters forgotten", CAP, "else total + change", "else change", 0),
    ("price: sums where the worst group counts", CAP, "reached = worst if cap.takes_worst[grouping] else total + change", "reached = total + change", 0),
    ("price: a bundle's own part left out", CAP, "part = abs(skew + work.added[column]) - abs(skew)", "part = abs(skew + work.added[column])", 0),
    ("price: weights of groups forgotten", CAP, "change += cap.weight[column] * part", "change += part", 0),
    ("price: what it lacks of balance costs as much as the gap", CAP, "excess += lack / (cap.balance_of[grouping, 1] * cap.sizes[cap.sizes.size - 1])", "excess += lack", 0),
    ("price: other attributes forgotten", CAP, "    for grouping in range(cap.largest.size):\n        begin, end = cap.first[grouping]", "    for grouping in range(1):\n        begin, end = cap.first[grouping]", 0),
    ("waiting: draws outside count", SWEEP, "if schedule.max_waiting == 0 or log_allowance(layout.cap, state) == 0.0:", "if True:", 0),
    ("waiting: a sweep outside counts if the next one ends inside", SWEEP, "                n_waited += 1\n", "                n_waited += 1\n                n_left = 1\n", 0),
    ("cap of deals: what it leaves of new halves ignored", DEALS, "        log_ratio += log_allowance_if(", "        log_allowance_if(", 0),
    ("cap of deals: what it left of present halves ignored", DEALS, "        log_ratio -= log_allowance(layout.cap, state)\n", "", 0),
    ("cap of deals: sums where the worst group counts", CAP, "total = max(total, part) if cap.takes_worst[grouping] else total + part", "total = total + part", 0),
    ("cap of deals: imbalance of the first cluster stays", CAP, "part += imbalance_of(cap, counts, column) - imbalance_of(cap, own, column)", "part += imbalance_of(cap, counts, column)", 0),
    ("cap of deals: imbalance of the second cluster stays", CAP, "            part -= imbalance_of(cap, other_own, column)\n", "", 0),
    ("cap of deals: what the first cluster lacked stays", CAP, "lack += lack_of(cap, counts, grouping) - lack_of(cap, own, grouping)", "lack += lack_of(cap, counts, grouping)", 0),
    ("cap of deals: what the second half lacks ignored", CAP, "lack += lack_of(cap, other_counts, grouping) - lack_of(cap, other_own, grouping)", "lack -= lack_of(cap, other_own, grouping)", 0),
    ("cap of deals: groups of the union not counted", DEALS, "            count_halves(layout.cap, deal)\n        close_cluster", "            pass\n        close_cluster", 0),
    ("cap of deals: imbalance of the present half takes from the budget", DEALS, "        imbalance -= imbalance_of(cap, state.cluster_groups[cluster], column)\n", "", 0),
    ("cap of deals: imbalance of the other half takes from the budget", DEALS, "            imbalance -= imbalance_of(cap, state.cluster_groups[other_cluster], column)\n", "            pass\n", 0),
    ("group counts: present number not scored", COUNTS, "    log_prob = deal.log_weights[chosen] - log_total\n", "    log_prob = 0.0\n", 0),
    ("group counts: drawn number not scored", COUNTS, "        log_prob = -(chosen - mean) * (chosen - mean) / width - deal.pricing[1] * excess - log_total\n", "        log_prob = 0.0\n", 0),
    ("group counts: which rows not scored", COUNTS, "        log_prob = -math.log1p(", "        log_prob = -0.0 * math.log1p(", 0),
    ("group counts: rows of the first group not scored", COUNTS, "            log_prob += choose_half(", "            log_prob -= 0.0 * choose_half(", 0),
    ("group counts: what earlier groups took of the budget depends on the draw", COUNTS, "        budget -= imbalance_of_count(cap, deal, column, deal.room[column, 0])\n", "        budget -= imbalance_of_count(cap, deal, column, deal.room[column, 0]) * is_drawn\n", 0),
    ("launch: rows it does not look at say what groups are to have", GROUP_PRICES, "    for member in range(first_held, deal.part_start[1]):\n        deal.expected", "    for member in range(deal.loose_end[0], deal.part_start[1]):\n        deal.expected", 0),
    ("launch: rows it does not look at say what share is expected", GROUP_PRICES, "    for member in range(first_held, deal.part_start[1]):\n        expected +=", "    for member in range(deal.loose_end[0], deal.part_start[1]):\n        expected +=", 0),
    ("launch: groups have no price", GROUP_PRICES, "                deal.preference[member] += part * deal.price[column]\n", "                pass\n", 0),
]  # fmt: skip


def mutated(file, text, replacement, occurrence):
    """Give a file of the sampler with one occurrence of a text replaced, which must be there."""
    parts = file.read_text().split(text)
    assert len(parts) > occurrence + 1, f"not found in {file.name}: {text!r}"
    return text.join(parts[: occurrence + 1]) + replacement + text.join(parts[occurrence + 1 :])


def tests_of(mutation):
    """Tell how a mutation's tests are run, and which these are."""
    return TESTS[mutation[0].split(": ")[0]]


def make_copy(folder, edits):
    """Copy sources and tests, and edit them."""
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, *edit in edits:
        file = folder / name
        file.write_text(mutated(file, *edit))


def functions_of(source):
    """Give the functions of a module by name: syntax tree, and source with decorators."""
    lines = source.splitlines(keepends=True)
    return {
        node.name: (node, "".join(lines[node.decorator_list[0].lineno - 1 : node.end_lineno]))
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


def add_variants(folder, mutations):
    """Give the kernel that a mutation is in a variant, which is taken if its number is wanted."""
    variants = {}  # file and kernel -> sources by number
    for number, (_, name, *edit) in mutations.items():
        before = functions_of((folder / name).read_text())
        after = functions_of(mutated(folder / name, *edit))
        changed = [k for k in before if ast.dump(before[k][0]) != ast.dump(after[k][0])]
        assert len(changed) == 1, f"{edit} is not in one kernel: {changed}"
        variants.setdefault((name, changed[0]), {})[number] = after[changed[0]][1]
    for (name, kernel), sources in variants.items():
        file = folder / name
        node, source = functions_of(file.read_text())[kernel]
        arguments = ", ".join(argument.arg for argument in node.args.args)
        where = "deal" if "deal" in arguments.split(", ") else "state"
        chooser = f"@kernel\ndef {kernel}({arguments}):\n"
        for number in sources:
            chooser += f"    if {where}.mutant == {number}:\n"
            chooser += f"        return {kernel}_{number}({arguments})\n"
        chooser += f"    return {kernel}_0({arguments})\n"
        renamed = [
            variant.replace(f"def {kernel}(", f"def {kernel}_{number}(", 1)
            for number, variant in {0: source, **sources}.items()
        ]
        file.write_text(file.read_text().replace(source, "\n\n".join([*renamed, chooser]), 1))


def run_tests(folder, how, tests, mutant=0, n_draws=FEW_DRAWS):
    """Run tests in a copy; tell whether they pass, and which one does not."""
    environment = os.environ | {
        "PYTHONPATH": f"{folder}/src:{folder}",
        "NUMBA_DISABLE_JIT": str(int(how == PLAIN)),
        "NUMBA_CACHE_DIR": str(folder),
        "MUTANT": str(mutant),
        "N_DRAWS": str(n_draws),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
         *(f"tests/{test}" for test in tests)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout[-500:] + done.stderr[-500:]
    told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 0, (told or ["-"])[0]


def survives(number, mutation, controls):
    """Tell whether the tests that concern a mutation pass with it, and which one does not."""
    how, tests = tests_of(mutation)
    with tempfile.TemporaryDirectory() as folder:
        copy = controls / how
        if how != VARIANTS:
            copy = Path(folder)
            make_copy(copy, (*EDITS[how], mutation[1:]))
            for code in (controls / how).glob("fairmix/run_sweeps-*"):
                (copy / "fairmix").mkdir(exist_ok=True)
                shutil.copy(code, copy / "fairmix")
        for n_draws in (FEW_DRAWS, ALL_DRAWS):
            passes, by = run_tests(copy, how, tests, number, n_draws)
            if not passes:
                break
    return passes, by


def main(*wanted):
    """Try the mutations, two at a time; give the number of those that survive."""
    chosen = {
        number: mutation
        for number, mutation in enumerate(MUTATIONS, start=1)
        if not wanted or any(word in mutation[0] for word in wanted)
    }
    if not chosen:
        return f"no mutation has {' or '.join(map(repr, wanted))} in its name"
    needed, variants = {}, {}  # tests by the way they are run
    for number, mutation in chosen.items():
        how, tests = tests_of(mutation)
        needed.setdefault(how, {}).update(dict.fromkeys(tests))
        if how == VARIANTS:
            variants[number] = mutation
    n_alive = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        controls = Path(folder)
        for how in needed:
            make_copy(controls / how, EDITS[how])
        add_variants(controls / VARIANTS, variants)
        results = pool.map(lambda how: run_tests(controls / how, how, needed[how]), needed)
        for how, (passes, by) in zip(needed, results, strict=True):
            assert passes, f"tests must pass without a mutation ({how}): {by}"
        results = pool.map(lambda number: survives(number, chosen[number], controls), chosen)
        for (name, *_), (alive, by) in zip(chosen.values(), results, strict=True):
            print(f"{'SURVIVES' if alive else 'killed':9s} {name:55s} {by[:110]}", flush=True)
            n_alive += alive
    return n_alive


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
