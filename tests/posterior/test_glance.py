"""What notebooks show: the answer, with names from the data as text."""

import re
import warnings

import pandas as pd
import pytest
from sklearn import config_context

from fairmix import Comparison, FairBayesianClustering
from fairmix.tables.as_html import MAX_ROWS, show_table
from tests.fits import QUICK, two_clumps

HOSTILE = "</td><script>alert(1)</script>&amp;"
#: Elements that may be there.
OURS = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.fixture(scope="module")
def model():
    table, group = two_clumps()
    table = table.rename(columns={"x": HOSTILE})
    group = group.replace("few", HOSTILE).rename(HOSTILE)
    fitted = FairBayesianClustering(max_gap=0.2, n_draws=100, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fitted.fit(table, sensitive_features=group)


def elements_of(html):
    return set(re.findall(r"<(\w+)", html))


def test_a_profile_shows_its_clusters(model):
    html = model.profile()._repr_html_()
    assert elements_of(html) <= OURS
    assert "&lt;script&gt;" in html
    for cluster in model.profile().clusters:
        assert f"<td>{cluster.size} (" in html
    assert "(all: 44\N{NO-BREAK SPACE}%)" in html  # the share of the hostile group


def test_a_posterior_shows_its_summary_and_the_verdict(model):
    html = model.posterior_._repr_html_()
    assert elements_of(html) <= OURS
    assert all(f"<td>{scalar}</td>" in html for scalar in ("n_clusters", "fairness_gap"))
    assert f"The chains {model.posterior_.verdict().word}." in html


def test_a_comparison_shows_its_means():
    runs = {"method": HOSTILE, "setting": "1", "seed": [0, 1], "cost": [1.0, 2.0]}
    runs = pd.DataFrame(runs | {"error": "", "left_out": False})
    html = Comparison(runs)._repr_html_()
    assert elements_of(html) <= OURS
    assert "<td>1.5</td>" in html
    assert "alert(1)" in html


def test_a_fitted_model_shows_its_answer_above_the_diagram(model):
    with config_context(display="diagram"):
        html = model._repr_html_()
        bundle = model._repr_mimebundle_()
    answer = html[: html.index("</div>")]
    assert elements_of(answer) <= OURS
    sizes = pd.Series(model.labels_).value_counts().sort_index()
    assert f"{len(sizes)} clusters of 90 rows; sizes: {', '.join(map(str, sizes))}" in answer
    assert f"{model.posterior_.fairness_gap.max():.4f} at most" in answer
    assert "certain to be at most 0.2000" in answer
    assert "sk-top-container" in html
    assert bundle["text/html"].startswith(answer)


def test_a_model_that_is_not_fitted_shows_the_diagram():
    with config_context(display="diagram"):
        html = FairBayesianClustering()._repr_html_()
    assert "sk-top-container" in html
    assert "clusters of" not in html


def test_text_instead_of_diagrams_stays_text(model):
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_a_long_table_is_cut():
    html = show_table(pd.DataFrame({"row": range(1000)}), "long")
    assert html.count("<tr>") <= MAX_ROWS + 3
