"""One small fit of each form, and their summaries."""

import pytest

from fairmix.report import summarize
from tests.report.tables import SOURCE, fit_by_gap, fit_by_matching, fit_plain


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
