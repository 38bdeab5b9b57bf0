"""Delete each term of each ratio in turn and see that a test fails.

Run by hand (words choose mutations by name):

    python -m tests.mutations [WORD ...]

It prints a line a mutation; one that survives is a hole in the tests. Deals and parameters are
compiled, a few minutes each; all other mutations run as plain Python, on the tests of the move that
they are in.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SWAPS, MASKS, GIBBS = "swap_moves.py", "mask_moves.py", "gibbs_step.py"
JOINT, STATE, SWEEP = "joint_move.py", "state.py", "sweep.py"
DEALS, LAUNCH, DEAL, CHOICE = "split_merge_step.py", "launch.py", "deal.py", "pair_choice.py"
EXTRA, COLLAPSED = "extra_move.py", "collapsed.py"
INSTANTIATED, PARAMETERS = "instantiated.py", "parameters.py"
DEALING = DEALS, LAUNCH, DEAL, CHOICE
NO_MATCHING_STEP = (
    "    rebuild(likelihood, layout, row_stats, state)\n    n_anchors",
    "    rebuild(likelihood, layout, row_stats, state)\n    return\n    n_anchors",
)
NO_GIBBS_STEP = (
    "accepted[6] += gibbs_step(\n                        "
    "rng, likelihood, layout, tables, row_stats, state, work\n                    )",
    "pass",
)
EXACT = "exact/test_single_steps.py", "exact/test_sweep.py", "test_invariants.py"
#: Tests of the moves that are tried as plain Python, as pytest's -k chooses them.
TESTS = {
    "follower swap": "follower or swaps_of_neighbours",
    "anchor swap": "anchor_swap",
    "rematch": "rematch",
    "free match": "free and match and alone and not deal and not split and not rematch",
    "mask exchange: old free match": "outside_the_mask",
    "mask exchange": "mask and exchange and alone",
    "mask change": "mask_change_alone and equal",
    "gibbs": "gibbs and alone",
    "joint": "joint and alone",
    "extra seat": "extra_move",
    "bundles:": "gibbs and alone",
    "cap": "keeps_the_cap and not deal and not merge",
    "draw": "keeps_the_invariants and gaussian",
}
TRIAL = "log_ratio += evaluate_trial(likelihood, layout, state, work)"

# What is wrong, file, text, replacement, which occurrence.
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
    ("free match: no likelihood", MASKS, "work.log_weights[place] += likelihood.log_predictive(row_stats, state, work, row, cluster)", "pass", 0),
    ("free match: no marginal without the row", COLLAPSED, "return joined - state.cluster_log_likelihood[cluster]", "return joined", 0),
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
    ("gibbs: no size of the cluster", GIBBS, "        tables.log_join[state.cluster_slots[cluster]]\n        + joined", "        joined", 0),
    ("gibbs: no marginal without the bundle", GIBBS, "        - state.cluster_log_likelihood[cluster]\n", "", 0),
    ("gibbs: no prior of a new cluster", GIBBS, "tables.log_open[n_options] + opened_log_likelihood", "opened_log_likelihood", 0),
    ("gibbs: no marginal of a new cluster", GIBBS, "tables.log_open[n_options] + opened_log_likelihood", "tables.log_open[n_options]", 0),
    ("joint: no energy", JOINT, "    log_ratio = swapped_log_energy(distance, layout, state, row, other)", "    log_ratio = 0.0", 0),
    ("joint: no likelihood", JOINT, TRIAL, "evaluate_trial(likelihood, layout, state, work)", 0),
    ("joint: two rows always different", JOINT, "other = first + draw_index(rng, n_rows)", "other = first + (row - first + 1) % n_rows", 0),
    ("split-merge: no log V", DEALS, "log_ratio = tables.log_v[new_t] - tables.log_v[t]", "log_ratio = 0.0", 0),
    ("re-deal, exchange: present halves not scored", DEALS, "log_ratio += deal_out(", "log_ratio += 0.0 * deal_out(", 0),
    ("merge: present halves not scored", DEALS, "log_ratio += deal_out(", "log_ratio += 0.0 * deal_out(", 1),
    ("merge: statistics of the union not kept", DEALS, "        add_up_halves(row_stats, deal, n_members)\n        count_union(", "        count_union(", 0),
    ("split-merge: drawn halves not scored", DEALS, "log_ratio -= deal_out(", "log_ratio -= 0.0 * deal_out(", 0),
    ("split-merge: no choice before", DEALS, "log_ratio -= log_choice(", "log_ratio -= 0.0 * log_choice(", 0),
    ("split-merge: no choice after", DEALS, "log_ratio += log_choice(", "log_ratio += 0.0 * log_choice(", 0),
    ("split-merge: no energy", DEALS, "log_ratio += draw_matches(", "log_ratio += 0.0 * draw_matches(", 0),
    ("split-merge: no marginals", DEALS, "        total += likelihood.weigh_half(rng, deal, half, present, is_new, keeps_parameters)\n", "", 0),
    ("split-merge: no rising factorials", DEALS, "        total += tables.log_rising[n_slots]\n", "", 0),
    ("split-merge: no factorials", DEALS, "total += math.lgamma(count_half(deal, part, half) + 1.0)", "total += 0.0", 0),
    ("split-merge: no ways to place extra seats", DEALS, "total += log_ways(", "total += 0.0 * log_ways(", 0),
    ("split-merge: no free matches", DEALS, "        total += count_half(deal, n_parts - 1, half) * math.log(n_slots)\n", "", 0),
    ("split-merge: T not redrawn at random", DEALS, "        shuffle(rng, deal.order, start, end)\n", "", 0),
    ("choice: no chance of the first", CHOICE, "return math.log(chance)", "return 0.0", 0),
    ("choice: small clusters not preferred in the ratio", CHOICE, "    if prefers_small:\n        own", "    if False:\n        own", 0),
    ("choice: other half not among the small ones", CHOICE, "            total += smallness(other_n_slots)\n", "            pass\n", 0),
    ("choice: other clusters not among the small ones", CHOICE, "                total += smallness(state.cluster_slots[third])\n", "                pass\n", 0),
    ("choice: no chance of the second", CHOICE, "return math.log(0.5 / (n_clusters - 1.0) + 0.5 * chance)", "return 0.0", 0),
    ("choice: no chance of the anchors", DEALS, "return log_prob - math.log(n_in_a * n_in_b)", "return log_prob", 0),
    ("choice: no chance of two anchors of one", DEALS, "return log_prob - math.log(n_in_a * (n_in_a - 1.0))", "return log_prob", 0),
    ("deal: log probability of half B wrong", DEAL, "return -math.log1p(1.0 / odds if deal.in_a[member] else odds)", "return -math.log1p(1.0 / odds)", 0),
    ("deal: followers' probability of half B wrong", DEAL, "log_prob -= math.log1p(1.0 / odds if deal.in_a[member] else odds)", "log_prob -= math.log1p(1.0 / odds)", 0),
    ("deal: present extra seats not scored", DEAL, "return deal.log_weights[present - least] - log_total", "return 0.0", 0),
    ("deal: drawn extra seats not scored", DEAL, "return log_weight + n_in_a * deal.border[group] - log_total", "return 0.0", 0),
    ("exchange: free rows say what halves look like", LAUNCH, "balance(deal, False)", "balance(deal, True)", 0),
    ("exchange: slots not shuffled again", LAUNCH, "    shuffle(rng, deal.slots, 0, n_slots - 2)  # again: the search has sorted them a little\n", "", 0),
    ("launch: rows it did not look at stay where they are", LAUNCH, "        deal_hard(deal)\n        add_up_free(row_stats, deal)\n        prefer_by_fit", "        prefer_by_fit", 0),
    ("launch: members not shuffled", LAUNCH, "        values[k], values[other] = values[other], values[k]\n", "        pass\n", 0),
    ("extra seat: no energy", EXTRA, "log_ratio = gain * layout.energy_weight[group]", "log_ratio = 0.0", 0),
    ("extra seat: no likelihood", EXTRA, TRIAL, "evaluate_trial(likelihood, layout, state, work)", 0),
    ("extra seat: masks ignored", EXTRA, " and not state.masked[row]", "", 0),
    ("cap: Gibbs ignores it", GIBBS, "            forbid_outside(", "            0 and forbid_outside(", 0),
    ("cap: swaps and extra seats ignore it", STATE, "if layout.is_capped and not trial_is_allowed(layout, state, work):", "if False:", 0),
    ("cap: free matches ignore it", MASKS, "if layout.is_capped and not may_join(layout, state, work, row, cluster):", "if False:", 0),
    ("cap: free matches ignore clusters that lose a row", MASKS, " and trial_is_allowed(layout, state, work)", "", 0),
    ("cap: deals ignore it", DEAL, "if layout.is_capped and not seats_are_allowed(", "if False and not seats_are_allowed(", 0),
    ("cap: no balance of the cluster that is left", GIBBS, "allowed = source_is_allowed", "allowed = True", 0),
    ("bundles: masked rows stay at their seats", STATE, "        return state.free_slot[row]", "        return state.slot_of[row]", 0),
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
]  # fmt: skip


def mutate(text, old, new, occurrence):
    """Replace one occurrence of a text, which must be there."""
    parts = text.split(old)
    assert len(parts) > occurrence + 1, f"not found: {old!r}"
    return old.join(parts[: occurrence + 1]) + new + old.join(parts[occurrence + 1 :])


def tests_of(mutation):
    """Give what pytest is asked to run for a mutation, and how kernels run there."""
    name, file, *_ = mutation
    if file in DEALING:
        # The Gaussian problems are enough, and compile once, without other moves.
        chosen = "not bernoulli and not categorical and not flat and not beta"
        chosen += " and (split_merge or re_deal or (keeps_the_invariants and gaussian) or launch)"
        return ("test_launch.py", *EXACT), chosen, True
    if file in (INSTANTIATED, PARAMETERS):
        return ("exact/test_instantiated.py",), "", True
    chosen = next((tests for move, tests in TESTS.items() if name.startswith(move)), "")
    return EXACT, chosen, False


def survives(mutation):
    """Tell whether the exact tests and the invariants pass with a mutation."""
    _, file, old, new, occurrence = mutation
    files, chosen, compiled = tests_of(mutation)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        shutil.copytree(ROOT / "tests", Path(folder) / "tests")
        shutil.copy(ROOT / "pyproject.toml", folder)
        target = Path(folder) / "src" / "fairmix" / "kernels" / file
        target.write_text(mutate(target.read_text(), old, new, occurrence))
        environment = {**os.environ, "PYTHONPATH": f"{folder}/src:{folder}"}
        if compiled:
            environment["NUMBA_CACHE_DIR"] = folder
        else:
            environment["NUMBA_DISABLE_JIT"] = "1"
        if file in DEALING:
            sweep = Path(folder) / "src" / "fairmix" / "kernels" / SWEEP
            text = mutate(sweep.read_text(), *NO_MATCHING_STEP, 0)
            sweep.write_text(mutate(text, *NO_GIBBS_STEP, 0))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
             "-m", "not thorough", *(f"tests/{name}" for name in files), "-k", chosen],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        summary = [
            line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))
        ]
        assert done.returncode in (0, 1), done.stdout[-500:] + done.stderr[-500:]
        return done.returncode == 0, (summary or ["-"])[0]


def main(*wanted):
    chosen = [m for m in MUTATIONS if not wanted or any(word in m[0] for word in wanted)]
    if not chosen:
        return f"no mutation has {' or '.join(map(repr, wanted))} in its name"
    controls = {tests_of(m): (*m[:3], m[2], m[4]) for m in chosen}
    n_alive = 0
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(survives, [*controls.values(), *chosen])
        for tests, (passes, by) in zip(controls, results, strict=False):
            assert passes, f"the tests {tests} must pass without a mutation: {by}"
        for (name, *_), (alive, by) in zip(chosen, results, strict=True):
            print(f"{'SURVIVES' if alive else 'killed':9s} {name:50s} {by[:110]}", flush=True)
            n_alive += alive
    return n_alive


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
