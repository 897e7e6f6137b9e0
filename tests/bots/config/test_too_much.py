"""Settings that are too deep, too long or too many: one clear line, soon."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.settings_text import ROUTE, SLACK

from sayso.toml_file import MAX_BYTES, MAX_TOLD, SettingsError
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source, read_source

DEEP = "sayso.toml is nested more than 50 levels deep; no setting is"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = " + "[" * 100_000 + "]" * 100_000, DEEP),
        ("a = " + "[" * 200 + "]" * 200, DEEP),
        ("a = " + "{b = " * 300 + "1" + "}" * 300, DEEP),
        (".".join(["a"] * 20_000) + " = 1", DEEP),
        ("[" + ".".join(["a"] * 60) + "]\nx = 1", DEEP),
        (
            "a = '" + "x" * MAX_BYTES + "'",
            "sayso.toml is longer than 262,144 bytes; it is no settings file",
        ),
        (
            "[server]\nport = " + "9" * 5_000,
            "sayso.toml holds a number that is too long to be read",
        ),
    ],
    ids=["lists", "few lists", "tables", "key", "header", "long", "number"],
)
def test_settings_that_are_too_deep_or_too_long_are_one_clear_line(text: str, line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_source(text, {})

    assert caught.value.problems == (line,)


def test_a_file_without_an_end_is_called_too_long() -> None:
    with pytest.raises(SettingsError, match=r"/dev/zero is longer than 262,144 bytes"):
        read_source("/dev/zero", {})


def test_a_file_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sayso.toml"
    path.write_text("[server]\nport = 1\n#".ljust(MAX_BYTES, "x"))

    assert read_source(str(path), {}).get(("server", "port")) == 1
    path.write_text("[server]\nport = 1\n#".ljust(MAX_BYTES + 1, "x"))
    with pytest.raises(SettingsError, match="is longer than"):
        read_source(str(path), {})


def test_of_many_mistakes_the_first_are_told() -> None:
    keys = "\n".join(f"k{number} = 1" for number in range(1_000))

    with pytest.raises(SettingsError) as caught:
        build_settings(parse_source(f"{ROUTE}[server]\n{keys}\n", SLACK))

    assert len(caught.value.problems) <= MAX_TOLD + 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SAYSO_PORT", "9" * 5_000), ("SAYSO_PORT", "x" * 100_000), ("SAYSO_STORE_URL", "x" * 99_999)],
)
def test_a_variable_that_is_too_long_is_told_in_a_short_line(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build_settings(parse_source(ROUTE, {**SLACK, variable: value}))

    (line,) = caught.value.problems
    assert line.startswith(variable)
    assert len(line) < 300


@pytest.mark.parametrize(
    ("count", "tools", "length"), [(101, 1, 1), (202, 2, 1), (3, 1, 6_000)], ids=str
)
def test_deny_rules_that_no_question_has_room_for_are_refused(
    count: int, tools: int, length: int
) -> None:
    rules = [
        f'{{ tool = "tool-{n % tools}", params = {{ c = "{"x" * length}{n}" }} }}'
        for n in range(count)
    ]
    fewer, all_of_them = (
        f"{ROUTE}\n[policy]\ndeny = [{', '.join(some)}]\n" for some in (rules[:-tools], rules)
    )

    assert (
        len(build_settings(parse_source(fewer, SLACK)).policies.sections[0].deny) == count - tools
    )
    with pytest.raises(SettingsError) as caught:
        build_settings(parse_source(all_of_them, SLACK))
    assert "policy.deny has too many rules for 'tool-0'" in str(caught.value)


def test_fifty_problems_are_told_and_how_many_more_there_are() -> None:
    problems = SettingsError(f"line {number}" for number in range(60)).problems

    assert len(problems) == 51
    assert problems[-1] == "and 10 more"
