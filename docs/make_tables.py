"""Write the tables of these pages that follow from the code.

A table stands between two comments; ``tests/docs/test_pages.py`` tells when it is out of date.

Run: python docs/make_tables.py
"""

import math
from pathlib import Path

import typer

from fairmix import FairBayesianClustering
from fairmix.cli.app import app
from fairmix.families.choice import FAMILIES
from fairmix.families.student_t import LOG_DEGREES_MEAN, LOG_DEGREES_SD
from fairmix.sampler import schedule
from fairmix.sampler.kernels.moves import MOVES

FOLDER = Path(__file__).parent


def table_of_moves():
    """Give the moves of a sweep."""
    lines = ["| move | from | what changes | ratio |", "|---|---|---|---|"]
    for move in MOVES:
        cells = (move.name.replace("_", " "), move.origin, move.changes, move.ratio)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def _times_identity(factor):
    """Give a multiple of the identity matrix."""
    return "I" if factor == 1 else f"{factor:g} I"


def table_of_priors():
    """Give the law of a cluster's rows and its prior, with default hyperparameters."""
    plain, spherical, tied, full = (
        FAMILIES[name]
        for name in ("gaussian", "gaussian-spherical", "gaussian-tied", "gaussian-full")
    )
    robust, skewed = FAMILIES["student-t"], FAMILIES["skew-normal"]
    counts, durations = FAMILIES["poisson"], FAMILIES["exponential"]
    precision = "~ Gamma({0.shape:g}, {0.rate:g})"
    cells = {
        "gaussian": (
            "`x_j ~ N(mu_j, 1 / lambda_j)`",
            f"`lambda_j {precision.format(plain)}`, `mu_j ~ N(0, 1 / lambda_j)`",
        ),
        "gaussian-spherical": (
            "`x ~ N(mu, I / lambda)`",
            f"`lambda {precision.format(spherical)}`, `mu ~ N(0, I / lambda)`",
        ),
        "gaussian-tied": (
            "`x ~ N(mu, s2 I)`, one `s2` for all clusters",
            f"`mu ~ N(0, {_times_identity(tied.mean_variance)})`, `"
            + (f"1 / s2 {precision.format(tied)}`" if tied.variance is None else "s2` given"),
        ),
        "gaussian-full": (
            "`x ~ N(mu, Sigma)`",
            f"`Sigma ~ IW(d + {1 + full.shape:g}, {_times_identity(full.rate)})`, "
            "`mu ~ N(0, Sigma)`",
        ),
        "student-t": (
            "`x_j ~ t(mu_j, sigma_j, nu_j)`",
            f"`mu_j ~ N(0, {robust.location_sd:g}^2)`, `1 / sigma_j^2 {precision.format(robust)}`, "
            f"`log nu_j ~ N(log {math.exp(LOG_DEGREES_MEAN):g}, {LOG_DEGREES_SD**2:g})`",
        ),
        "skew-normal": (
            "`x_j ~ SN(xi_j, omega_j, alpha_j)`",
            f"`xi_j ~ N(0, {skewed.location_sd:g}^2)`, `1 / omega_j^2 {precision.format(skewed)}`, "
            f"`alpha_j ~ N(0, {skewed.skewness_sd:g}^2)`",
        ),
        "poisson": (
            "`x_j ~ Poisson(lambda_j)`",
            f"`lambda_j ~ Gamma({counts.shape:g}, {counts.rate or f'{counts.shape:g} / m_j'})`",
        ),
        "exponential": (
            "`x_j ~ Exp(theta_j)`",
            f"`theta_j ~ Gamma({durations.shape:g}, "
            f"{durations.rate or f'{durations.shape:g} m_j'})`",
        ),
        "bernoulli": (
            "`x_j ~ Bernoulli(p_j)`",
            "`p_j ~ Beta({0:g}, {0:g})`".format(FAMILIES["bernoulli"].alpha),
        ),
        "categorical": (
            "`x_j ~ Categorical(p_j)`",
            "`p_j ~ Dirichlet({0:g}, ..., {0:g})`".format(FAMILIES["categorical"].alpha),
        ),
    }
    lines = ["| family | a row of a cluster | prior |", "|---|---|---|"]
    lines += [f'| `"{name}"` | {law} | {prior} |' for name, (law, prior) in cells.items()]
    return "\n".join(lines)


def table_of_sweeps():
    """Give what a fit does by default."""
    given = FairBayesianClustering().get_params()
    with_parameters = schedule.SPLIT_MERGE_MOVES_WITH_PARAMETERS
    rows = [
        ("", "matching", "gap"),
        ("chains", given["n_chains"], given["n_chains"]),
        ("sweeps of warm-up, of each chain", f"{given['n_warmup']:,}", f"{given['n_warmup']:,}"),
        (
            "sweeps after that, of each chain",
            f"{given['n_draws']:,}",
            f"{given['n_draws']:,} that end inside the cap",
        ),
        ("kept", f"1 in {given['thin']}", f"1 in {given['thin']}"),
        ("rounds of a sweep: swaps, then Gibbs moves", schedule.ROUNDS, schedule.ROUNDS_OF_ROWS),
        (
            "swaps",
            f"{schedule.SWAPS_PER_FOLLOWER} a follower and as many an anchor, a sweep",
            f"{schedule.EXCHANGES_PER_ROW:g} a row, a round",
        ),
        (
            "splits, merges and re-deals of a sweep",
            schedule.SPLIT_MERGE_MOVES,
            schedule.SPLIT_MERGE_MOVES_OF_ROWS,
        ),
        (
            "the same, and rounds, if parameters are sampled",
            f"{with_parameters}, in 1 round",
            f"{with_parameters}, in 1 round",
        ),
    ]
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in rows]
    return "\n".join([lines[0], "|---|---|---|", *lines[1:]])


def table_of_options():
    """Give the options of the command line."""
    commands = typer.main.get_command(app).commands
    takers = {}
    for name, command in commands.items():
        for option in command.params:
            if option.opts[0].startswith("-") and "--help" not in option.opts:
                takers.setdefault(("`, `".join(option.opts), option.help), []).append(name)
    lines = ["| option | what it is | of |", "|---|---|---|"]
    lines += [
        f"| `{option}` | {told} | {', '.join(names)} |" for (option, told), names in takers.items()
    ]
    return "\n".join(lines)


#: Page -> name of a table -> what makes it.
TABLES = {
    "model/model.md": {"priors": table_of_priors, "sweeps": table_of_sweeps},
    "model/sampler.md": {"moves": table_of_moves},
    "how_to/command_line.md": {"options": table_of_options},
}


def fill_in(page, text):
    """Give the text of a page with its tables as they should be."""
    for name, make in TABLES[page].items():
        first = f"<!-- {name}: made by docs/make_tables.py -->\n"
        last = f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(first)
        _, found, after = rest.partition(last)
        if not found:
            raise ValueError(f"docs/{page} lacks the lines {first!r} and {last!r}.")
        text = f"{before}{first}\n{make()}\n\n{last}{after}"
    return text


if __name__ == "__main__":
    for page in TABLES:
        path = FOLDER / page
        path.write_text(fill_in(page, path.read_text()))
