"""One small fit of each form, and their summaries."""

import copy

import pytest

from fairmix.posterior.verdict import CANNOT_TELL, DISAGREE
from fairmix.report import summarize
from fairmix.report.answer import tell_answer
from fairmix.report.described import TOO_SMALL
from tests.report.tables import (
    SCRIPT,
    SOURCE,
    TEMPLATE,
    WOMEN,
    fit_by_gap,
    fit_by_matching,
    fit_plain,
)


@pytest.fixture(scope="package")
def by_gap():
    return fit_by_gap()


@pytest.fixture(scope="package")
def by_matching():
    return fit_by_matching()


@pytest.fixture(scope="package")
def plain():
    return fit_plain()


@pytest.fixture(scope="package")
def summary_by_gap(by_gap):
    return summarize(by_gap, source=SOURCE)


@pytest.fixture(scope="package")
def summary_by_matching(by_matching, plain):
    return summarize(by_matching, plain=plain)


@pytest.fixture(scope="package")
def summary_with_all(summary_by_gap, summary_by_matching):
    """What a page may hold at most: every part of it is there, and something is to be said."""
    told = copy.deepcopy(summary_by_gap)
    told |= copy.deepcopy({name: summary_by_matching[name] for name in ("matching", "price")})
    told["matching"] |= {"n_masked": 3, "anchor": WOMEN}
    told["price"]["verdict_of_plain"] = CANNOT_TELL
    told["table"] |= {"constant": [SCRIPT], "has_rows": False}
    told["fairness"]["asked"] = {"by": "matching", "max_gap": {"sex": 0.1}, "min_balance": 0.2}
    told["fairness"] |= {"merged": {WOMEN: "other"}, "gap_kind": "worst"}
    told["certainty"]["between"] = [{"one": 0, "other": 1, "n_rows": 12}]
    first = told["certainty"]["arrangements"]["each"][0]
    told["certainty"]["arrangements"]["each"] = [
        first | {"weight": None, "shares_by_chain": [0.25, 0.75]},
        first | {"name": "B", "weight": None, "n_rows_elsewhere": 31},
    ]
    told["chains"] |= {"verdict": DISAGREE, "advice": [f"Take {TEMPLATE}.", "Try another."]}
    told["clusters"][-1] |= {"is_described": False, "traits": [], "n_rows": 1, "name": TOO_SMALL}
    told["answer"] = tell_answer(told)
    return told
