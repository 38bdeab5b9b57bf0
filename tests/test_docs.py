"""The pages: tables that follow from the code are up to date, lines are short, links lead on."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (ROOT, ROOT / "docs", ROOT / "benchmarks")
    for path in folder.glob("*.md")
)
TABLES = runpy.run_path(str(ROOT / "docs" / "make_tables.py"))
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


@pytest.mark.parametrize("page", TABLES["TABLES"])
def test_tables_are_up_to_date(page):
    text = (ROOT / "docs" / page).read_text()
    assert TABLES["fill_in"](page, text) == text, "run python docs/make_tables.py"


def test_a_page_that_lost_its_place_for_a_table_is_an_error():
    with pytest.raises(ValueError, match=r"sampler\.md lacks the lines"):
        TABLES["fill_in"]("sampler.md", "# The sampler\n")


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
