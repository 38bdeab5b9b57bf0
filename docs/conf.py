"""How Sphinx makes the site: ``make docs`` writes it to docs/_build.

A reader's browser asks no other host for anything: fonts and scripts are those of the theme, and
formulas are written as MathML, which browsers show by themselves.
"""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

import fairmix

project = "fairmix"
author = "The fairmix developers"
project_copyright = author
release = version = fairmix.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

smartquotes = False  # messages and code must be found as they are

# Links to a heading are written as GitHub wants them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]

autodoc_typehints = "none"  # the docstrings say it in words
autosummary_ignore_module_all = False
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

nitpicky = True
# Documented by others, whose pages are not read when ours are built.
nitpick_ignore_regex = [("py:.*", r"(joblib|matplotlib|numpy|pandas|sklearn|xarray|arviz)\..*")]

html_theme = "pydata_sphinx_theme"
html_title = "fairmix"
html_static_path = ["_static"]
html_css_files = ["fairmix.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages that stand alone have no neighbours to list.
html_sidebars = {page: [] for page in ("faq", "glossary", "paper/index")}
html_math_renderer = "mathml"
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _write_formula(translator, node, display):
    """Write a formula as MathML, which needs neither a script nor a picture."""
    element = convert(node.astext(), display=display)
    translator.body.append(f"<p>{element}</p>" if display == "block" else element)
    raise SkipNode


def setup(app):
    """Tell Sphinx how formulas are written."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda self, node: _write_formula(self, node, "inline"), None),
        block_renderers=(lambda self, node: _write_formula(self, node, "block"), None),
    )
