"""What is shipped: a wheel of the product, one of the playground, and locks that fit."""

from __future__ import annotations

import os
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
PLAYGROUND = tomllib.loads((ROOT / "playground" / "pyproject.toml").read_text())
FRAMEWORKS = sorted((ROOT / "tests" / "agents" / "locks").glob("*.in"))
LOCKS = (
    "requirements.lock",
    "requirements-build.lock",
    "requirements-dev.lock",
    *(str(path.with_suffix(".lock").relative_to(ROOT)) for path in FRAMEWORKS),
)
DOORS = {
    *("agent-framework", "agui", "claude-agent-sdk", "crewai", "google-adk"),
    *("langchain", "mcp", "openai-agents", "pydantic-ai", "strands"),
}
"""The extras for agents: a process of the bots needs none of them."""
LOCK_OF = {
    door: str(path.with_suffix(".lock").relative_to(ROOT))
    for path in (ROOT / "tests" / "agents" / "locks").glob("*.extras")
    for door in path.read_text().split()
}
"""The locks of those that cannot live beside our tools."""


def _built(project: Path, kind: str, folder: Path) -> Path:
    """The only file that a build of a project leaves in a folder."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)],
        cwd=project,
        check=True,
        capture_output=True,
        timeout=50,
    )
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(_built(ROOT, "wheel", tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(
        _built(ROOT / "playground", "wheel", tmp_path_factory.mktemp("playground"))
    )


def _tops(wheel: zipfile.ZipFile) -> set[str]:
    """The packages in a wheel."""
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    return {top for top in tops if not top.endswith(".dist-info")}


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


def test_the_wheel_holds_the_scripts_of_redis(wheel: zipfile.ZipFile) -> None:
    assert ".lua" in {Path(name).suffix for name in wheel.namelist()}


def test_the_playground_is_a_wheel_of_its_own_with_its_page(playground: zipfile.ZipFile) -> None:
    shipped = {name for name in playground.namelist() if name.startswith("sayso_playground/")}

    assert _tops(playground) == {"sayso_playground"}
    assert shipped == _files("playground/sayso_playground")
    assert {".html", ".css", ".js"} <= {Path(name).suffix for name in shipped}


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

    assert _tops(wheel) == {package.partition("/")[2] for package in packages}


def test_the_wheel_brings_the_command(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]

    assert "sayso = sayso_bots.cli.main:main" in wheel.read(entry_points).decode()


def _version(wheel: zipfile.ZipFile) -> str:
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return wheel.read(metadata).decode().partition("\nVersion: ")[2].partition("\n")[0]


def test_the_version_is_written_once_and_everything_else_reads_it(
    wheel: zipfile.ZipFile, playground: zipfile.ZipFile, tmp_path: Path
) -> None:
    version = PROJECT["project"]["version"]
    sources = [
        path
        for root in ("core", "adapters", "bots", "playground", "deploy")
        for path in (ROOT / root).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]

    assert _version(wheel) == _version(playground) == version
    # A source distribution is cut from the tree, and carries the version that was read there.
    source = _built(ROOT / "playground", "sdist", tmp_path)
    assert source.name == f"sayso_playground-{version}.tar.gz"
    # As a whole: an address such as 192.0.2.0 is no version.
    written = re.compile(rb"(?<![\d.])" + re.escape(version.encode()) + rb"(?![\d.])")
    assert [str(path) for path in sources if written.search(path.read_bytes())] == []


def test_the_changelog_and_the_security_policy_know_the_version() -> None:
    releases = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    version = PROJECT["project"]["version"]
    minor = version.rpartition(".")[0]
    assert releases[0] == version
    assert f"| {minor} | yes |" in (ROOT / "SECURITY.md").read_text()


def test_without_the_playground_the_demo_says_in_one_line_what_to_install(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path)
    installed = Path(pytest.__file__).parents[1]  # what we depend on, without the links to our tree
    done = subprocess.run(
        [sys.executable, "-S", "-m", "sayso_bots", "demo"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{installed}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "(sayso-playground)" in done.stderr
    assert "`pip install '.[bots]' ./playground`, elsewhere" in done.stderr
    assert "install Sayso with its extra `demo`" in done.stderr


def test_no_message_tells_to_install_a_name_that_anybody_can_take() -> None:
    sources = [
        path
        for root in ("core", "adapters", "bots", "playground")
        for path in (ROOT / root).rglob("*.py")
    ]

    telling = re.compile(r"install '?sayso[\[-]")
    assert len(sources) > 200
    assert [path.name for path in sources if telling.search(path.read_text())] == []


def test_the_extra_bots_is_the_sum_of_its_parts_and_the_demo_adds_the_playground() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (bots,) = (Requirement(text) for text in extras["bots"])
    demo = [str(Requirement(text)) for text in extras["demo"]]

    assert bots.name == PROJECT["project"]["name"]
    assert bots.extras == set(extras) - {"bots", "demo"} - DOORS
    assert demo == [f"{bots.name}[bots]", PLAYGROUND["project"]["name"]]


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
    ours = {PROJECT["project"]["name"], PLAYGROUND["project"]["name"]}

    assert [lock for lock in LOCKS if ours & set(_pins(lock))] == []


def _pins(lock: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        (
            "requirements.lock",
            PROJECT["project"]["dependencies"]
            + _packages_of("bots")
            + PLAYGROUND["project"]["dependencies"],
        ),
        ("requirements-build.lock", PROJECT["dependency-groups"]["build"]),
        ("requirements-dev.lock", PROJECT["dependency-groups"]["dev"]),
        *(
            (LOCK_OF.get(door, "requirements-dev.lock"), _packages_of(door))
            for door in sorted(DOORS)
        ),
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


@pytest.mark.parametrize("wanted", FRAMEWORKS, ids=lambda path: path.stem)
def test_the_lock_of_frameworks_holds_the_versions_that_it_is_made_for(wanted: Path) -> None:
    pins = _pins(str(wanted.with_suffix(".lock").relative_to(ROOT)))
    requirements = [Requirement(line) for line in wanted.read_text().splitlines()]

    assert requirements or wanted.with_suffix(".extras").is_file()
    for requirement in requirements:
        pinned = pins[canonicalize_name(requirement.name)]
        assert str(requirement.specifier) == f"=={pinned}", f"{requirement}: make lock"


def test_what_a_lock_leaves_out_is_not_in_it() -> None:
    listed = (ROOT / "tests" / "agents" / "locks" / "crewai.excludes").read_text()
    names = [line for line in listed.splitlines() if not line.startswith("#")]

    assert names
    assert set(names) & set(_pins("tests/agents/locks/crewai.lock")) == set()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_hashes_and_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert "://" not in text
    assert "index" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, f"no hash: {entry}"
