"""The pages of the reference: each public name on one of them, with its docstring."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel

import sayso
import sayso_agents


@dataclass(frozen=True)
class _Page:
    """One page: names that were defined in ``homes``, or that nothing but ``modules`` exports."""

    name: str
    title: str
    about: str
    homes: tuple[str, ...]


PAGES = (
    _Page(
        "asking",
        "Asking",
        "What an agent's process uses: the gate, the calls it checks and the verdicts it gets.",
        ("sayso.agent", "sayso.calls"),
    ),
    _Page(
        "policies",
        "Policies and rules",
        "Whether a call runs, does not run, or needs a person.",
        ("sayso.policy", "sayso.rules", "sayso.always"),
    ),
    _Page(
        "questions",
        "Questions and answers",
        "The kinds of question, the events that carry them, and what comes of them.",
        ("sayso.questions", "sayso.events"),
    ),
    _Page(
        "approvers",
        "Approvers",
        "Who may answer which question: the authority of presses, and of answers from code.",
        ("sayso.worker",),
    ),
    _Page(
        "cards",
        "Cards and forms",
        "What a question of your own is made of.",
        ("sayso.cards", "sayso.forms"),
    ),
    _Page(
        "platforms",
        "Platforms",
        "What a package exports to bring a chat platform.",
        ("sayso.platforms", "sayso.chats", "sayso.text", "sayso.clock"),
    ),
    _Page(
        "stores",
        "Stores",
        "What a store promises, and a platform is given of it.",
        ("sayso.stores.protocols",),
    ),
    _Page("errors", "Errors", "Everything that is raised on purpose.", ("sayso.errors",)),
    _Page(
        "testing",
        "Testing",
        "Tests of agents and policies, and the contracts of adapters. Needs pytest.",
        ("sayso.testing",),
    ),
    _Page(
        "frameworks",
        "Agent frameworks",
        "The door of each framework, and what all of them share.",
        ("sayso_agents",),
    ),
    _Page("slack", "Slack", "The adapter that `sayso serve` wires.", ("sayso_slack",)),
    _Page("telegram", "Telegram", "The adapter that `sayso serve` wires.", ("sayso_telegram",)),
    _Page(
        "playground",
        "Playground",
        "Doubles of both platforms, for the demo and for tests; a distribution of its own.",
        ("sayso_playground",),
    ),
)
WITHOUT_ALL = (
    "sayso.calls",
    "sayso.clock",
    "sayso.errors",
    "sayso.events",
    "sayso.text.visible",
)
"""Documented modules that are one file: what they define is public."""
BELOW = ("sayso.stores.protocols",)
"""Documented rooms inside another room."""
DOORS = tuple(f"sayso_agents.{door.name}" for door in pkgutil.iter_modules(sayso_agents.__path__))
"""Each of them needs its framework."""
PACKAGES = ("sayso_slack", "sayso_telegram", "sayso_playground")

_FIELDS = """\
    options:
      show_if_no_docstring: true
      filters: ["!^_", "!^model_config$"]
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, a page for each part of it and one that lists them all."""
    index = "# Reference\n\nEvery public name. What is not listed here may change in any version.\n"
    pages = {name: _page_of(name) for name in public_names()}
    for page in PAGES:
        names = [name for name, its_page in pages.items() if its_page is page]
        text = f"# {page.title}\n\n{page.about}\n\n" + "".join(map(_directive, names))
        files.append(File.generated(config, f"docs/reference/{page.name}.md", content=text))
        index += f"\n## [{page.title}]({page.name}.md)\n\n{page.about}\n\n"
        index += " · ".join(f"[`{_last(name)}`][{name}]" for name in names) + "\n"
    files.append(File.generated(config, "docs/reference/README.md", content=index))
    return files


def _directive(path: str) -> str:
    """One name. The fields of a model and of an enumeration say themselves what they are."""
    value = None if path in _of_doors() else _value(path)
    fields = inspect.isclass(value) and issubclass(value, BaseModel | Enum)
    return f"::: {path}\n{_FIELDS if fields else ''}\n"


def _value(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def public_names() -> list[str]:
    """Every public name once, by the shortest path that it is imported from."""
    found: dict[object, str] = {}
    rooms = [room.name for room in pkgutil.iter_modules(sayso.__path__, "sayso.") if room.ispkg]
    named = ("sayso", *rooms, *BELOW, *WITHOUT_ALL, *PACKAGES)
    for module in map(import_module, named):
        for name in _exported(module):
            value = getattr(module, name)
            key = (
                value if inspect.isclass(value) or inspect.isroutine(value) else (name, repr(value))
            )
            found.setdefault(key, f"{module.__name__}.{name}")
    return [*found.values(), *sorted(_of_doors())]


@cache
def _of_doors() -> frozenset[str]:
    """The public names of doors: read, not loaded, which would load all of the frameworks."""
    return frozenset(f"{door}.{name}" for door in DOORS for name in names_written_in(door))


def names_written_in(module: str) -> list[str]:
    """What a module calls public in its source."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise LookupError(f"{module} has no source")
    for line in ast.parse(Path(spec.origin).read_text()).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(line.value)
            return names
    return []


def _exported(module: ModuleType) -> Iterator[str]:
    yield from getattr(module, "__all__", ())
    if module.__name__ in WITHOUT_ALL:
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
                yield name


def _page_of(path: str) -> _Page:
    module, _, name = path.rpartition(".")
    value = None if path in _of_doors() else _value(path)
    # A union or a constant does not know its module: then it is one of those that hold it.
    holders = (known for known, held in sys.modules.items() if vars(held).get(name) is value)
    for home in chain((getattr(value, "__module__", module), module), holders):
        for page in PAGES:
            if any(f"{home}.".startswith(f"{room}.") for room in page.homes):
                return page
    raise LookupError(f"{path} is public: name its page in PAGES here, and in mkdocs.yml")


def _last(path: str) -> str:
    return path.rpartition(".")[2]
