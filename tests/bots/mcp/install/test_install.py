"""Servers in the settings of clients go behind the proxy, and out again; nothing else changes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from support.commands import Run

from sayso_bots.mcp.install import jsonc
from sayso_bots.mcp.install.clients import CLIENTS
from sayso_bots.mcp.install.wrapping import SettingsText, unwrapped
from sayso_bots.strict_json import MalformedMessageError

STORE = "redis://127.0.0.1:6379/0"

PLAIN = """{
    "theme": "dark",
    "KEY": {
        "files": {
            "command": "npx",
            "args": ["-y", "server-filesystem",
                     "/srv"],
            "env": {"TOKEN": "t"}
        },
        "bare": { "command": "serve" },
        "web": {"type": "http", "url": "https://mcp.example.com"}
    },
    "after": [1, 2.50, null]
}
"""
COMMENTED = """// Mine
{
  /* servers */ "KEY": {
    "files": { // the disk
      "args": ["-y", "server-filesystem", "/srv", /* all */],
      "command": "npx", "enabled": true,
    },
  },
  "vim_mode": true,
}
"""
TABLES = """# Mine
model = "gpt"

[mcp_servers.other]
url = "https://mcp.example.com"

[mcp_servers.files] # the disk
command = "npx"  # by node
args = [
    "-y", 'server-filesystem', # all
    "/srv",
]
startup_timeout_sec = 20

[mcp_servers.files.env]
TOKEN = "t"

