"""Line budgets of the packages: how many lines each may have, and how many it has.

``make budgets`` lowers each budget to the lines that are there and a little room. It never raises
one: that is done by hand in ``tests/budgets.toml``, with the reason in the commit.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUDGETS = ROOT / "tests/budgets.toml"
PRODUCT = ("core", "adapters", "bots", "playground")
# The files that count, below each folder.
_COUNTED = {
    **dict.fromkeys(PRODUCT, ("*.py", "*.lua")),
    "tests": ("*.py", "mutants/lists/*.toml"),
    "docs": ("*.md",),
}
_README = "README.md"


@dataclass(frozen=True, slots=True)
class Size:
    """How much a package has, or may have. Only packages of the product count their modules."""

    lines: int
    modules: int | None = None

    def __str__(self) -> str:
        modules = "" if self.modules is None else f", modules = {self.modules}"
        return f"{{ lines = {self.lines}{modules} }}"


def read_budgets() -> dict[str, Size]:
    """Read the budget of each package from ``tests/budgets.toml``."""
    return {name: Size(**entry) for name, entry in tomllib.loads(BUDGETS.read_text()).items()}


def count_sizes(names: Mapping[str, object]) -> dict[str, Size]:
    """Count each named package: a file belongs to the deepest named folder that it is in.

    A file in none of them counts for its top folder, which then has no budget.
    """
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for file in _files():
        name = _package(file, names)
        lines[name] += (ROOT / file).read_bytes().count(b"\n")
        modules[name] += file.endswith(".py")
    return {
        name: Size(lines[name], modules[name] if name.split("/")[0] in PRODUCT else None)
        for name in sorted(lines)
    }


def find_excess(budget: Size, size: Size) -> str:
    """Tell by how much a package exceeds its budget; empty when it does not."""
    if (more := size.lines - budget.lines) > 0:
        return f"{size.lines} lines are {more} more than its budget"
    if (size.modules or 0) > (budget.modules or 0):
        return f"{size.modules} modules are more than {budget.modules}"
    return ""


def find_slack(budget: Size, size: Size) -> str:
    """Tell that a budget is too generous for its package; empty when it is not."""
    if budget.lines - size.lines > max(40, size.lines // 50):
        return f"its budget of {budget.lines} lines is too high for {size.lines}"
    if (budget.modules or 0) > (size.modules or 0) + 1:
        return f"its budget of {budget.modules} modules is too high for {size.modules}"
    return ""


def lower(budgets: Mapping[str, Size]) -> dict[str, Size]:
    """Lower each budget to its package and a little room; drop those of packages that are gone."""
    sizes = count_sizes(budgets)
    return {
        name: _lowered(budget, sizes[name]) for name, budget in budgets.items() if name in sizes
    }


def main() -> int:
    """Rewrite ``tests/budgets.toml``; the exit code is 1 when a package exceeds its budget."""
    before = read_budgets()
    budgets = lower(before)
    heading = "".join(
        f"{line}\n" for line in BUDGETS.read_text().splitlines() if line.startswith("#")
    )
    entries = (f'\n"{name}" = {budget}\n' for name, budget in sorted(budgets.items()))
    BUDGETS.write_text(heading + "".join(entries))
    for name in sorted(name for name in before if budgets.get(name) != before[name]):
        print(f"{name}: {before[name]} -> {budgets.get(name, 'gone')}")
    excesses = [
        f"{name}: {excess}"
        for name, size in count_sizes(budgets).items()
        if (excess := find_excess(budgets.get(name, Size(0)), size))
    ]
    print("\n".join(excesses), file=sys.stderr, end="\n" if excesses else "")
    return 1 if excesses else 0


def _files() -> Iterator[str]:
    for folder, patterns in _COUNTED.items():
        for pattern in patterns:
            yield from (
                path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).rglob(pattern))
            )
    yield _README


def _package(file: str, names: Mapping[str, object]) -> str:
    path = Path(file)
    candidates = (one.as_posix() for one in (path, *path.parents))
    return next((name for name in candidates if name in names), path.parts[0])


def _lowered(budget: Size, size: Size) -> Size:
    lines = size.lines + max(20, size.lines // 100)
    modules = None if size.modules is None else min(budget.modules or 0, size.modules)
    return Size(min(budget.lines, lines), modules)


if __name__ == "__main__":
    sys.exit(main())
