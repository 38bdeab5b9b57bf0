"""The summary: its figures are those of the model, and it tells nothing of a few rows."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

import fairmix
from fairmix import metrics
from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures
from fairmix.report import render, summarize
from fairmix.report.answer import tell_answer
from fairmix.report.audit import audit_fairness
from fairmix.report.described import TOO_SMALL, describe_clusters, describe_features
from fairmix.report.disclosure import LEAST_CELL, LEAST_ROWS
from tests.report.tables import IMAGE, QUICK, SOURCE, TEMPLATE, fit, people

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "summary.md"


@pytest.fixture(params=["summary_by_gap", "summary_by_matching"])
def summary(request):
    return request.getfixturevalue(request.param)


def test_a_summary_is_json_and_stays_as_it_is(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["format"] == 1


def test_every_key_is_documented_and_the_other_way_round(summary):
    documented = re.findall(r"^## `(\w+)`", PAGE.read_text(), flags=re.MULTILINE)
    assert documented == list(summary)


def test_every_key_of_a_part_is_documented(summary):
    text = PAGE.read_text()
    for name, part in summary.items():
        section = text.split(f"\n## `{name}`")[1].split("\n## ")[0]
        keys = part[0] if isinstance(part, list) else part
        for key in keys if isinstance(keys, dict) else ():
            assert f"`{key}`" in section, f"{name}: {key}"


def test_clusters_and_their_number_are_those_of_the_labels(by_gap, summary_by_gap):
    clusters, posterior = summary_by_gap["clusters"], by_gap.posterior_
    sizes = np.bincount(by_gap.labels_)
    assert [each["n_rows"] for each in clusters] == sizes.tolist()
    assert [each["name"] for each in clusters] == [
        each.name if each.size >= LEAST_ROWS else TOO_SMALL for each in by_gap.profile().clusters
    ]
    number = summary_by_gap["n_clusters"]
    assert number["labels"] == by_gap.n_clusters_
    for each in number["distribution"]:
        assert each["share"] == np.mean(posterior.n_clusters == each["n"])
        assert np.allclose(each["by_chain"], np.mean(posterior.n_clusters == each["n"], axis=1))
    assert sum(each["share"] for each in number["distribution"]) == pytest.approx(1)
    fewest, most = number["likely"]
    is_likely = (posterior.n_clusters >= fewest) & (posterior.n_clusters <= most)
    assert is_likely.mean() >= 0.9


def test_shares_and_gaps_are_those_of_metrics(by_gap, summary_by_gap):
    _, attributes = people()
    fairness = summary_by_gap["fairness"]
    assert fairness["gap"] == pytest.approx(metrics.fairness_gap(by_gap.labels_, attributes))
    assert fairness["balance"] == pytest.approx(metrics.balance(by_gap.labels_, attributes))
    assert fairness["asked"] == {"by": "gap", "max_gap": 0.2, "min_balance": None}
    crossed, *single = fairness["attributes"]
    assert crossed["is_crossed"]
    assert crossed["gap"] == pytest.approx(fairness["gap"])
    by_attribute = metrics.fairness_by_attribute(by_gap.labels_, attributes)
    summary = by_gap.posterior_.summary()
    for told, name in zip(single, attributes.columns, strict=True):
        counts = metrics.group_counts(by_gap.labels_, attributes[name])
        is_large = (counts.sum(axis=1) >= LEAST_ROWS).to_numpy()
        shares = (counts / counts.sum()).to_numpy()
        for known, own, is_told in zip(told["shares_by_cluster"], shares, is_large, strict=True):
            assert known == (pytest.approx(own) if is_told else [None] * len(own))
        assert [each["n_rows"] for each in told["groups"]] == counts.sum().tolist()
        assert told["gap"] == pytest.approx(by_attribute.loc[name, "gap"])
        assert told["balance"] == pytest.approx(by_attribute.loc[name, "balance"])
        assert summary.loc[f"gap by {name}", "95%"] <= told["largest_gap_of_draws"] + 1e-4


def test_certainty_is_that_of_the_posterior(by_gap, summary_by_gap):
    labels, certainty = by_gap.labels_, summary_by_gap["certainty"]
    own = by_gap.posterior_.probabilities(labels)[np.arange(len(labels)), labels]
    assert certainty["n_sure"] == np.sum(own >= 0.9)
    assert certainty["n_unsure"] == np.sum(own < 0.5)
    assert sum(certainty["n_rows_by_probability"]) == len(labels)
    assert sum(each["n_sure"] for each in certainty["by_cluster"]) == certainty["n_sure"]
    assert sum(each["n_unsure"] for each in certainty["by_cluster"]) == certainty["n_unsure"]
    assert certainty["core"]["n_rows"] == len(by_gap.posterior_.sure_core().rows)
    assert all(each["n_rows"] >= LEAST_CELL for each in certainty["between"])
    first = certainty["arrangements"]["each"][0]
    assert (first["name"], first["n_rows_elsewhere"]) == ("A", 0)


def test_histograms_count_rows_and_nothing_is_told_of_a_few(by_gap, summary_by_gap):
    values = by_gap.posterior_.training.values()
    n_hidden = 0
    for cluster in summary_by_gap["clusters"]:
        rows = values[by_gap.labels_ == cluster["number"]]
        for trait in cluster["traits"]:
            feature = summary_by_gap["features"][trait["feature"]]
            cells = rows[:, trait["feature"]]
            cells = cells[~np.isnan(cells)]
            if feature["levels"] is None:
                edges = np.array(feature["histogram"]["edges"])
                inner = np.clip(cells, edges[0], np.nextafter(edges[-1], -np.inf))
                counted = np.histogram(inner, edges)[0]
                told = trait["counts"]
                assert trait["mean"] == pytest.approx(cells.mean())
            else:
                counted = np.bincount(cells.astype(int), minlength=len(feature["levels"]))
                shares = trait["shares"]
                told = [None if s is None else round(s * len(cells)) for s in shares]
            expected = [None if 0 < n < LEAST_CELL else n for n in counted.tolist()]
            assert told == expected
            n_hidden += expected.count(None)
    assert n_hidden > 0  # there was something to hide


def test_small_clusters_and_groups_are_not_described(by_gap):
    """Row 0 to 5 are a cluster of their own, and the only ones of a group."""
    training, labels = by_gap.posterior_.training, np.ones(260, dtype=np.int64)
    labels[:6] = 0
    profile = by_gap.posterior_.profile(labels)
    features = describe_features(profile, by_gap.schema_, training)
    small, large = describe_clusters(profile, features, training, labels)
    assert (small["name"], small["traits"], small["is_described"]) == (TOO_SMALL, [], False)
    assert large["is_described"]
    assert len(large["traits"]) == len(features)
    told = audit_fairness(by_gap, profile, 0, 0)["attributes"]
    assert told[1]["shares_by_cluster"][0] == [None, None]
    assert None not in told[1]["shares_by_cluster"][1]


def test_a_rare_group_is_not_counted():
    table, attributes = people()
    groups = attributes["sex"].mask(attributes.index < 4, "rare")
    model = fairmix.FairBayesianClustering(max_gap=0.9, gap_kind="mean", **QUICK)
    told = summarize(fit(model, table[["visits", IMAGE]], groups))["fairness"]["attributes"][0]
    place = [each["name"] for each in told["groups"]].index("rare")
    assert told["groups"][place] == {"name": "rare", "n_rows": None, "share": None}
    assert {shares[place] for shares in told["shares_by_cluster"]} == {None}


def test_rare_levels_are_put_together():
    table, attributes = people()
    large = np.where(attributes["sex"] > "m", "x", "y")
    table["town"] = np.where(np.arange(260) < 9, "hamlet", large)
    model = fairmix.FairBayesianClustering("auto", max_gap=0.9, **QUICK)
    summary = summarize(fit(model, table[["visits", "town"]], attributes["sex"]))
    feature = summary["features"][1]
    assert feature["levels"] == ["x", "y", "other levels"]
    assert feature["shares"][2] == pytest.approx(9 / 260)
    assert "hamlet" not in json.dumps(summary)


def test_what_fairness_cost_is_the_difference_of_two_fits(by_matching, plain, summary_by_matching):
    price = summary_by_matching["price"]
    for name, fitted in {"fair": by_matching, "plain": plain}.items():
        assert price["cost"][name] == fitted.posterior_.cost.mean()
        assert price["gap"][name] == fitted.posterior_.fairness_gap.mean()
    lost = plain.posterior_.log_likelihood.mean() - by_matching.posterior_.log_likelihood.mean()
    assert price["likelihood_ratio_of_a_row"] == pytest.approx(np.exp(lost / 260))


def test_a_plain_fit_of_other_rows_is_refused(by_gap, plain):
    table, _ = people()
    other = fit(type(plain)(**QUICK), table[["visits"]][:100], None)
    with pytest.raises(ValueError, match=r"plain must be a fitted Mixture.* of the same 260 rows"):
        summarize(by_gap, plain=other)


def test_matched_rows_are_compared_with_their_matches(by_matching, summary_by_matching):
    told = summary_by_matching["matching"]
    values, matches = by_matching.posterior_.training.values(), by_matching.matches_
    followers = np.flatnonzero(matches != np.arange(260))
    assert told["n_matched"] == len(followers)
    assert told["n_anchors"] == min(by_matching.groups_.values())
    apart = np.abs(values[followers] - values[matches[followers]]).mean(axis=0)
    for each in told["columns"]:
        assert each["difference"] == pytest.approx(apart[each["feature"]])
        assert each["difference"] < each["at_random"]
    assert told["share_nearer"] > 0.5


def test_without_rows_what_needs_them_is_absent(by_matching, summary_by_matching, tmp_path):
    by_matching.save(tmp_path / "model.nc")
    told = summarize(fairmix.load(tmp_path / "model.nc"))
    assert not told["table"]["has_rows"]
    assert {each["histogram"] for each in told["features"]} == {None}
    assert told["matching"]["columns"] is told["matching"]["share_nearer"] is None
    for name in ("n_clusters", "certainty", "chains"):
        assert told[name] == summary_by_matching[name]
    assert told["fairness"]["attributes"] == summary_by_matching["fairness"]["attributes"]


def test_other_samplers_are_summarised(plain):
    assert summarize(plain)["fairness"]["asked"]["by"] == "nothing"
    table, attributes = people()
    fairlets = fit(FairletMixture(**QUICK), table[["visits", IMAGE]], attributes["sex"])
    told = summarize(fairlets)
    assert told["fairness"]["asked"]["by"] == "fairlets"
    assert "put into small bundles" in render(told)


def test_one_cluster_and_one_group_can_be_summarised():
    table, _ = people()
    model = MixtureOfFiniteMixtures(components_prior=fairmix.Fixed(1), **QUICK)
    summary = summarize(fit(model, table[["visits", TEMPLATE]].assign(**{TEMPLATE: 1.0}), None))
    assert summary["fairness"]["attributes"] == []
    assert [each["n_rows"] for each in summary["clusters"]] == [260]
    assert summary["table"]["constant"] == [TEMPLATE]
    assert "one group only, so nothing was made fair" in summary["answer"][2]["text"]
    assert "How fair" not in render(summary)


@pytest.mark.parametrize(
    ("shares", "told"),
    [([0.4, 0.3], "40 % of all “a” rows and 30 %"), ([0.451, 0.448], "45.1 % of all “a” rows")],
)
def test_groups_that_differ_are_told_different_figures(summary_by_gap, shares, told):
    summary = copy.deepcopy(summary_by_gap)
    attribute = {"name": "x", "is_crossed": False, "groups": [{"name": "a"}, {"name": "b"}]}
    attribute["shares_by_cluster"] = [shares] * len(summary["clusters"])
    summary["fairness"]["attributes"] = [attribute]
    [text] = [each["text"] for each in tell_answer(summary) if each["about"] == "fairness"]
    assert told in text


def test_the_source_is_taken_over(summary_by_gap):
    assert summary_by_gap["source"] == SOURCE


def test_an_unknown_key_of_the_source_is_refused(by_gap):
    with pytest.raises(ValueError, match="source has 'path'; it may have name, id"):
        summarize(by_gap, source={"path": "x.csv"})
