"""``sayso replay``: how often people would have been asked, by the code of gates and cards."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.commands import Run

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
CODING = 'preset = "coding"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coding.toml").write_text(CODING)
    return tmp_path


def line(tool: str, minutes: float = 0, **more: Any) -> dict[str, Any]:
    """A call of a trace; its arguments are what no other key of a line is called."""
    keys = ("session", "project", "folder", "agent", "press")
    said = {name: more.pop(name) for name in keys if name in more}
    at = (START + timedelta(minutes=minutes)).isoformat()
    return {"at": at, "session": "s-1", "tool": tool, "arguments": more, **said}


def replayed(run: Run, *argv: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    Path("calls.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in calls))
    done = run("replay", "calls.jsonl", "--json", "--each", *argv)
    assert (done.code, done.err) == (0, "")
    return [json.loads(written) for written in done.out.splitlines()]


def decided(rows: list[dict[str, Any]]) -> list[str]:
    return [row["decided"] for row in rows[:-1]]


def test_without_a_policy_every_call_is_a_card(run: Run, folder: Path) -> None:
    rows = replayed(run, calls=[line("Read", file_path="/a/b/c"), line("Bash", command="ls")])

    assert decided(rows) == ["asked", "asked"]
    assert rows[-1] == {"calls": 2, "cards": 2, "per10": 10.0, "second_half_per10": 0.0}


def test_a_policy_answers_what_it_answers_at_the_gate(run: Run, folder: Path) -> None:
    (folder / "own.toml").write_text(f'{CODING}deny = [{{ tool = "Rm" }}]\n')
    calls = [line("Read", file_path="/a/b/c"), line("Rm"), line("Bash", command="ls > x")]
    rows = replayed(run, "--policy", "own.toml", calls=calls)

    assert decided(rows) == ["policy", "policy", "asked"]
    assert [row["rule"] for row in rows[:2]] == ["preset coding", "deny rule 1"]


def test_a_policy_may_be_settings_with_sections_and_terms(run: Run, folder: Path) -> None:
    (folder / "bots.toml").write_text(
        '[[policy]]\nagent = "claude*"\npreset = "coding"\n\n'
        '[always]\nscopes = ["session", "window"]\n'
    )
    calls = [
        line("Read", agent="claude-code", file_path="/a/b/c"),
        line("Read", agent="other", file_path="/a/b/c"),
        line("Deploy", 1, to="a"),
        line("Deploy", 15, to="b"),
        line("Deploy", 17, to="c"),
    ]
    rows = replayed(run, "--policy", "bots.toml", "--press", "widest", calls=calls)

    assert decided(rows) == ["policy", "asked", "asked", "rule", "asked"]


def test_exact_presses_store_what_talk_does_not_change(run: Run, folder: Path) -> None:
    calls = [
        line("Bash", 0, command="make test", description="a"),
        line("Bash", 1, command="make test", description="b"),
        line("Bash", 2, command="make all", description="b"),
    ]
    rows = replayed(run, "--press", "exact", calls=calls)

    assert decided(rows) == ["asked", "rule", "asked"]
    assert [row["pressed"] for row in rows[:3]] == ["exact", None, "exact"]


def test_narrowest_is_the_narrowest_width_that_is_not_exact_and_exact_where_there_is_none(
    run: Run, folder: Path
) -> None:
    shop = {"folder": "/work/shop", "content": "x"}
    calls = [
        line("Write", 0, file_path="/work/shop/src/a.py", **shop),
        line("Write", 1, file_path="/work/shop/src/b.py", **shop),
        line("Write", 2, file_path="/work/shop/tests/b.py", **shop),
        line("Bash", 3, command="git status"),
        line("Bash", 4, command="git diff | head"),
        line("Bash", 5, command="x > y"),
        line("Bash", 6, command="x > y"),
    ]
    rows = replayed(run, "--press", "narrowest", calls=calls)

    assert decided(rows) == ["asked", "rule", "asked", "asked", "rule", "asked", "rule"]
    assert [row["pressed"] for row in rows[:7:5]] == ["narrowest", "exact"]
    widest = replayed(run, "--press", "widest", calls=calls)
    assert decided(widest) == ["asked", "rule", "rule", "asked", "rule", "asked", "rule"]


def test_a_call_may_have_a_press_of_its_own(run: Run, folder: Path) -> None:
    calls = [line("Deploy", n, press=press) for n, press in enumerate(["never", "exact", "never"])]

    assert decided(replayed(run, calls=calls)) == ["asked", "asked", "rule"]


def test_what_was_pressed_counts_in_its_session_and_for_its_time_by_the_traces_own_clock(
    run: Run, folder: Path
) -> None:
    calls = [
        line("Deploy", 0),
        line("Deploy", 1, session="s-2"),
        line("Deploy", 23 * 60),
        line("Deploy", 24 * 60),
    ]

    rows = replayed(run, "--press", "exact", calls=calls[::-1])
    assert decided(rows) == ["asked", "asked", "rule", "asked"]


def test_what_is_pressed_for_a_project_counts_in_its_sessions_and_for_as_long_as_was_said(
    run: Run, folder: Path
) -> None:
    shop = {"project": "shop"}
    calls = [
        line("Deploy", 0, **shop),
        line("Deploy", 1, session="s-2", **shop),
        line("Deploy", 2, session="s-3", project="other"),
        line("Deploy", 3, session="s-4"),
        line("Deploy", 25 * 60, session="s-5", **shop),
        line("Deploy", 25 * 60 + 1, session="s-5", **shop),
        line("Deploy", 31 * 24 * 60, session="s-6", **shop),
    ]

    def asked(*argv: str) -> str:
        rows = replayed(run, "--press", "exact", *argv, calls=calls)
        return "".join("x" if one == "asked" else "." for one in decided(rows))

    assert asked() == asked("--for", "project") == "x.xx..x"
    assert asked("--for", "day") == "x.xxx.x"
    assert asked("--for", "session") == "xxxxx.x"


def test_where_projects_are_not_remembered_it_is_the_session(run: Run, folder: Path) -> None:
    (folder / "bots.toml").write_text('[always]\nscopes = ["session"]\n')
    shop = {"project": "shop"}
    calls = [line("Deploy", 0, **shop), line("Deploy", 1, **shop)]
    calls += [line("Deploy", 2, session="s-2", **shop)]
    rows = replayed(run, "--policy", "bots.toml", "--press", "exact", calls=calls)

    assert decided(rows) == ["asked", "rule", "asked"]
    assert rows[0]["rule"].endswith("in session s-1")


def test_the_folder_of_a_project_is_found_in_its_paths_where_no_line_names_it(
    run: Run, folder: Path
) -> None:
    paths = [f"/work/shop/{name}" for name in ("src/a.py", "src/b.py", "tests/c.py", "src/d.py")]
    elsewhere = "/home/ann/.claude/plans/x.md"
    calls = [
        line("Write", number, project="shop", file_path=path, content="")
        for number, path in enumerate([*paths, *paths, elsewhere])
    ]
    rows = replayed(run, "--press", "narrowest", calls=calls)

    assert decided(rows) == ["asked", "rule", "asked", *["rule"] * 5, "asked"]
    assert '"/work/shop/src"' in rows[0]["rule"]


def test_the_second_half_is_that_of_long_sessions(run: Run, folder: Path) -> None:
    long = [line("Deploy", n, to=str(n) if n < 10 else "same") for n in range(20)]
    short = [line("Deploy", n, session="s-2", to=str(n)) for n in range(19)]
    rows = replayed(run, "--press", "exact", calls=[*long, *short])

    assert rows[-1] == {"calls": 39, "cards": 30, "per10": 7.69, "second_half_per10": 1.0}


def test_a_person_reads_one_sentence(run: Run, folder: Path) -> None:
    Path("calls.jsonl").write_text(json.dumps(line("Deploy")) + "\n\n")
    done = run("replay", "calls.jsonl", "--each")

    assert done.out.splitlines() == [
        "    1 Deploy: asked (never)",
        "1 calls, 1 cards: 10 in 10 calls, 0 in the second half of sessions of 20 calls or more",
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "calls.jsonl line 2: not JSON"),
        ("[]", "calls.jsonl line 2: not an object"),
        ('{"session": "s", "tool": "x"}', "calls.jsonl line 2: at: Field required"),
        ('{"at": "2026-01-01", "session": "s", "tool": "x"}', "calls.jsonl line 2: at:"),
        ('{"at": "2026-01-01T00:00Z", "session": "", "tool": "x"}', "line 2: session:"),
        (
            '{"at": "2026-01-01T00:00Z", "session": "s", "tool": "x", "press": "all"}',
            "calls.jsonl line 2: press:",
        ),
    ],
)
def test_a_line_that_is_no_call_is_an_error_with_its_file_and_line(
    run: Run, folder: Path, written: str, said: str
) -> None:
    Path("calls.jsonl").write_text(f"{json.dumps(line('x'))}\n{written}\n")
    done = run("replay", "calls.jsonl")

    assert done.code == 2
    assert done.out == ""
    assert said in done.err


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("", "own.toml cannot be read"),
        ("preset = 'all'\n", "own.toml line 1: preset"),
        ("deny = [{ tool = 'a', matchers = { x = { kind = 'shell' } } }]\n", "can only allow"),
        ("allow = [{ tool = 'a', matchers = { x = { kind = 'regex' } } }]\n", "own.toml line 1"),
        ("[[policy]]\npresets = 'x'\n", "own.toml line 2"),
    ],
)
def test_a_wrong_policy_is_an_error_with_its_file_and_line(
    run: Run, folder: Path, policy: str, said: str
) -> None:
    Path("calls.jsonl").write_text("")
    if policy:
        Path("own.toml").write_text(policy)
    done = run("replay", "calls.jsonl", "--policy", "own.toml")

    assert done.code == 2
    assert said in done.err or (not policy and "own.toml: no such file" in done.err)


def test_a_missing_trace_is_an_error_that_names_it(run: Run, folder: Path) -> None:
    done = run("replay", "nowhere.jsonl")

    assert done.code == 2
    assert "nowhere.jsonl cannot be read: No such file" in done.err


def test_a_policy_in_a_file_may_allow_by_fits_and_leave_talk_aside(run: Run, folder: Path) -> None:
    (folder / "own.toml").write_text(
        'allow = [{ tool = "Bash", talk = ["description"], '
        'matchers = { command = { kind = "shell", begins = [["git", "commit"]] } } }]\n'
    )
    calls = [
        line("Bash", command="git status && git commit -m x", description="y"),
        line("Bash", command="git push"),
    ]

    assert decided(replayed(run, "--policy", "own.toml", calls=calls)) == ["policy", "asked"]
