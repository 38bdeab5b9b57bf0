"""The page: a summary as one HTML file that asks nobody for anything and runs no script."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairmix.files import write_whole
from fairmix.posterior.summaries import NARROW, STRONG, WIDE
from fairmix.posterior.verdict import AGREE, AGREE_BUT_NOT_ON_NUMBER, CANNOT_TELL, DISAGREE
from fairmix.posterior.wording import NOTICEABLE, number, percent
from fairmix.report.drawing import draw_columns, draw_histogram, draw_share
from fairmix.report.summary import FORMAT, summarize

#: Columns that the card of a cluster shows, and levels of each.
MAX_TRAITS, MAX_LEVELS = 5, 3
#: From which difference to the other rows on, in standard deviations, it is told how large it is.
LARGE, CLEAR = 1.5, 0.5
#: Of a category, levels whose share differs by less are told of only if none differs more.
LEAST_DIFFERENCE = 0.02
#: How each verdict looks, and whether the figures can be trusted.
STATUS = {
    AGREE: ("good", "Yes"),
    AGREE_BUT_NOT_ON_NUMBER: ("careful", "For the most part"),
    CANNOT_TELL: ("careful", "That is not known"),
    DISAGREE: ("bad", "Not yet"),
}
#: If a larger share of the rows is mostly elsewhere, one clustering does not stand for all draws.
LITTLE = 0.1
#: So many groups have colours of their own.
N_COLOURS = 8
#: Columns of the picture of how many clusters there are.
MAX_NUMBERS = 12


def render(summary: Mapping[str, Any]) -> str:
    """Make a page of a summary.

    Parameters
    ----------
    summary : mapping
        What :func:`summarize` gave, or what was read of ``summary.json``.

    Returns
    -------
    str
        HTML with everything in it: styles and pictures, but no script, and no address that a
        browser would ask. Text from the data is escaped.
    """
    if summary.get("format") != FORMAT:
        raise ValueError(
            f"the summary has format {summary.get('format')!r}, but this version of fairmix "
            f"renders {FORMAT}; make it anew by summarize."
        )
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('the report needs jinja2; run pip install "fairmix[report]".') from error
    pages = Environment(
        loader=PackageLoader("fairmix.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {
        "glue": _glue,
        "percent": lambda share: _glue(percent(share)),
        "like": _number,
        "thousands": lambda count: f"{count:,}",
    }
    pages.globals |= {
        "picture_of_trait": _picture_of_trait,
        "picture_of_numbers": _picture_of_numbers,
        "picture_of_certainty": _picture_of_certainty,
        "bar": _bar,
        "told_traits": _told_traits,
        "told_levels": _told_levels,
        "compare": _compare,
        "status": lambda verdict: STATUS[verdict][0],
        "trust": lambda verdict: STATUS[verdict][1],
        "CLEAR": CLEAR,
        "LITTLE": LITTLE,
        "N_COLOURS": N_COLOURS,
    }
    answer = {each["about"]: each["text"] for each in summary["answer"]}
    return pages.get_template("page.html").render(s=summary, answer=answer)


def write_report(summary_or_model: Any, path: Any) -> None:
    """Write the page of a summary, or of a fitted model, to a file.

    Parameters
    ----------
    summary_or_model : mapping or estimator
        What :func:`summarize` gave, or a fitted model.
    path : str or path
        The file; one that is there is replaced when the new one is whole.

    Examples
    --------
    >>> from fairmix.report import write_report
    >>> write_report(model, "report.html")  # doctest: +SKIP
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the path of a file, got {path!r}.")
    is_summary = isinstance(summary_or_model, Mapping)
    page = render(summary_or_model if is_summary else summarize(summary_or_model))
    write_whole(Path(path), page.encode())


def _markup(svg: str) -> Any:
    """Mark what ``drawing`` made, which has escaped all text in it, as HTML."""
    from markupsafe import Markup

    return Markup(svg)


