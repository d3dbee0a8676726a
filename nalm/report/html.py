"""Rendering of the offline pages: templates, the style sheet and Plotly in one HTML file that needs no network."""

import importlib.resources
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


def render(template: str, values: dict[str, Any]) -> str:
    """Fill a template of this room; every value is escaped, so that names from data stay text."""
    needed()
    import jinja2
    from plotly.offline import get_plotlyjs

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    shared = {"version": nalm.__version__, "plotly": get_plotlyjs(), "style": _read("page.css")}
    return environment.get_template(template).render(
        **shared, script=_read("page.js") if template == "page.html" else "", **values
    )


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
