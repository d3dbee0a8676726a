"""The documentation site: built strictly with every example run, links followed, nothing asked of the network."""

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytestmark = [pytest.mark.system, pytest.mark.xdist_group("site")]  # one process builds it
ROOT = Path(__file__).parent.parent
COPIED = (
    "docs",
    "examples",
    "srbench",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "SUPPORT.md",
)
LINKED = ("nalm", "results", "benchmarks")
BUILT = shutil.ignore_patterns("_build", "generated", "gallery", "tutorials")
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SEEN = (
    "index.html",
    "gallery/index.html",
    "tutorials/plot_1_table.html",
    "generated/units/NMU.html",
    "api/laws.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built from a copy of the pages and examples: a build leaves files beside them."""
    for package in ("sphinx", "myst_parser", "sphinx_gallery", "furo", "matplotlib", "sklearn"):
        pytest.importorskip(package, reason="the extra docs is not installed")
    checkout = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        path = ROOT / name
        ignore = BUILT if name == "docs" else None
        if path.is_dir():
            shutil.copytree(path, checkout / name, ignore=ignore)
        elif path.is_file():
            shutil.copy(path, checkout)
    for name in LINKED:
        (checkout / name).symlink_to(ROOT / name)
    out = checkout / "site"
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "docs", str(out)]
    surroundings = os.environ | {
        "PYTHONWARNINGS": "default",
        "PYTHONPATH": str(checkout),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(command, cwd=checkout, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return out


class Page(HTMLParser):
    """What a page links to, what it loads, and the names that links may end in."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]):
            self.loaded.append(values[LOADED[tag]])


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if "_downloads" not in path.parts}


def outside(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


def test_every_internal_link_leads_to_a_page_and_a_place_on_it(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            address, place = urldefrag(link)
            if outside(link) or link.startswith(("mailto:", "data:")):
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            known = not place or target not in pages or unquote(place) in pages[target].names
            if not (target.exists() and known):
                broken.append((path.name, link))
    assert not broken


def test_no_page_loads_anything_from_the_network(site, pages):
    for path, page in pages.items():
        assert not [address for address in page.loaded if outside(address)], path
        for address in page.loaded:
            if not address.startswith("data:"):
                assert (path.parent / unquote(urldefrag(address.partition("?")[0])[0])).exists(), (
                    path,
                    address,
                )
    for path in site.rglob("*.css"):
        assert "url(http" not in path.read_text("utf-8").replace('"', "").replace("'", ""), path


def test_the_site_has_its_parts(site, pages):
    examples = [p for p in pages if p.parent.name == "gallery" and p.name.startswith("plot_")]
    assert len(examples) >= 14
    for path in examples:
        assert (site / "_images" / f"sphx_glr_{path.stem}_thumb.png").is_file(), path.stem
    real = [p for p in ROOT.glob("examples/gallery/plot_*.py") if "../data/" in p.read_text("utf-8")]
    assert len(real) >= len(examples) / 2
    text = (site / "which-unit.html").read_text("utf-8")
    assert "NMU" in text and "of\u00a01,000" in text
    assert "<math" in (site / "generated/units/NMU.html").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
def test_pages_open_without_errors_and_fit_the_screen(site, size, scheme):
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=FLAGS)
        context = browser.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=scheme
        )
        view = context.new_page()
        said, asked = [], []
        view.on("console", lambda m: said.append(m.text))
        view.on("pageerror", lambda e: said.append(str(e)))
        view.on("request", lambda r: asked.append(r.url))
        for name in SEEN:
            view.goto((site / name).as_uri())
            assert view.locator("h1").first.is_visible()
            assert view.evaluate("document.documentElement.scrollWidth") <= size[0], name
        browser.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
