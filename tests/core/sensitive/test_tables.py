"""The tables of files that control runs and of those that hold secrets."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.sensitive.name_table import Entry, NameTable, check_entry, read_entries
from sayso.sensitive.paths import controls_runs, is_installed, is_secret, shows_secrets

TABLES = ("controlling_files.toml", "secrets.toml")
SECRETS = [
    name.lstrip("/").replace("*", "x")
    for entry in read_entries("secrets.toml")
    if not entry.reading
    for name in (*entry.files, *entry.folders)
]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_names_each_thing_once_and_says_what_it_is(table: str) -> None:
    entries = read_entries(table)
    names = [name for entry in entries for name in (*entry.files, *entry.folders)]

    assert len({entry.what for entry in entries}) == len(entries) >= 10
    assert sorted(names) == sorted(set(names))
    # No rule for edits is about anything hidden: it need not be listed.
    assert table == "secrets.toml" or not any(name.startswith(".") for name in names)


@pytest.mark.parametrize(
    "row",
    [
        {"what": "", "files": ["a"]},
        {"what": "x"},
        {"what": "x", "files": []},
        {"what": "x", "file": ["a"]},
        {"what": "x", "files": ["Makefile"]},
        {"what": "x", "files": ["a*b*c"]},
        {"what": "x", "folders": ["a//b"]},
        {"what": "x", "folders": ["a/"]},
    ],
)
def test_a_row_that_cannot_be_looked_up_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        check_entry(row)


def test_a_folder_means_all_that_is_in_it_and_a_file_only_itself() -> None:
    table = NameTable([Entry("x", files=("a.b", "*.c"), folders=("d", "e/f")), Entry("y", ("/g",))])

    for path in ("a.b", "x/a.b", "x/y.c", "d", "d/x", "x/d/y", "x/e/f/y"):
        assert table.has((".", *path.split("/"))), path
    for path in ("a.b/x", "a.bc", "x/f", "e/x/f", "dd", "g"):
        assert not table.has((".", *path.split("/"))), path
    assert table.has(("", "g"))
    assert not table.has(("", "x", "g"))


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_at_any_depth_and_in_any_case(name: str) -> None:
    for word in (name, f"./{name}", f"/home/ann/{name}", f"HEAD:{name.upper()}", f"--file={name}"):
        assert is_secret(word), word
        assert shows_secrets(word), word


@given(st.sampled_from(SECRETS), st.data())
def test_whatever_signs_stand_in_its_name_it_may_become_a_secret(
    name: str, data: st.DataObject
) -> None:
    *folders, last = name.split("/")
    begins = data.draw(st.integers(0, len(last)))
    ends = data.draw(st.integers(begins, len(last)))
    sign = data.draw(st.sampled_from(["*", "?*", "[a-z]*"]))
    word = "/".join((*folders, f"{last[:begins]}{sign}{last[ends:]}"))

    assert shows_secrets(word, expands=True), word


@pytest.mark.parametrize(
    "word",
    [
        *("~/.config/composer/auth.json", "auth.json", "~/.config/github-copilot/apps.json"),
        *("~/.config/github-copilot/hosts.json", "~/.claude.json", "~/.terraformrc", "~/.authinfo"),
        *("~/.local/share/opencode/auth.json", "~/.sentryclirc", "~/.config/hcloud/cli.toml"),
        *("~/.config/argocd/config", "~/.config/netlify/config.json", "~/.config/ngrok/ngrok.yml"),
        *("~/.config/pypoetry/auth.toml", "~/.railway/config.json", "~/.cf/config.json"),
        *("~/.jfrog/jfrog-cli.conf.v6", "~/.rclone.conf", "~/.yarnrc", "~/.bunfig.toml"),
        *(".mcp.json", "/etc/kubernetes/admin.conf", "/etc/rancher/k3s/k3s.yaml"),
        *("/etc/NetworkManager/system-connections/home", "/etc/ppp/chap-secrets"),
        *("/etc/mysql/debian.cnf", ".dev.vars", ".envs/.production/.django"),
        *(".env~", ".env2", "local.settings.json"),
        *("secret.yaml", "db-secrets.yaml", "secrets.enc.yaml", ".vault_password"),
        *("terraform.tfstate.123.backup", ".git/modules/x/config", "nushell/history.txt"),
        *("~/.local/share/atuin/history.db", "~/.claude/history.jsonl", "/etc/shadow"),
        *(".docker/config.json", "token.json", "~/.local/share/com.vercel.cli/auth.json"),
    ],
)
def test_a_file_with_tokens_is_a_secret(word: str) -> None:
    assert is_secret(word)
    assert shows_secrets(word)


def test_only_reading_the_log_of_the_kernel_counts() -> None:
    assert shows_secrets("/proc/kmsg")


def test_what_is_no_secret_is_told_apart() -> None:
    for word in (
        *(".docker/Dockerfile", ".vercel/project.json", "src/shadow", ".env.local.example"),
        *("README.md", "id_rsa.pub", ".env.example", "src/env.ts", "process.env", "keys.py"),
        *("/dev/null", "tests/test_secrets.py", "credentials/form.tsx", "a.b", "src/proc/environ"),
    ):
        assert not shows_secrets(word), word
    for pattern in ("*.py", "src/*.ts", "src/*/index.js", "docs/*.md", "test_*", "**/*.go"):
        assert pattern == "test_*" or not shows_secrets(pattern, expands=True), pattern


def test_only_reading_a_device_or_another_host_counts() -> None:
    for word in ("/dev/sda", "//host/x", "/net/x", "/proc/self/environ", "prod.tfvars"):
        assert shows_secrets(word)
        assert not is_secret(word)


@pytest.mark.parametrize(
    "path",
    [
        *("package.json", "web/Package.JSON", "Makefile", "conftest.py", "tests/unit/conftest.py"),
        *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "lefthook.yml"),
        *("mise.toml", "justfile", "Dockerfile", "Dockerfile.dev", "docker-compose.prod.yml"),
        *("Jenkinsfile", "azure-pipelines.yml", "uv.lock", "package-lock.json", "pnpm-lock.yaml"),
        *("venv/bin/python", "lib/sitecustomize.py", "usercustomize.py", "x/evil.pth"),
        *("AGENTS.md", "docs/CLAUDE.md", "GEMINI.md", "skills/deploy/SKILL.md", "skills/x.txt"),
        *("mcp.json", "Rakefile", "Gemfile", "build.gradle", "app/build.gradle.kts", "pom.xml"),
        *("CMakeLists.txt", "Cargo.toml", "build.rs", "go.mod", "vite.config.ts", "deno.json"),
        *("jest.config.mjs", "eslint.config.cjs", "tsconfig.json", "node_modules/x/index.js"),
        *("karma.conf.js", "Directory.Build.props", "requirements-dev.txt", "mypy.ini", "HEAD"),
        *(
            "venv3/bin/activate",
            "myenv/bin/pytest",
            "py39/bin/pytest",
            "a/bin/python3",
            "e/bin/pip",
        ),
        *("x/bin/activate_this.py", "sitecustomize/__init__.py", "usercustomize/__init__.py"),
        *("pytest.py", "src/unittest.py", "tox.py", "nox.py", "mypy.py", "ruff.py", "black.py"),
        *("hooks/pre-commit", "husky/pre-commit", "requirements/dev.txt", "dev-requirements.txt"),
        *("test-requirements.txt", "Dockerfile-dev", "compose-dev.yml", "appveyor.yaml"),
        *("Jenkinsfile-pr", "cloudbuild-prod.yaml", "Makefile-common", "rollup.config.dev.js"),
        *("vite.config.prod.ts", "jest.config.ci.js", "mise/config.toml", "ansible.cfg"),
        *("Snakefile", "Thorfile", "hooks/hooks.json", "agents/x.md", "commands/x.md", "KIMI.md"),
        *("IFLOW.md", "memory-bank/x.md", "my-compose.yaml", "pytest/__init__.py", "makefile2"),
        *("x.egg-info/entry_points.txt", "spec/spec_helper.rb", "sayso.toml", "vendor/a/b.go"),
    ],
)
def test_what_controls_runs_or_agents_is_listed(path: str) -> None:
    assert controls_runs(tuple(path.split("/")))


@pytest.mark.parametrize(
    "path",
    [
        *("src/app.py", "tests/test_app.py", "docs/skills.md", "makefiles/a", "src/agents/x.py"),
        *("src/hooks/useCart.ts", "src/commands/run.py", "src/hooks/pre.ts", "cmd/bin/main.go"),
        *("src/config.ts", "src/app.config.d/x.js", "docs/requirements.md", "src/compose.py"),
    ],
)
def test_source_and_texts_are_not_listed(path: str) -> None:
    assert not controls_runs(tuple(path.split("/")))


def test_what_is_hidden_or_of_others_is_installed() -> None:
    for path in ("venv/lib/x", "node_modules/x", ".tox/x", "a/.cache", "vendor/x"):
        assert is_installed(path)
    for path in ("./...", ".", "..", "tests", "src/venv.py", "conftest.py"):
        assert not is_installed(path)


@pytest.mark.parametrize("piece", ["a", "/", "*", ".env", "../", "=", ":", "\\", ".*", "[", "é"])
def test_a_hostile_word_takes_milliseconds(piece: str) -> None:
    word = (piece * 10_000)[:10_000]
    began = process_time()
    shows_secrets(word, expands=True)
    shows_secrets(word[:4_096], expands=True)
    is_secret(word[:4_096])

    assert process_time() - began < 0.1
