"""What Always stores reaches no further than its sentence, by no sequence of allowed steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sayso.always.offers import Offer, offers
from sayso.always.widths import derive
from sayso.calls import Folder, RunRef, ToolCall
from sayso.digests import arguments_digest
from sayso.locales import load_translations
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy
from sayso.rules.matchers import PathMatcher, ShellMatcher
from sayso.rules.rule import RememberedRule, Rule

GERMAN = load_translations("de")

SHOP = Folder("/work/shop")
RUN = RunRef("claude-code", "s-1")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def bash(line: str) -> ToolCall:
    return ToolCall("Bash", {"command": line}, folder=SHOP)


def edit(path: str) -> ToolCall:
    return ToolCall("Write", {"file_path": path, "content": "x"}, folder=SHOP)


def offered(call: ToolCall, *, german: bool = False) -> list[Offer]:
    """What *Always* offers beside exactly this call and the whole tool, from narrow to wide."""
    words = {"translations": GERMAN} if german else {}
    digest = arguments_digest(call.arguments)
    found = offers(call, digest, derive(call), RUN, folder=call.folder, **words)
    return [one for one in found if one.choice.key.startswith("always-")]


def pressed(*calls: ToolCall) -> PolicyContext:
    """A session in which somebody pressed the widest *Always* on the card of each call."""
    rules = [offered(call)[-1].rule for call in calls]
    kept = [RememberedRule(one, "allow", "slack:U1", NOW, NOW + timedelta(days=1)) for one in rules]
    return PolicyContext(RUN, tuple(kept))


async def ruling(call: ToolCall, context: PolicyContext) -> Ruling:
    decision = await evaluate(RulePolicy(), call, context)
    assert decision is not None
    return decision.ruling


@pytest.mark.parametrize(
    "line",
    [
        *("git push", "git push -u origin", "git push origin HEAD", "git push origin head"),
        *("git push origin FETCH_HEAD", "git push origin refs/heads/../HEAD", "git push -q"),
        *("git pull --ff-only", "git pull --ff-only origin", "git pull --ff-only origin HEAD"),
        *("git switch -", "git switch", "git switch HEAD", "git switch -c x other"),
        *("git checkout -b x other", "git switch -c x HEAD~3"),
    ],
)
async def test_what_hangs_on_the_branch_of_an_earlier_step_has_no_beginning(line: str) -> None:
    known = [bash("git switch feature"), bash("git push origin feature"), bash("git switch -c x")]
    context = pressed(*known, bash("git checkout -b x"), bash("git pull --ff-only origin main"))

    fits = [fit for offer in offered(bash(line)) for fit in offer.rule.matchers.values()]
    assert not any(isinstance(fit, ShellMatcher) and fit.begins for fit in fits)
    for before in ("", "git switch feature && ", "git switch -c x && "):
        assert await ruling(bash(f"{before}{line}"), context) is Ruling.ASK


@pytest.mark.parametrize(
    "line",
    [
        *("git push", "git push 2>&1 | tail -3", "git push origin HEAD", "git push -u origin"),
        *("git pull", "git pull --rebase", "npm test && git push", "git -C web push > log"),
        *("git -c 'user.name=A B' push", "bash -c 'git push'", "sudo git push", "/bin/git push"),
        *("git push origin $BRANCH", "(g'i't pu\\sh) &", "cd web && git push"),
    ],
)
def test_what_hangs_on_the_branch_of_an_earlier_step_is_allowed_by_no_always(line: str) -> None:
    for call in (
        bash(line),
        ToolCall("run_it", {"line": line}),
        ToolCall("run_it", {"argv": ["bash", "-c", line]}),
    ):
        rules = (*derive(call), Rule(call.name, {"line": "git *"}))
        choices = offers(call, arguments_digest(call.arguments), rules, RUN, folder=SHOP)
        assert [one.choice.key for one in choices] == ["window", "deny-always"]


@pytest.mark.parametrize(
    "line",
    [
        *("git push origin feature", "git pull --ff-only origin main | tail -3", "git stash push"),
        *("git switch main", "npm test", "git commit -m 'git push'", "git log --grep 'git push'"),
    ],
)
def test_what_names_its_branch_or_pushes_none_has_an_always(line: str) -> None:
    call = bash(line)
    choices = offers(call, arguments_digest(call.arguments), derive(call), RUN, folder=SHOP)

    assert "always" in [one.choice.key for one in choices]


async def test_a_stored_rule_for_exactly_a_push_without_names_is_none() -> None:
    kept = RememberedRule(
        Rule("Bash", matchers={"command": ShellMatcher(same=(("git", "push"),))}),
        *("allow", "slack:U1", NOW, NOW + timedelta(days=1)),
    )

    assert await ruling(bash("git push"), PolicyContext(RUN, (kept,))) is Ruling.ASK


async def test_switching_and_pushing_reach_the_named_branches_alone() -> None:
    context = pressed(bash("git switch feature"), bash("git push origin feature"))

    assert (
        await ruling(bash("git switch feature && git push origin feature"), context) is Ruling.ALLOW
    )
    for line in (
        "git switch main && git push",
        "git switch main",
        "git switch feature && git push origin main",
        "git switch main && git push origin feature",
    ):
        assert await ruling(bash(line), context) is Ruling.ASK, line


@pytest.mark.parametrize(
    "path",
    [
        *("package.json", "web/PACKAGE.JSON", "Makefile", "src/conftest.py", "pyproject.toml"),
        *("setup.py", "tox.ini", "lefthook.yml", "mise.toml", "justfile", "Dockerfile", "uv.lock"),
        *("Jenkinsfile", "deploy/Jenkinsfile", ".github/workflows/ci.yml", ".gitlab-ci.yml"),
        *("venv/bin/pytest", "src/sitecustomize.py", "AGENTS.md", "src/CLAUDE.md", "GEMINI.md"),
        *(
            "skills/deploy/SKILL.md",
            "skills/deploy/run.sh",
            ".mcp.json",
            ".envrc",
            "vite.config.ts",
        ),
        *("myenv/bin/pytest", "py39/bin/activate", "pytest.py", "hooks/pre-commit", "agents/x.md"),
        *("terraform.tfstate", "config/credentials.json", "deploy/id_rsa", "tls/server.pem"),
    ],
)
async def test_a_rule_for_edits_is_never_about_what_controls_runs_or_holds_secrets(
    path: str,
) -> None:
    context = pressed(edit("/work/shop/src/app.py"))

    assert await ruling(edit("/work/shop/src/other.py"), context) is Ruling.ALLOW
    assert await ruling(edit("/work/shop/tests/test_app.py"), context) is Ruling.ALLOW
    assert await ruling(edit(f"/work/shop/{path}"), context) is Ruling.ASK
    assert offered(edit(f"/work/shop/{path}")) == []


def test_the_sentence_of_a_rule_for_edits_says_what_tests_run_and_what_is_left_out() -> None:
    english = offered(edit("/work/shop/src/app.py"))[-1].choice.stores
    german = offered(edit("/work/shop/src/app.py"), german=True)[-1].choice.stores

    assert (
        "(even code that tests run, but nothing hidden, installed, known as secret or behind "
        "links, and no file known to control runs or agents)" in english
    )
    assert (
        "(auch Code, den Tests ausführen, aber nichts Verstecktes, Installiertes, als geheim "
        "Bekanntes oder hinter Links und keine Datei, die bekanntlich Abläufe oder Agenten steuert)"
        in german
    )


async def test_a_stored_rule_for_a_file_that_controls_runs_is_none() -> None:
    kept = RememberedRule(
        Rule("Write", matchers={"file_path": PathMatcher("/work/shop")}, talk=("content",)),
        *("allow", "slack:U1", NOW, NOW + timedelta(days=1)),
    )

    assert await ruling(edit("/work/shop/src/a.py"), PolicyContext(RUN, (kept,))) is Ruling.ALLOW
    assert await ruling(edit("/work/shop/Makefile"), PolicyContext(RUN, (kept,))) is Ruling.ASK


@pytest.mark.parametrize(
    ("line", "wider"),
    [
        ("kubectl get pods", "kubectl get pods -n kube-system"),
        ("kubectl get pods", "kubectl get pods --namespace=kube-system"),
        ("kubectl get pods", "kubectl get pods -A"),
        ("kubectl get pods", "kubectl get pods -o yaml"),
        ("kubectl get pods", "kubectl get pods -A -o yaml"),
        ("kubectl get pods -n web", "kubectl get pods -n kube-system"),
        ("kubectl describe pod web", "kubectl describe pod web -n kube-system"),
        ("kubectl logs web", "kubectl logs web -n kube-system"),
        ("git add src/app.py", "git add .env"),
        ("git add src/app.py", "git add config/.ENV"),
        ("git add src/app.py", "git add '.e*'"),
        ("git add src/app.py", "git add ':(glob)**/.env'"),
        ("git add src/app.py", "git add -A"),
        ("git add src/app.py", "git add -u"),
        ("git add src/app.py", "git add --update"),
        ("git add src/app.py", "git add ."),
        ("git add src/app.py", "git add ./"),
        ("git add src/app.py", "git add .."),
        ("git add src/app.py", "git add src/.."),
        ("git add src/app.py", "git add src/"),
        ("git add src/app.py", "git add :/"),
        ("git add src/app.py", "git add ':!x'"),
        ("git add src/app.py", "git add './*'"),
        ("git add src/app.py", "git add src/*"),
        ("git add src/", "git add ."),
        ("git commit -m x", "git commit -m x ."),
        ("git commit -m x", "git commit -m x .env"),
        ("git add src/app.py", "git add '.e\\nv'"),
        ("git commit -m x", "git commit -m x '.e\\nv'"),
        ("cd web && npm test", "cd web && cat ../.env && npm test"),
        ("cd web && ls", "cd web && grep -r KEY ."),
        ("cd web && ls", "cd web && rg KEY ../.."),
        ("cd web && npm test | head", "cd web && npm test | cat ../.env"),
        ("git fetch origin", "git fetch --all"),
        ("git fetch", "git fetch --tags"),
        ("pytest tests", "pytest venv/lib/x/tests"),
        ("pytest tests", "pytest .venv/lib"),
        ("pytest tests", "pytest node_modules/x"),
        ("pytest tests", "pytest --cov=/etc"),
        ("pytest tests", "pytest --cov=../other"),
        ("pytest tests", "pytest --cov ~/x"),
        ("uv run pytest", "uv run pytest --ignore=/x --cov=/etc tests"),
        ("ruff check --fix src", "ruff check --fix venv"),
        ("prettier --write src", "prettier --write vendor"),
        ("mkdir src/a", "mkdir .github/workflows"),
        ("uv sync", "uv sync --extra=gpu"),
        ("uv sync", "uv sync --extra gpu"),
        ("uv sync", "uv sync --group=docs"),
        ("uv sync", "uv sync --all-extras"),
        ("uv sync --extra=gpu", "uv sync --extra=other"),
        ("cargo build", "cargo build --features=net"),
        ("cargo test", "cargo test --all-features"),
    ],
)
async def test_a_wider_call_than_the_sentence_names_is_asked_about(line: str, wider: str) -> None:
    context = pressed(bash(line))

    assert await ruling(bash(line), context) is Ruling.ALLOW
    assert await ruling(bash(wider), context) is Ruling.ASK


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kubectl get pods -n web -o yaml", "kubectl get pods -n web -o yaml"),
        ("uv sync --extra gpu -q", "uv sync --extra=gpu"),
        ("git add --all", "git add --all"),
        ("git add .", "git add ."),
        ("git add src/ README.md", "git add src/"),
        ("git add -u src/app.py", "git add -u"),
        ("git pull --ff-only origin main", "git pull --ff-only origin main"),
        ("cargo test --features a,b", "cargo test --features=a,b"),
    ],
)
async def test_a_pinned_option_stands_in_the_sentence(line: str, words: str) -> None:
    (offer,) = offered(bash(line))

    assert f'begins with "{words}" or only looks' in offer.choice.stores
    assert await ruling(bash(line), pressed(bash(line))) is Ruling.ALLOW


def test_the_sentence_for_files_says_that_folders_are_meant_too() -> None:
    english, german = (
        offered(bash("git add src/app.py"), german=german)[-1].choice.warning
        for german in (False, True)
    )

    assert 'allows "git add" with other options, names, files and folders, too,' in english
    assert '"git add" auch mit anderen Optionen, Namen, Dateien und Ordnern, und' in german


async def test_a_line_that_only_looks_lets_no_other_read_secrets() -> None:
    context = pressed(bash("git log | head"), bash("npm test"))

    assert await ruling(bash("cat README.md && npm test"), context) is Ruling.ALLOW
    assert await ruling(bash("cat .env && npm test"), context) is Ruling.ASK
    assert await ruling(bash("git show HEAD:.env"), context) is Ruling.ASK


@pytest.mark.parametrize(
    "folder",
    [
        *("/proc/1", "/home/ann/.aws", "/", "/dev", "/net", "/run", "/home/ann", ".aws", "/work"),
        *("/home/./ann", "/home/ann/.config", "//", "/x/../proc/1", "web/.ssh", "/etc/ssl"),
    ],
)
async def test_a_folder_of_secrets_that_a_line_enters_has_no_beginning(folder: str) -> None:
    for line in ("ls", "npm test", "ls && npm test"):
        call = bash(f"cd {folder} && {line}")

        fits = [fit for offer in offered(call) for fit in offer.rule.matchers.values()]
        assert not any(isinstance(fit, ShellMatcher) and not fit.same for fit in fits), line


async def test_what_is_the_same_in_a_folder_of_secrets_shows_none_of_them() -> None:
    context = pressed(bash("cd / && npm test | head -3"))

    assert await ruling(bash("cd / && npm test | tail -3"), context) is Ruling.ALLOW
    assert await ruling(bash("cd / && npm test | cat proc/1/environ"), context) is Ruling.ASK
    assert offered(bash("cd /home/ann/.aws && npm test | head -3")) == []


@pytest.mark.parametrize("name", ["workdir", "cwd"])
async def test_the_folder_that_a_call_names_is_where_its_line_reads(name: str) -> None:
    def called(line: str, folder: str) -> ToolCall:
        return ToolCall("exec_command", {"cmd": line, name: folder}, folder=SHOP)

    for folder, line in (("/proc/1", "cat environ"), ("../../home/ann/.ssh", "cat config")):
        rules = [
            Rule("exec_command", matchers={"cmd": ShellMatcher()}, talk=(name,)),
            Rule("exec_command", {name: folder}, matchers={"cmd": ShellMatcher()}),
        ]
        context = PolicyContext(
            RUN,
            tuple(
                RememberedRule(one, "allow", "slack:U1", NOW, NOW + timedelta(days=1))
                for one in rules
            ),
        )
        assert await ruling(called(line, folder), context) is Ruling.ASK
        assert await ruling(called("cat a.txt", "/work/shop/web"), context) is Ruling.ALLOW
