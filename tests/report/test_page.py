"""The page: all of the summary, nothing else, in an order that can be read aloud."""

import copy
import itertools
import json
import re
import sys
from html.parser import HTMLParser

import pytest

from fairmix.posterior.verdict import AGREE, AGREE_BUT_NOT_ON_NUMBER, CANNOT_TELL, DISAGREE
from fairmix.posterior.wording import percent
from fairmix.report import render, summarize, write_report
from tests.report.tables import CLOSING, IMAGE, SCRIPT, TEMPLATE

HEADINGS = tuple(f"h{level}" for level in range(1, 7))
#: Elements that have no end.
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Reading(HTMLParser):
    """What a page is made of: elements with their attributes, and its text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).replace("\N{NO-BREAK SPACE}", " ").split())

    def all(self, *tags):
        return [(tag, attributes) for tag, attributes in self.elements if tag in tags]


@pytest.fixture(params=["summary_by_gap", "summary_by_matching", "summary_with_all"])
def summary(request):
    return request.getfixturevalue(request.param)


def test_a_page_needs_the_summary_only(summary):
    assert render(json.loads(json.dumps(summary))) == render(summary)


def test_figures_of_the_summary_are_on_the_page(summary):
    text = Reading(render(summary)).text
    for paragraph in summary["answer"]:
        assert " ".join(paragraph["text"].split()) in text
    for cluster, sureness in zip(
        summary["clusters"], summary["certainty"]["by_cluster"], strict=True
    ):
        rows = "row" if cluster["n_rows"] == 1 else "rows"
        assert f"{cluster['n_rows']} {rows} , {percent(cluster['share'])} of all" in text
        assert cluster["name"] in text
        sure = percent(sureness["n_sure"] / cluster["n_rows"])
        assert f"{cluster['name']} {cluster['n_rows']:,} {sure}" in text
    for attribute in summary["fairness"]["attributes"]:
        assert f"{attribute['gap']:.4f}" in text
        for shares in attribute["shares_by_cluster"]:
            told = " ".join("too few" if s is None else percent(s) for s in shares)
            assert told in text
    assert summary["run"]["versions"]["numba"] in text


def test_a_page_has_one_title_and_headings_in_order(summary):
    levels = [int(tag[1]) for tag, _ in Reading(render(summary)).all(*HEADINGS)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_tables_and_pictures_have_names(summary):
    page = Reading(render(summary))
    assert len(page.all("table")) == len(page.all("caption"))
    assert all("scope" in attributes for _, attributes in page.all("th"))
    pictures = page.all("svg")
    named = [each for _, each in pictures if each.get("role") == "img"]
    assert all("aria-hidden" in each or each in named for _, each in pictures)
    assert len(named) == len(page.all("title")) - 1
    places = [each["id"] for _, each in page.elements if "id" in each]
    assert len(places) == len(set(places))


def test_a_page_runs_nothing_and_asks_nobody(summary):
    page = Reading(render(summary))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "link", "iframe", "object", "form", "u", "b", "i"}
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name == "src" for name in attributes)
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in render(summary)


def test_what_is_seldom_there_is_told(summary_with_all):
    text = Reading(render(summary_with_all)).text
    for words in (
        "12 rows between clusters 0 and 1",
        "B not known",
        "is part of “other”",
        "Asked for was a balance of at least 0.2.",
        "3 rows were exempt.",
        "Too small to be described",
        "made of a saved model without its rows",
        "Asked for were gaps of at most 0.1 for sex",
    ):
        assert words in text


def test_hostile_names_are_text(summary_by_gap):
    page = render(summary_by_gap)
    text = Reading(page).text
    for name in (SCRIPT, IMAGE, CLOSING, TEMPLATE):
        assert name in text
        assert name == TEMPLATE or name not in page


def test_a_page_of_many_clusters_and_columns_is_small(summary_by_gap):
    """Twenty clusters of fifty columns, each as long as the longest."""
    many = copy.deepcopy(summary_by_gap)
    n_clusters, n_columns = 20, 50
    widest = max(many["features"], key=lambda each: len(str(each)))
    many["features"] = [widest | {"name": f"{SCRIPT}{k}"} for k in range(n_columns)]
    described = next(each for each in many["clusters"] if each["is_described"])
    trait = max(described["traits"], key=lambda each: len(str(each)))
    place = summary_by_gap["features"].index(widest)
    trait = next(each for each in described["traits"] if each["feature"] == place)
    traits = [trait | {"feature": k} for k in range(n_columns)]
    many["clusters"] = [described | {"number": k, "traits": traits} for k in range(n_clusters)]
    many["certainty"]["by_cluster"] = [many["certainty"]["by_cluster"][0]] * n_clusters
    for attribute in many["fairness"]["attributes"]:
        attribute["shares_by_cluster"] = [attribute["shares_by_cluster"][0]] * n_clusters
    assert len(render(many).encode()) < 1_000_000


@pytest.mark.parametrize(
    ("word", "trust"),
    [
        (AGREE, "Yes."),
        (AGREE_BUT_NOT_ON_NUMBER, "For the most part."),
        (CANNOT_TELL, "That is not known."),
        (DISAGREE, "Not yet."),
    ],
)
def test_each_verdict_says_whether_figures_can_be_trusted(by_matching, monkeypatch, word, trust):
    verdict = by_matching.posterior_.verdict()
    monkeypatch.setattr(
        "fairmix.posterior.posterior.judge",
        lambda *_: type(verdict)(word, {}, "on the ground", ["do this"]),
    )
    page = Reading(render(summarize(by_matching)))
    assert f"Can these figures be trusted? {trust}" in page.text
    assert "do this" in page.text
    is_open = ("details", {"open": None}) in page.elements
    assert is_open == (word == DISAGREE)


@pytest.mark.parametrize(
    ("effect", "sd", "words"),
    [
        (-2.0, 1.0, "much lower"),
        (0.7, 0.1, "higher"),
        (0.3, 1.0, "a little higher"),
        (0.0, 1.0, "like the others"),
        (0.1, 0.3, "like the others, but closer together"),
        (-0.3, 2.0, "a little lower, but more scattered"),
    ],
)
def test_a_number_is_compared_in_words(summary_by_matching, effect, sd, words):
    told = copy.deepcopy(summary_by_matching)
    trait = told["clusters"][0]["traits"][0]
    trait |= {"effect": effect, "sd": sd * told["features"][trait["feature"]]["sd"]}
    card = Reading(render(told)).text.split("What is each cluster?")[1]
    assert re.search(r"on average [\d.]+ , ([a-z, ]+) all rows:", card).group(1) == words


def test_a_card_shows_what_its_name_tells_of(summary_by_matching):
    told = copy.deepcopy(summary_by_matching)
    cluster, n_columns = told["clusters"][0], len(told["features"])
    plain, narrow = copy.deepcopy(cluster["traits"][0]), copy.deepcopy(cluster["traits"][0])
    sd = told["features"][plain["feature"]]["sd"]
    plain |= {"effect": 0.3, "sd": sd}
    narrow |= {"effect": 0.0, "sd": sd / 5, "feature": n_columns}
    told["features"].append(told["features"][plain["feature"]] | {"name": "medium one"})
    others = [plain | {"feature": k} for k in range(n_columns)]
    cluster["traits"] = [*[plain] * 6, narrow, *others]
    for other in told["clusters"][1:]:
        other["is_described"] = False
    card = Reading(render(told)).text.split("What is each cluster?")[1].split("elsewhere")[0]
    assert card.index("medium one") < card.index("a little higher")


def test_a_mean_is_told_as_exactly_as_its_cluster_is_narrow(summary_by_matching):
    told = copy.deepcopy(summary_by_matching)
    trait = told["clusters"][0]["traits"][0]
    told["features"][trait["feature"]]["sd"] = 9000.0
    trait |= {"mean": 26.0, "sd": 21.0}
    assert "on average 26 ," in Reading(render(told)).text


def test_clusters_that_few_draws_have_are_told_of(summary_by_matching):
    told = copy.deepcopy(summary_by_matching)
    warning = "Do not read much into its borders"
    for cluster in told["clusters"]:
        cluster["share_of_draws"] = 0.5
    assert warning not in render(told)
    told["clusters"][-1]["share_of_draws"] = 0.4
    assert warning in render(told)


def test_one_clustering_stands_for_all_draws_if_rows_are_sure(summary_by_matching):
    told = copy.deepcopy(summary_by_matching)
    told["certainty"]["arrangements"]["each"] = told["certainty"]["arrangements"]["each"][:1]
    told["certainty"]["n_unsure"] = 0
    assert "so one clustering can stand for all of them" in Reading(render(told)).text
    told["certainty"]["n_unsure"] = told["table"]["n_rows"] // 2
    assert "They scatter widely, though" in Reading(render(told)).text


def test_the_seed_is_the_one_to_give_again(by_gap, summary_by_gap):
    assert by_gap.random_state != by_gap.provenance_["seed"]
    assert f"Seed {by_gap.random_state} Time" in Reading(render(summary_by_gap)).text


def test_the_names_of_rows_are_told_of_once(summary_by_gap):
    told = copy.deepcopy(summary_by_gap)
    told["source"] |= {"id": "code", "left_out": {"code": "names the rows", "day": "dates"}}
    page = Reading(render(told)).text
    assert "Left out: day" in page
    assert "Left out: code" not in page


def test_a_summary_of_another_format_is_refused(summary_by_gap):
    with pytest.raises(ValueError, match="format 2, but this version of fairmix renders 1"):
        render(summary_by_gap | {"format": 2})


def test_jinja2_is_asked_for_by_name(summary_by_gap, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape('pip install "fairmix[report]"')):
        render(summary_by_gap)


def test_a_report_is_written_whole_or_not_at_all(
    by_matching, summary_by_gap, tmp_path, monkeypatch
):
    path = tmp_path / "report.html"
    write_report(summary_by_gap, path)
    assert path.read_text(encoding="utf-8") == render(summary_by_gap)
    write_report(by_matching, str(path))
    before = path.read_text(encoding="utf-8")
    assert "Clusters of a table of 260 rows" in before

    def fail(*_):
        raise OSError("no room")

    monkeypatch.setattr("fairmix.files.os.replace", fail)
    with pytest.raises(OSError, match="no room"):
        write_report(summary_by_gap, path)
    assert path.read_text(encoding="utf-8") == before
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_report_needs_a_path(summary_by_gap):
    with pytest.raises(TypeError, match="path must be the path of a file, got 3"):
        write_report(summary_by_gap, 3)
