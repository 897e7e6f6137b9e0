"""The preset for coding: what it lets an agent read, and the secrets that it asks about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sayso.calls import Folder, RunRef, ToolCall
from sayso.dangers.danger import danger_texts
from sayso.dangers.found import dangers_of
from sayso.dangers.places import Root
from sayso.locales import ENGLISH, load_translations
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.policy.rule_policy import RulePolicy

GERMAN = load_translations("de")

HERE = Path(__file__).parent
SHOWN: list[str] = json.loads((HERE / "lines_that_show_secrets.json").read_text())
PLAIN: list[str] = json.loads((HERE / "lines_that_show_none.json").read_text())


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> RulePolicy:
    file = tmp_path_factory.mktemp("policy") / "policy.toml"
    file.write_text('preset = "coding"\n')
    return RulePolicy.from_file(file)


async def ruling(policy: RulePolicy, call: ToolCall) -> Ruling:
    decision = await evaluate(policy, call, PolicyContext(RunRef("claude-code", "s-1")))
    assert decision is not None
    return decision.ruling


def on_the_card(call: ToolCall) -> str:
    root = Root() if call.folder is None else Root(call.folder.root, call.folder.root)
    found = dangers_of(call, root)
    return " | ".join((*danger_texts(ENGLISH, found), *danger_texts(GERMAN, found)))


@pytest.mark.parametrize("line", SHOWN)
async def test_a_line_that_shows_secrets_is_asked_about_and_the_card_says_so(
    policy: RulePolicy, line: str
) -> None:
    call = ToolCall("Bash", {"command": line})

    assert await ruling(policy, call) is Ruling.ASK
    assert "reads secrets" in on_the_card(call)
    assert "liest Geheimnisse" in on_the_card(call)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "tail -f logs/app.log",
            "tail -F x",
            "tail -20f x",
            "tail --follow=name x",
            "sleep 1000",
            "tail +5f x",
        ),
        *("sleep infinity", "sleep 5m", "seq 1000000000000", "seq 1 0 5", "seq inf", "yes"),
        *("jq -n 'range(1e12)'", "jq -n '[repeat(1)]'", "jq -f x.jq data.json"),
        *("sed -n p /dev/zero", "rg x /proc/1", "rg x /home/ann", "cat /proc/kmsg"),
        *(
            "jq -n '\"x\" * 1000000000'",
            "jq -n '[.[999999999]=1]'",
            "jq -n '[1] | combinations(99)'",
        ),
        *("jq -n '[] | .[1e9]=1'", "jq -n '\"x\" * (9999 * 9999)'"),
    ],
)
async def test_a_line_that_may_never_end_is_asked_about(policy: RulePolicy, line: str) -> None:
    assert await ruling(policy, ToolCall("Bash", {"command": line})) is Ruling.ASK


@pytest.mark.parametrize(
    "line",
    [
        *("git config --get sendemail.smtppass", "git config --get smtp.pass"),
        *("git config --get imap.pass", "git config --get github.oauth"),
        *("git config --get gitlab.pat", "git stash show -p --include-untracked"),
        *("git stash show -p -u", "git stash show -pu", "git stash show -p --only-untracked"),
        *("git cat-file -p 1a2b3c4", "git cat-file blob 1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"),
        *("ps -ex", "ps -eaux", "ps -ef -u nobody-there", "ps -axe"),
    ],
)
async def test_what_may_show_passwords_without_naming_a_file_is_asked_about(
    policy: RulePolicy, line: str
) -> None:
    assert await ruling(policy, ToolCall("Bash", {"command": line})) is Ruling.ASK


@pytest.mark.parametrize(
    ("folder", "line"),
    [
        *(("/home/ann/.ssh", one) for one in ("cat config", "rg x", "cat *", "git show HEAD:x")),
        *(("/proc/1", one) for one in ("cat environ", "rg x", "grep -a x *")),
        *(("/", one) for one in ("cat proc/1/environ", "grep -rn KEY home/ann", "rg x")),
        *(("/home/ann", one) for one in ("rg KEY", "cat .aws/config", "rg KEY .config")),
        *(("/home/ann", one) for one in ("find . -name '*.json' -exec cat {} +", "rg KEY ../ann")),
        *(("/work/shop", one) for one in ("rg KEY ..", "grep -r KEY /work/shop", "cat /work/*")),
        *(("/work/shop", one) for one in ("grep -r KEY /work/shop/config", "rg x /work")),
    ],
)
async def test_a_line_is_read_from_the_folder_of_its_call(
    policy: RulePolicy, folder: str, line: str
) -> None:
    call = ToolCall("Bash", {"command": line}, folder=Folder(folder))

    assert await ruling(policy, call) is Ruling.ASK
    assert "reads secrets" in on_the_card(call)


@pytest.mark.parametrize(
    "line",
    [
        *("grep -rn foo /work/shop/src", 'grep -rn foo --include="*.ts" /work/shop'),
        *("cat /work/shop/src/*", "rg foo /work/shop", "rg foo ../lib/src", "cat src/a.py"),
        *("find /work/shop/src -name '*.py' -exec head -3 {} +", "rg -n x .github"),
    ],
)
async def test_an_absolute_path_inside_the_project_is_as_a_relative_one(
    policy: RulePolicy, line: str
) -> None:
    call = ToolCall("Bash", {"command": line}, folder=Folder("/work/shop"))

    assert await ruling(policy, call) is Ruling.ALLOW


@pytest.mark.parametrize("line", PLAIN)
async def test_a_line_that_shows_none_in_a_project_is_not_asked_about(
    policy: RulePolicy, line: str
) -> None:
    call = ToolCall("Bash", {"command": line}, folder=Folder("/work/shop", "/work/shop/web"))

    assert await ruling(policy, call) is Ruling.ALLOW


@pytest.mark.parametrize(
    ("tool", "arguments", "folder"),
    [
        ("Read", {"file_path": "config"}, "/home/ann/.ssh"),
        ("Read", {"file_path": "../proc/1/environ"}, "/work"),
        ("Grep", {"pattern": "x"}, "/home/ann"),
        ("Grep", {"pattern": "x"}, "/home/ann/.ssh"),
        ("Grep", {"pattern": "x", "path": "."}, "/proc/1"),
        ("Grep", {"pattern": "x", "path": "../.."}, "/work/shop"),
        ("Glob", {"pattern": "*"}, "/home/ann/.ssh"),
        ("Grep", {"pattern": "x"}, "/users/ann"),
        ("Grep", {"pattern": "x", "path": "/home/ann/.CONFIG"}, "/work/shop"),
        ("Grep", {"pattern": "x", "path": "/Proc/1"}, "/work/shop"),
        ("search_files", {"path": ".", "regex": "x"}, "/"),
        ("read_many_files", {"paths": ["/home/ann"]}, "/work/shop"),
        ("read_many_files", {"paths": [".."]}, "/work/shop"),
        ("read_many_files", {"paths": ["config"]}, "/work/shop"),
    ],
)
async def test_a_tool_that_reads_begins_in_the_folder_of_its_call(
    policy: RulePolicy, tool: str, arguments: dict[str, Any], folder: str
) -> None:
    call = ToolCall(tool, arguments, folder=Folder(folder))

    assert await ruling(policy, call) is Ruling.ASK
    assert "reads secrets" in on_the_card(call)


@pytest.mark.parametrize("line", PLAIN)
async def test_a_line_that_shows_none_is_not_asked_about(policy: RulePolicy, line: str) -> None:
    call = ToolCall("Bash", {"command": line})

    assert await ruling(policy, call) is Ruling.ALLOW
    assert "reads secrets" not in on_the_card(call)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": ".env"}),
        ("Read", {"file_path": "/work/shop/.ENV.production"}),
        ("Read", {"file_path": "../../.ssh/id_ed25519"}),
        ("Read", {"file_path": "/home/ann/.aws/credentials"}),
        ("Read", {"file_path": "C:\\Users\\ann\\.ssh\\config"}),
        ("Read", {"file_path": "/proc/self/environ"}),
        ("Read", {"file_path": "/dev/sda"}),
        ("Read", {"file_path": "//host/share/x"}),
        ("Read", {"file_path": "/net/host/x"}),
        ("read_file", {"path": "terraform.tfstate"}),
        ("read", {"path": "/etc/shadow"}),
        ("view_image", {"path": ".env"}),
        ("read_many_files", {"paths": ["src/a.py", ".env"]}),
        ("read_many_files", {"paths": ["**/*"]}),
        ("read_multiple_files", {"paths": ["a", "config/master.key"]}),
        ("mcp__filesystem__read_text_file", {"path": "~/.netrc"}),
        ("Grep", {"pattern": "KEY", "path": ".env"}),
        ("Grep", {"pattern": "KEY", "path": "/home/ann"}),
        ("Grep", {"pattern": "KEY", "path": "~"}),
        ("Grep", {"pattern": "KEY", "path": "../.."}),
        ("Grep", {"pattern": "KEY", "path": "/proc/1"}),
        ("Grep", {"pattern": "KEY", "path": "/home/ann/.config"}),
        *(
            ("Grep", {"pattern": "KEY", "path": one})
            for one in (
                *("/home/ann/.config/.", "~/.", "../.", "/./proc/1", "/x/../proc/1", "../../ann"),
                *("../../../../proc/self", "/home/ann/.local/share", "$HOME/", "///"),
            )
        ),
        ("Grep", {"pattern": "KEY", "glob": ".e\\nv"}),
        ("read_many_files", {"paths": ["."]}),
        ("read_many_files", {"paths": ["./."]}),
        ("read_many_files", {"paths": ["config/"]}),
        ("Read", {"file_path": ".e\u200cnv"}),
        ("Grep", {"pattern": "KEY", "glob": ".e*"}),
        ("Grep", {"pattern": "KEY", "glob": "*"}),
        ("Glob", {"pattern": "**/id_rsa"}),
        ("Glob", {"pattern": "*", "path": "/home/ann/.ssh"}),
        ("LS", {"path": "/home/ann/.gnupg"}),
        ("search_files", {"path": "src", "regex": "x", "file_pattern": "*.env"}),
    ],
)
async def test_a_tool_that_reads_is_asked_about_where_it_is_given_secrets(
    policy: RulePolicy, tool: str, arguments: dict[str, Any]
) -> None:
    call = ToolCall(tool, arguments)

    assert await ruling(policy, call) is Ruling.ASK
    assert "reads secrets" in on_the_card(call)
    assert "liest Geheimnisse" in on_the_card(call)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "/work/shop/src/app/[id]/page.tsx"}),
        ("Read", {"file_path": ".env.example"}),
        ("Read", {"file_path": "/work/shop/package.json"}),
        ("Grep", {"pattern": r"\.env|id_rsa", "path": "/home/ann/work/shop"}),
        ("Grep", {"pattern": "x", "glob": "**/*.ts", "output_mode": "content", "-n": True}),
        ("Glob", {"pattern": "**/*"}),
        ("LS", {"path": "/work/shop"}),
        ("Grep", {"pattern": "x", "glob": "*.{ts,tsx}", "path": "src"}),
        ("read_many_files", {"paths": ["src/a.py", "/work/shop/b.py"]}),
        ("TodoWrite", {"todos": [{"content": "document .env"}]}),
        ("BashOutput", {"bash_id": "b-1"}),
    ],
)
async def test_other_calls_of_tools_that_read_are_not_asked_about(
    policy: RulePolicy, tool: str, arguments: dict[str, Any]
) -> None:
    call = ToolCall(tool, arguments)

    assert await ruling(policy, call) is Ruling.ALLOW
    assert "reads secrets" not in on_the_card(call)


async def test_more_values_than_are_looked_at_are_asked_about(policy: RulePolicy) -> None:
    call = ToolCall("read_many_files", {"paths": ["a"] * 1_000})

    assert await ruling(policy, call) is Ruling.ASK
