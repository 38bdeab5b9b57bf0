"""What a fit found, for people: a summary in plain values, and a page made of it.

A model is *summarised* to a dict of plain values, and the dict is *rendered*. So the figures can be
tested and kept (as ``summary.json``) apart from how they look.
"""

from fairmix.report.page import render, write_report
from fairmix.report.summary import summarize

__all__ = ["render", "summarize", "write_report"]
