"""The pages: tables that follow from the code are up to date, lines are short, links lead on."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

import fairmix

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: What is made is no page of ours.
MADE = (DOCS / "_build", DOCS / "api" / "generated")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "benchmarks").glob("*.md"))
    if not any(path.is_relative_to(folder) for folder in MADE)
)
TABLES = runpy.run_path(str(DOCS / "make_tables.py"))
LONGEST = 100


def prose_of(text):
    """Give the lines of a page by number, without tables and without blocks of code."""
    is_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("|"):
            yield number, line


def anchors_of(text):
    """Give what a link may lead to inside a page, as GitHub names headings."""
    headings = [line.lstrip("#").strip() for _, line in prose_of(text) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", each).lower().replace(" ", "-") for each in headings}


def toctree_of(page):
    """Give the pages that a page's tables of contents name."""
    found = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    names = [line for block in found for line in block.splitlines() if line and line[0] != ":"]
    return [(page.parent / f"{name}.md").resolve() for name in names]


@pytest.mark.parametrize("page", TABLES["TABLES"])
def test_tables_are_up_to_date(page):
    text = (ROOT / "docs" / page).read_text()
    assert TABLES["fill_in"](page, text) == text, "run python docs/make_tables.py"


def test_a_page_that_lost_its_place_for_a_table_is_an_error():
    with pytest.raises(ValueError, match=r"sampler\.md lacks the lines"):
        TABLES["fill_in"]("model/sampler.md", "# The sampler\n")


@pytest.mark.parametrize("page", PAGES)
def test_lines_are_short(page):
    text = (ROOT / page).read_text()
    assert [number for number, line in prose_of(text) if len(line) > LONGEST] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors_of(path.read_text()), target


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    text = (ROOT / page).read_text()
    for name in re.findall(r"`((?:benchmarks|docs|examples|src|tests)/[\w./-]*)`", text):
        assert (ROOT / name).exists(), name


def test_every_page_of_the_site_can_be_reached():
    waiting, reached = [DOCS / "index.md"], set()
    while waiting:
        page = waiting.pop()
        assert page.exists(), f"a table of contents names {page.relative_to(ROOT)}"
        if page not in reached:
            reached.add(page)
            waiting += toctree_of(page)
    ours = {ROOT / page for page in PAGES if page.startswith("docs/")}
    assert ours == reached


def public_names():
    """Give the module that has each public name, and the name."""
    modules = [name for name in fairmix.__all__ if name != "__version__"]
    for name in modules:
        found = getattr(fairmix, name)
        if isinstance(found, type(fairmix)):
            yield from ((f"fairmix.{name}", each) for each in public_of(found))
        else:
            yield "fairmix", name


def public_of(module):
    """Give the public names of a module; one without a list has those that it defines."""
    if hasattr(module, "__all__"):
        return module.__all__
    return [
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", "") == module.__name__
    ]


def documented_names():
    """Give the module and the name of each line of the lists in docs/api."""
    for page in (DOCS / "api").glob("*.md"):
        module = None
        for line in page.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split(":: ")[1]
            elif re.fullmatch(r"   [\w.]+", line):
                yield module, line.strip()


def test_every_public_name_has_a_page():
    missing = set(public_names()) - set(documented_names())
    assert missing == set()


def test_what_has_a_page_exists():
    for module, name in documented_names():
        *parts, last = name.split(".")
        assert hasattr(importlib.import_module(".".join([module, *parts])), last), (module, name)