def _glue(text: str) -> str:
    """Keep a figure and its sign on one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _number(value: float, spread: float) -> str:
    return number(value, spread).replace("-", "\N{MINUS SIGN}")


def _bar(share: float, most: float, css: str, mark: float | None = None) -> Any:
    return _markup(draw_share(share, most, css, mark))


def _picture_of_trait(feature: Mapping[str, Any], trait: Mapping[str, Any], cluster: int) -> Any:
    """Draw a number in a cluster beside all rows."""
    edges = feature["histogram"]["edges"]
    step = edges[1] - edges[0]
    ends = (f"below {_plain(edges[1], step)}", f"{_plain(edges[-2], step)} or more")
    title = (
        f"Histogram of {feature['name']}: in cluster {cluster} the middle half is "
        f"{_range(trait['middle_half'], trait['sd'])}, of all rows "
        f"{_range(feature['middle_half'], feature['sd'])}."
    )
    overall = feature["histogram"]["counts"]
    return _markup(draw_histogram(edges, overall, trait["counts"], ends, title))


def _plain(edge: float, step: float) -> str:
    """Give an edge with the digits of the step between edges."""
    text = f"{edge:.4g}" if step < 1e-4 else f"{edge:,.12g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _range(half: list[float] | None, sd: float | None) -> str:
    if half is None:
        return "not told"
    low, high = (_number(end, sd or 0.0) for end in half)
    return f"{low} to {high}"


def _picture_of_numbers(numbers: Mapping[str, Any]) -> Any:
    """Draw how often each number of clusters was drawn."""
    shown = sorted(numbers["distribution"], key=lambda each: -each["share"])[:MAX_NUMBERS]
    shown.sort(key=lambda each: each["n"])
    told = ", ".join(f"{each['n']} in {percent(each['share'])}" for each in shown)
    marked = next((k for k, each in enumerate(shown) if each["n"] == numbers["labels"]), -1)
    return _markup(
        draw_columns(
            [each["share"] for each in shown],
            [str(each["n"]) for each in shown],
            marked,
            f"Number of clusters, by share of the draws: {told}.",
        )
    )


def _picture_of_certainty(certainty: Mapping[str, Any], n_rows: int) -> Any:
    """Draw how many rows are how sure of their cluster."""
    counts = certainty["n_rows_by_probability"]
    told = ", ".join(
        f"{10 * k} to {10 * k + 10} %: {count:,} rows" for k, count in enumerate(counts)
    )
    return _markup(
        draw_columns(
            [count / n_rows for count in counts],
            [f"{10 * k}\N{EN DASH}{10 * k + 10}" for k in range(len(counts))],
            len(counts) - 1,
            f"Rows by the probability of their cluster: {told}.",
        )
    )


def _told_traits(
    features: Sequence[Mapping[str, Any]], cluster: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Choose what the card of a cluster shows, in the order in which its name tells of it."""

    def place(trait: Mapping[str, Any]) -> int:
        if abs(trait["effect"] or 0.0) >= STRONG:
            return 0
        return 1 if _spread_in_words(features[trait["feature"]], trait) else 2

    return sorted(cluster["traits"], key=place)[:MAX_TRAITS]


def _told_levels(feature: Mapping[str, Any], trait: Mapping[str, Any]) -> list[int]:
    """Choose the levels of a category whose shares differ most from those of all rows."""
    pairs = enumerate(zip(trait["shares"] or [], feature["shares"] or [], strict=False))
    apart = {k: abs(own - overall) for k, (own, overall) in pairs if None not in (own, overall)}
    by_difference = sorted(apart, key=lambda k: -apart[k])
    clear = [k for k in by_difference if apart[k] >= LEAST_DIFFERENCE]
    return clear[:MAX_LEVELS] or by_difference[:1]


def _compare(feature: Mapping[str, Any], trait: Mapping[str, Any]) -> str:
    """Say how a number in a cluster differs from that of the other rows."""
    effect = trait["effect"]
    word = "higher" if effect > 0 else "lower"
    if abs(effect) >= LARGE:
        return f"much {word}"
    if abs(effect) >= CLEAR:
        return word
    told = f"a little {word}" if abs(effect) >= NOTICEABLE else "like the others"
    return f"{told}{_spread_in_words(feature, trait)}"


def _spread_in_words(feature: Mapping[str, Any], trait: Mapping[str, Any]) -> str:
    """Say whether a number spreads less, or more, in a cluster than among all rows."""
    if not feature["sd"] or trait["sd"] is None:
        return ""
    ratio = trait["sd"] / feature["sd"]
    if ratio <= NARROW:
        return ", but closer together"
    return ", but more scattered" if ratio >= WIDE else ""
