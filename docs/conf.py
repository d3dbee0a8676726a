"""The documentation site: ``make docs`` builds it into docs/_build/html."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import generate
import mathml

import nalm

project = "nalm"
author = project_copyright = "the nalm developers"
version = release = nalm.__version__
extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"),
    *("sphinx_gallery.gen_gallery", "sphinx_copybutton"),
]
exclude_patterns = ["_build", "README.md", "generated/tables", "**/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]  # the order of the gallery is a class, which Sphinx cannot store

html_theme = "furo"
html_title = f"nalm {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"  # needs no script, and so no network

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, whose pages are elsewhere
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": "/",
    "capture_repr": (),  # what is printed, and figures
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 600,
}


def list_decisions(app, name, source):
    """List the decisions below their page in the navigation; the page's file needs no directive for that."""
    if name == "decisions/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n0*\n```\n"


def setup(app):  # noqa: D103
    app.connect("source-read", list_decisions)
    generate.write(HERE.parent, HERE / "generated")
    mathml.setup(app)
