"""The documentation site: built without the network, no link broken, every public name in it."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.typescript import node

import sayso
import sayso_agents

ROOT = Path(__file__).parents[1]
# Building the site takes a quarter of a minute, on a busy machine a few.
pytestmark = pytest.mark.timeout(240)
WITHOUT_ALL = (
    "sayso.calls",
    "sayso.clock",
    "sayso.errors",
    "sayso.events",
    "sayso.text.visible",
)
DOORS = [f"sayso_agents.{door.name}" for door in pkgutil.iter_modules(sayso_agents.__path__)]
OTHERS = ("sayso.stores.protocols", "sayso_slack", "sayso_telegram", "sayso_playground")
# Few agents need these, so no package hands them on; the events are loaded on their first use.
BY_FOLDER = ("sayso.events.", "sayso.agent.responding.", "sayso.rules.declarations.")
_PYTHON = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@dataclass
class _Page(HTMLParser):
    """What a page defines, and what it leads to or loads."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        self.ids |= {found["id"]} if "id" in found else set()
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        elif tag == "link" and "stylesheet" in found.get("rel", ""):
            self.loads.add(found["href"])
        elif "src" in found:
            self.loads.add(found["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, _Page]:
    """Every page of a site that was built where nothing outside can be reached."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=230,
    )
    # Not --quiet: what is not said is not counted, and --strict would let it pass.
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = {}
    for path in folder.rglob("*.html"):
        pages[path] = _Page()
        pages[path].feed(path.read_text())
    return pages


def test_no_link_is_broken_and_no_anchor_missing(site: dict[Path, _Page]) -> None:
    broken = []
    for path, page in site.items():
        for link in page.links | page.loads:
            # The page for what is missing has absolute addresses: it is shown at any path.
            if "://" in link or link.startswith(("mailto:", "data:", "/")):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
            if not target.exists() or (anchor and unquote(anchor) not in site[target].ids):
                broken.append(f"{path.name}: {link}")

    assert len(site) > 40
    assert broken == []


def test_no_page_loads_anything_from_elsewhere(site: dict[Path, _Page]) -> None:
    loaded = {source for page in site.values() for source in page.loads}

    assert loaded
    assert [source for source in loaded if "://" in source or source.startswith("//")] == []


def test_there_is_a_search(site: dict[Path, _Page]) -> None:
    index = (_folder(site) / "search" / "search_index.json").read_text()
    assert "Your first button" in index
    assert "sayso.Gate" in index


@pytest.mark.parametrize(
    "word", ["connections_per_source", "SAYSO_STORE_URL", "requires_permission", "as_tool_result"]
)
def test_the_search_finds_a_word_in_code_on_every_page_that_has_it(
    site: dict[Path, _Page], word: str
) -> None:
    folder = _folder(site)
    sections = json.loads((folder / "search" / "search_index.json").read_text())["docs"]
    pattern = re.compile(rf"\b{word}\b")
    pages = {
        section["location"].partition("#")[0]
        for section in sections
        if pattern.search(section["text"])
    }

    assert pages
    assert pages - set(_search_site(folder, word)) == set()


def test_the_search_finds_names_with_a_dot(site: dict[Path, _Page]) -> None:
    folder = _folder(site)

    assert _search_site(folder, "gate.check")[0] == "docs/reference/asking.html"
    assert "docs/policies/server.html" in _search_site(folder, "sayso.toml")[:3]


def _folder(site: dict[Path, _Page]) -> Path:
    (home,) = [path for path in site if path.name == "index.html" and "docs" not in path.parts]
    return home.parent


def _search_site(folder: Path, query: str) -> list[str]:
    """The pages that the site's own search finds, the best first."""
    done = subprocess.run(
        [node(), str(ROOT / "tests" / "support" / "site_search.js"), str(folder), query],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    pages: list[str] = json.loads(done.stdout)
    return pages


def _source_of(door: str) -> ast.Module:
    spec = find_spec(door)
    assert spec is not None
    assert spec.origin is not None
    return ast.parse(Path(spec.origin).read_text())


def _said_public(door: str) -> list[str]:
    """The public names of a door, whose framework need not be here."""
    for line in _source_of(door).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(line.value)
            return names
    return []


def _public() -> Iterator[str]:
    """What the modules themselves call public: `__all__`, and what the short ones define."""
    rooms = [found.name for found in pkgutil.iter_modules(sayso.__path__, "sayso.") if found.ispkg]
    for name in ("sayso", *rooms, *OTHERS):
        for public in getattr(import_module(name), "__all__", ()):
            yield f"{name}.{public}"
    for name in DOORS:
        for public in _said_public(name):
            yield f"{name}.{public}"
    for name in WITHOUT_ALL:
        for public, value in vars(import_module(name)).items():
            if not public.startswith("_") and getattr(value, "__module__", "") == name:
                yield f"{name}.{public}"


def test_every_public_name_is_in_the_reference_and_says_what_it_is(
    site: dict[Path, _Page],
) -> None:
    pages = [page for path, page in site.items() if path.parent.name == "reference"]
    documented = {name for page in pages for name in page.ids}

    names = list(_public())
    known = {_value(name) for name in names if name in documented}
    missing = [name for name in names if _value(name) not in known]
    silent = [name for name in names if not _says_what_it_is(name)]

    assert len(names) > 100
    assert missing == []
    assert silent == []


def test_whatever_examples_and_pages_import_is_public_under_that_path() -> None:
    sources = {path: path.read_text() for path in (ROOT / "examples").rglob("*.py")}
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        blocks = [textwrap.dedent(block) for _, block in _PYTHON.findall(path.read_text())]
        sources |= {path / str(number): block for number, block in enumerate(blocks)}
    imported = {
        f"{node.module}.{alias.name}": path.relative_to(ROOT)
        for path, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sayso")
        for alias in node.names
    }

    assert len(imported) > 50
    public = {*_public(), *(name for name in imported if name.startswith(BY_FOLDER))}
    assert {name: path for name, path in imported.items() if name not in public} == {}


def _split(name: str) -> tuple[object, str]:
    module, _, last = name.rpartition(".")
    return import_module(module), last


def _is_here(name: str) -> bool:
    """Whether it can be imported; the frameworks of some doors are elsewhere."""
    try:
        return import_module(name.rpartition(".")[0]) is not None
    except ImportError:
        return False


def _says_what_it_is(name: str) -> bool:
    if not _is_here(name):
        module, _, last = name.rpartition(".")
        written = {
            one.name: ast.get_docstring(one)
            for one in _source_of(module).body
            if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        }
        return bool(written[last])
    value = getattr(*_split(name))
    return not (inspect.isclass(value) or inspect.isroutine(value)) or bool(value.__doc__)


def _value(name: str) -> int | str:
    """Which object is meant: a name that two modules export needs to be explained once."""
    return id(getattr(*_split(name))) if _is_here(name) else name