[mcp_servers."bare one"]
command = 'serve'
"""


def text_for(client: str) -> str:
    """Settings of a client with servers in them."""
    key = CLIENTS[client].key
    if CLIENTS[client].is_toml:
        return TABLES
    return (COMMENTED if client == "zed" else PLAIN).replace("KEY", key)


def servers_in(client: str, text: str) -> dict[str, object]:
    """The servers."""
    found = SettingsText(CLIENTS[client], text).data[CLIENTS[client].key]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def env_of(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "SAYSO_STORE_URL": STORE}


EACH = pytest.mark.parametrize("client", CLIENTS)


@EACH
def test_the_proxy_stands_before_each_server_that_is_a_command(
    client: str, run: Run, home: Path
) -> None:
    at = CLIENTS[client].file("user", env_of(home), home)
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text_for(client))
    at.chmod(0o600)
    before = servers_in(client, at.read_text())
    done = run("mcp", "install", client, env=env_of(home))
    after = servers_in(client, at.read_text())

    assert done.code == 0, done.err
    for name, entry in before.items():
        assert isinstance(entry, dict)
        new = after[name]
        assert isinstance(new, dict)
        if "command" not in entry:
            assert new == entry
            assert name in done.err
            continue
        command = (new["command"], *new["args"])
        assert unwrapped(command) == (entry["command"], *entry.get("args", []))
        assert command[command.index("--agent") + 1] == name
        assert command[command.index("--store") + 1] == STORE
        assert "-m sayso_bots mcp-proxy" in " ".join(command)
        rest = {"command": None, "args": None}
        assert {**new, **rest} == {**entry, **rest}
    assert at.stat().st_mode & 0o777 == 0o600


@EACH
def test_undo_restores_every_byte(client: str, run: Run, home: Path) -> None:
    at = CLIENTS[client].file("user", env_of(home), home)
    at.parent.mkdir(parents=True, exist_ok=True)
    written = text_for(client).replace("\n", "\r\n").encode()
    at.write_bytes(written)
    run("mcp", "install", client, env=env_of(home))
    assert at.read_bytes() != written
    run("mcp", "install", client, env=env_of(home))
    done = run("mcp", "install", client, "--undo", env=env_of(home))

    assert done.code == 0
    assert at.read_bytes() == written
    assert [one.name for one in at.parent.iterdir() if one.is_file()] == [at.name]


@pytest.mark.parametrize("client", ["cursor", "zed", "codex"])
def test_undo_keeps_what_was_changed_meanwhile(client: str, run: Run, home: Path) -> None:
    at = CLIENTS[client].file("user", env_of(home), home)
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text_for(client))
    run("mcp", "install", client, env=env_of(home))
    now = at.read_text()
    other = now.replace("dark", "light").replace("vim_mode", "helix_mode").replace("gpt", "other")
    assert other != now
    at.write_text(other)
    run("mcp", "install", client, "--undo", env=env_of(home))

    expected = text_for(client).replace("dark", "light")
    expected = expected.replace("vim_mode", "helix_mode").replace("gpt", "other")
    data = SettingsText(CLIENTS[client], at.read_text()).data
    wanted = SettingsText(CLIENTS[client], expected).data
    for entry in data[CLIENTS[client].key].values():
        if entry.get("args") == []:
            del entry["args"]
    assert data == wanted
    assert "/* servers */" in at.read_text() or client != "zed"


def test_what_is_installed_later_is_undone_too(run: Run, home: Path) -> None:
    at = CLIENTS["cursor"].file("user", env_of(home), home)
    at.parent.mkdir(parents=True)
    at.write_text('{"mcpServers": {"a": {"command": "one", "args": [ "x" ]}}}')
    run("mcp", "install", "cursor", env=env_of(home))
    data = json.loads(at.read_text())
    data["mcpServers"]["b"] = {"command": "two", "args": ["y"]}
    at.write_text(json.dumps(data))
    run("mcp", "install", "cursor", env=env_of(home))
    run("mcp", "install", "cursor", "--undo", env=env_of(home))

    assert json.loads(at.read_text())["mcpServers"] == {
        "a": {"command": "one", "args": ["x"]},
        "b": {"command": "two", "args": ["y"]},
    }


def test_only_the_servers_that_are_named_are_put_behind_it(run: Run, home: Path) -> None:
    at = CLIENTS["cursor"].file("user", env_of(home), home)
    at.parent.mkdir(parents=True)
    at.write_text(text_for("cursor"))
    run("mcp", "install", "cursor", "bare", env=env_of(home))
    servers = servers_in("cursor", at.read_text())
    missing = run("mcp", "install", "cursor", "nobody", env=env_of(home))

    assert servers["files"] == servers_in("cursor", text_for("cursor"))["files"]
    assert "mcp-proxy" in json.dumps(servers["bare"])
    assert missing.code == 2
    assert "there is no server 'nobody'" in missing.err


PROJECTS = """{
  "numStartups": 7,
  "mcpServers": { "files": {"command": "npx", "args": ["all"]} },
  "projects": {
    "/home/me/shop": { "allowedTools": [],
      "mcpServers": { "files": {"type": "stdio", "command": "npx", "args": ["shop"], "env": {}},
                      "web": {"type": "http", "url": "https://mcp.example.com"} } },
    "/home/me/blog": { "history": ["mcpServers"] }
  }
}
"""


def test_servers_of_one_project_in_the_users_file_go_behind_it_too(run: Run, home: Path) -> None:
    at = home / ".claude.json"
    at.write_text(PROJECTS)
    done = run("mcp", "install", "claude-code", "--json", env=env_of(home))
    now = json.loads(at.read_text())
    undone = run("mcp", "install", "claude-code", "--undo", env=env_of(home))

    shop = now["projects"]["/home/me/shop"]["mcpServers"]
    for entry, last in ((now["mcpServers"]["files"], "all"), (shop["files"], "shop")):
        assert unwrapped((entry["command"], *entry["args"])) == ("npx", last)
    assert shop["files"]["type"] == "stdio"
    assert shop["web"] == {"type": "http", "url": "https://mcp.example.com"}
    told = json.loads(done.out)
    assert told["servers"] == ["files", "files in /home/me/shop"]
    assert told["left"] == ["web in /home/me/shop"]
    assert undone.code == 0
    assert at.read_text() == PROJECTS


@pytest.mark.parametrize(
    "projects", ["[]", '{"/srv": 1}', '{"/srv": {"mcpServers": []}}', '{"/srv": {"mcpServers": 1}}']
)
def test_projects_that_are_not_understood_are_left_alone(
    projects: str, run: Run, home: Path
) -> None:
    at = home / ".claude.json"
    text = PROJECTS.replace('"projects": {', f'"projects": {projects}, "others": {{')
    at.write_text(text)
    done = run("mcp", "install", "claude-code", env=env_of(home))

    assert done.code == 2
    assert "nothing was changed" in done.err
    assert at.read_text() == text


def test_what_is_missing_or_too_much_on_the_command_line_is_said(run: Run, home: Path) -> None:
    without = run("mcp", "install", env=env_of(home))
    some = run("mcp", "install", "cursor", "files", "--undo", env=env_of(home))

    assert (without.code, some.code) == (2, 2)
    assert "CLIENT" in without.err
    assert "SERVER" not in without.err
    assert "--undo is for all servers" in some.err


WRONG = {
    "no JSON": "{",
    "a name twice": '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
    "servers in a list": '{"mcpServers": []}',
    "a list": "[]",
    "two values": "{} {}",
    "a comma too many in front": '{"mcpServers": {,}}',
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_file_that_is_not_understood_is_left_alone(text: str, run: Run, home: Path) -> None:
    at = CLIENTS["cursor"].file("user", env_of(home), home)
    at.parent.mkdir(parents=True)
    at.write_text(text)
    done = run("mcp", "install", "cursor", env=env_of(home))

    assert done.code == 2
    assert "nothing was changed" in done.err
    assert at.read_text() == text
    assert [one.name for one in at.parent.iterdir()] == [at.name]


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { files = { command = "npx" } }',
        'mcp_servers.files.command = "npx"',
        '[mcp_servers]\nfiles = { command = "npx" }',
        '[mcp_servers.files]\ncommand = """npx"""',
        "[mcp_servers.files",
    ],
)
def test_a_table_that_is_written_otherwise_is_left_alone(text: str, run: Run, home: Path) -> None:
    at = CLIENTS["codex"].file("user", env_of(home), home)
    at.parent.mkdir(parents=True)
    at.write_text(text)
    done = run("mcp", "install", "codex", env=env_of(home))

    assert done.code == 2
    assert at.read_text() == text


def test_a_file_that_is_written_in_two_ways_is_left_alone(run: Run, home: Path) -> None:
    # What looks like the command of the server stands in a text.
    text = '[mcp_servers.a]\nnote = """\ncommand = "x"\n"""\ncommand = "npx"\n'
    at = CLIENTS["codex"].file("user", env_of(home), home)
    at.parent.mkdir(parents=True)
    at.write_text(text)
    done = run("mcp", "install", "codex", env=env_of(home))

    assert done.code == 2
    assert "nothing was changed" in done.err
    assert at.read_text() == text


def test_a_password_of_the_store_is_not_written_down(run: Run, home: Path) -> None:
    at = CLIENTS["cursor"].file("user", env_of(home), home)
    at.parent.mkdir(parents=True)
    at.write_text(text_for("cursor"))
    secret = {**env_of(home), "SAYSO_STORE_URL": "redis://:of-this-test@127.0.0.1:6379/0"}
    done = run("mcp", "install", "cursor", env=secret)

    assert done.code == 0
    assert "of-this-test" not in at.read_text()
    assert "SAYSO_STORE_URL must be set" in done.err


def test_where_there_is_no_file_that_is_said(run: Run, home: Path) -> None:
    done = run("mcp", "install", "windsurf", env=env_of(home))
    undone = run("mcp", "install", "windsurf", "--undo", env=env_of(home))

    assert done.code == 2
    assert "has no servers there" in done.err
    assert undone.code == 0


def test_a_project_has_settings_of_its_own(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    (home / ".mcp.json").write_text(text_for("claude-code"))
    done = run("mcp", "install", "claude-code", "--scope", "project", "--json", env=env_of(home))

    assert json.loads(done.out) == {
        "file": str(home / ".mcp.json"),
        "changed": True,
        "servers": ["files", "bare"],
        "left": ["web"],
    }


@pytest.mark.parametrize("text", [PLAIN, COMMENTED, '{"a": [[1,],],}', "{}", "[] // end"])
def test_comments_and_commas_too_many_are_read_as_editors_do(text: str) -> None:
    assert jsonc.read(text) is not None


@pytest.mark.parametrize("text", ["", "{'a': 1}", '{"a" 1}', '{"a": 01}', "/* open", '{"a": "\n"}'])
def test_what_editors_do_not_read_is_refused(text: str) -> None:
    with pytest.raises(MalformedMessageError):
        jsonc.read(text)


def test_deep_nesting_takes_no_time_and_is_refused() -> None:
    with pytest.raises(MalformedMessageError):
        jsonc.read('{"a":' * 500 + "1" + "}" * 500)
    assert jsonc.read('{"a":' * 80 + "1" + "}" * 80)
    assert tomllib.loads(TABLES)
