"""Every block of Python of every page runs.

Blocks of a page share a namespace. Chains are shorter than the pages say, so what is printed beside
a block is not compared: it is from the run that the page tells of.
"""

import os
import subprocess
import sys
from functools import partial

import matplotlib as mpl
import pytest

import fairmix
from fairmix.mixture import SampledMixture
from tests.docs.examples import LEAST_SWEEPS, SHORTER, TIME_LIMIT, blocks_of, run_page, write_tables
from tests.docs.test_pages import PAGES, ROOT

WITH_EXAMPLES = [page for page in PAGES if any(blocks_of((ROOT / page).read_text()))]
#: Datasets that are not in the package.
NOT_PACKAGED = ("load_diabetes", "load_bank")
#: Pages whose examples run apart, in Python without compiled kernels.
UNCOMPILED = {"docs/extend/move.md"}


@pytest.fixture
def _short_chains(monkeypatch):
    """Make chains of every fit, and comparisons, shorter, whatever an example asks for."""
    fit = SampledMixture.fit

    def fit_briefly(self, *args, **kwargs):
        self.n_warmup = max(self.n_warmup // SHORTER, LEAST_SWEEPS)
        self.n_draws = max(self.n_draws // SHORTER, LEAST_SWEEPS)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(SampledMixture, "fit", fit_briefly)
    monkeypatch.setattr(fairmix, "compare", partial(fairmix.compare, time_limit=TIME_LIMIT))


@pytest.fixture
def _folder(tmp_path, monkeypatch):
    """Work in a folder with the tables that pages name."""
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore")  # short chains disagree, and pages show warnings, too
@pytest.mark.usefixtures("_short_chains", "_folder")
@pytest.mark.parametrize("page", [page for page in WITH_EXAMPLES if page not in UNCOMPILED])
def test_examples_run(page, request):
    mpl.use("Agg")
    text = (ROOT / page).read_text()
    if any(name in text for name in NOT_PACKAGED):
        request.getfixturevalue("data_folder")
    run_page(text, page)


@pytest.mark.parametrize("page", sorted(UNCOMPILED))
def test_examples_of_kernels_run(page):
    code = "\n".join(blocks_of((ROOT / page).read_text()))
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_short_chains", "_folder")
def test_an_example_that_fails_is_named():
    text = "```python\ntable\n```\n\n```python\nno_such_name\n```\n"
    with pytest.raises(NameError) as caught:
        run_page(text, "page.md")
    assert "page.md, block 2" in str(caught.traceback[-1].path)


def test_what_is_typed_at_a_prompt_is_code():
    assert list(blocks_of("```python\n>>> 1 + 1\n2\n```\n")) == ["1 + 1\n"]
    assert list(blocks_of("```python\n# not run\n1 / 0\n```\n")) == []
