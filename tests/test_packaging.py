"""What is shipped: one wheel with all packages, and locks that fit pyproject.toml."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("requirements.lock", "requirements-build.lock", "requirements-dev.lock")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=50,
    )
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def _files(package: str) -> set[str]:
    """All files of a package in the tree, named as in the wheel."""
    folder = ROOT / package
    return {
        path.relative_to(folder.parent).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != ".DS_Store"
    }


@pytest.mark.parametrize(
    "package", PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
)
def test_the_wheel_holds_every_file_of_a_package(package: str, wheel: zipfile.ZipFile) -> None:
    present = _files(package)
    name = package.partition("/")[2]

    shipped = {entry for entry in wheel.namelist() if entry.startswith(f"{name}/")}

    assert shipped == present
    assert f"{name}/py.typed" in shipped


def test_the_wheel_holds_scripts_and_pages(wheel: zipfile.ZipFile) -> None:
    kinds = {Path(name).suffix for name in wheel.namelist()}

    assert {".lua", ".html", ".css", ".js"} <= kinds


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

    tops = {name.partition("/")[0] for name in wheel.namelist()}

    ours = {package.partition("/")[2] for package in packages}
    assert {top for top in tops if not top.endswith(".dist-info")} == ours


def test_the_wheel_brings_the_command(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]

    assert "sayso = sayso_bots.cli.cli:main" in wheel.read(entry_points).decode()


def test_the_extra_bots_is_the_sum_of_the_others() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (bots,) = (Requirement(text) for text in extras["bots"])

    assert bots.name == PROJECT["project"]["name"]
    assert bots.extras == set(extras) - {"bots"}


def _packages_of(extra: str) -> list[str]:
    """What an extra brings, with the extras of our own that it names."""
    found: list[str] = []
    for text in PROJECT["project"]["optional-dependencies"][extra]:
        requirement = Requirement(text)
        if requirement.name == PROJECT["project"]["name"]:
            found += [one for part in requirement.extras for one in _packages_of(part)]
        else:
            found.append(text)
    return found


def test_a_lock_never_names_ourselves() -> None:
    assert [lock for lock in LOCKS if PROJECT["project"]["name"] in _pins(lock)] == []


def _pins(lock: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        (
            "requirements.lock",
            PROJECT["project"]["dependencies"] + _packages_of("bots"),
        ),
        ("requirements-build.lock", PROJECT["dependency-groups"]["build"]),
        ("requirements-dev.lock", PROJECT["dependency-groups"]["dev"]),
    ],
)
def test_the_lock_fits_the_project(lock: str, wanted: list[object]) -> None:
    pins = _pins(lock)

    for requirement in (Requirement(text) for text in wanted if isinstance(text, str)):
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"{requirement.name} is not locked: make lock"
        assert requirement.specifier.contains(pinned, prereleases=True), f"{requirement}: make lock"


def test_the_locks_agree() -> None:
    whole = _pins("requirements-dev.lock")

    assert _pins("requirements.lock").items() <= whole.items()
    assert _pins("requirements-build.lock").items() <= whole.items()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_hashes_and_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert "://" not in text
    assert "index" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, f"no hash: {entry}"
