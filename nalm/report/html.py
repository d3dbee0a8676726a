"""Rendering of the offline pages: templates, the style sheet and Plotly in one HTML file that needs no network."""

import functools
import importlib.resources
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nalm
from nalm.errors import NALMError


def needed() -> None:
    """Raise an error that names the missing package if pages cannot be made here."""
    try:
        import jinja2  # noqa: F401
        import plotly.offline  # noqa: F401
    except ImportError as error:
        raise NALMError(f"Pages need {error.name}: pip install 'nalm[report]'.") from None


@dataclass(frozen=True)
class Links:
    """The path of a page in its site, its title, and the pages that its navigation names."""

    here: str  # path of the page in the site, such as experiments/quick.html
    pages: tuple[str, ...]  # paths of the pages that its navigation names
    title: str

    @property
    def root(self) -> str:
        """The way from the page to the folder of the site."""
        return "../" * self.here.count("/")


def render(template: str, values: dict[str, Any], links: Links | None = None) -> str:
    """Fill a template of this room; every value is escaped, so that names from data stay text.

    With ``links`` the page links to the style sheet and the scripts of its site; otherwise it contains them.
    """
    needed()
    inside = {} if links else {"plotly": _plotly(), "style": _read("page.css"), "script": _read("page.js")}
    return (
        _environment()
        .get_template(template)
        .render(version=nalm.__version__, links=links, **inside, **values)
    )


@functools.cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def assets() -> dict[str, str]:
    """Return the files that the pages of a site share, by name."""
    return {
        "plotly.js": _plotly(),
        **{name: _read(name) for name in ("page.css", "page.js", "site.js")},
    }


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _read(name: str) -> str:
    return importlib.resources.files("nalm.report").joinpath(name).read_text(encoding="utf-8")


def save(text: str, path: Path) -> Path:
    """Write a page and return its path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NALMError(f"The page {path} could not be written: {error.strerror}.") from None
    return path


def safe(text: str) -> str:
    """Escape text for a label of Plotly, which interprets some HTML there."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
