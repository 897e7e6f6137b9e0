"""[[policy]] and [always]: read in order, with files, and every mistake told with line and fix."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support.settings_text import ROUTE, SLACK

from sayso.always.terms import GrantOptions
from sayso.calls import RunRef, ToolCall
from sayso.policy.decision import PolicyContext, Ruling, evaluate
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import Settings, build_settings
from sayso_bots.config.source import parse_source, read_source


def read(text: str) -> Settings:
    return build_settings(parse_source(ROUTE + text, SLACK))


def problems(text: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read(text)
    return list(caught.value.problems)


def lines_before() -> int:
    return ROUTE.count("\n")


async def ruling(settings: Settings, tool: str, *, agent: str = "a") -> tuple[Ruling, str]:
    context = PolicyContext(RunRef(agent, "s"))
    decision = await evaluate(settings.policies, ToolCall(tool, {}), context)
    assert decision is not None
    return decision.ruling, decision.line


async def test_sections_are_read_in_their_order() -> None:
    settings = read(
        '[[policy]]\nagent = "deploy-*"\ntool = "git_*"\ndefault = "allow"\n'
        '[[policy]]\npreset = "coding"\ndeny = [{ tool = "drop" }]\n'
        'allow_once = [{ tool = "migrate" }]\naudit = true\n'
    )

    assert await ruling(settings, "git_log", agent="deploy-1") == (
        Ruling.ALLOW,
        "default of policy 1",
    )
    assert await ruling(settings, "Read") == (Ruling.ALLOW, "preset coding")
    assert await ruling(settings, "drop") == (Ruling.DENY, "deny rule 1 of policy 2")
    assert await ruling(settings, "migrate") == (Ruling.ALLOW, "allow-once rule 1 of policy 2")
    assert settings.policies.audits("a", "drop")
    assert not settings.policies.audits("deploy-1", "git_log")


def test_a_rule_knows_its_line() -> None:
    settings = read('[[policy]]\ndeny = [\n  { tool = "a" },\n  { tool = "b" },\n]\n')

    (section,) = settings.policies.sections
    at = lines_before()
    assert section.place == f"sayso.toml:{at + 1}"
    assert [one.place for one in section.deny] == [f"sayso.toml:{at + 3}", f"sayso.toml:{at + 4}"]


def test_terms_of_always_have_a_section_of_their_own() -> None:
    settings = read('[always]\nremember = "7d"\n[[policy]]\ndefault = "ask"\n')

    assert settings.always == GrantOptions(remember_for=timedelta(days=7))


def test_a_single_table_is_one_section() -> None:
    settings = read('[policy]\nallow = [{ tool = "read" }]\n')

    assert [one.called for one in settings.policies.sections] == [""]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[policy]]\nremember = "7d"\n', 2, "policy 1.remember belongs in [always]"),
        ('[policy]\nremember = "7d"\n', 2, "policy.remember belongs in [always]"),
        ('[[policy]]\npreset = "codng"\n', 2, "'codng' is not a preset; there is 'coding'"),
        ('[[policy]]\npreset = "coding"\ndefault = "allow"\n', 3, "more than the preset"),
        ("[[policy]]\n[[policy]]\nallows = []\n", 3, "did you mean allow?"),
        ('[[policy]]\nallow_once = [{ tol = "x" }]\n', 2, "did you mean tool?"),
        ("[[policy]]\ndeny = [{ params = {} }]\n", 2, "has no 'tool'"),
        ('[[policy]]\ndefault = "deny"\n', 2, "must be 'ask' or 'allow'"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_fix(text: str, line: int, said: str) -> None:
    problem = next(one for one in problems(text) if said in one)

    assert problem.startswith(f"sayso.toml line {lines_before() + line}: policy")


def test_what_is_no_section_at_all_is_told() -> None:
    with pytest.raises(SettingsError, match=r"policy must be sections"):
        build_settings(parse_source(f"policy = 3\n{ROUTE}", SLACK))


async def test_a_file_is_shared_and_found_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    shared = tmp_path / "shared" / "policy.toml"
    shared.write_text('preset = "coding"\ndeny = [\n  { tool = "drop" },\n]\n')
    config = tmp_path / "sayso.toml"
    config.write_text(
        f'{ROUTE}[[policy]]\nfile = "shared/policy.toml"\ndeny = [{{ tool = "x" }}]\n'
    )

    source = read_source(str(config), SLACK)
    settings = build_settings(source)

    assert source.files == [shared]
    assert await ruling(settings, "drop") == (Ruling.DENY, "deny rule 2 of policy 1")
    assert await ruling(settings, "Grep") == (Ruling.ALLOW, "preset coding")
    assert settings.policies.sections[0].deny[1].place == f"{shared}:3"


@pytest.mark.parametrize(
    ("shared", "own", "said"),
    [
        ("deny = [\n  { tol = 'x' },\n]\n", "", "policy.toml line 2: deny 1.tol"),
        ("deny = [", "", "policy.toml is not valid TOML"),
        ("agent = 'a'\n", "", "policy.toml line 1: agent is not a setting"),
        ("default = 'ask'\n", "default = 'ask'\n", "policy 1.default is said in policy.toml, too"),
        ("preset = 'coding'\n", "preset = 'coding'\n", "policy 1.preset is said in policy.toml"),
        ("default = 'allow'\n", "preset = 'coding'\n", "policy 1.preset does not go with"),
        ("preset = 'coding'\n", "default = 'allow'\n", "policy 1.default does not go with"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(
    tmp_path: Path, shared: str, own: str, said: str
) -> None:
    (tmp_path / "policy.toml").write_text(shared)
    config = tmp_path / "sayso.toml"
    config.write_text(f'{ROUTE}[[policy]]\nfile = "policy.toml"\n{own}')

    with pytest.raises(SettingsError) as caught:
        build_settings(read_source(str(config), SLACK))

    assert any(said in problem for problem in caught.value.problems)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    config = tmp_path / "sayso.toml"
    config.write_text(f'{ROUTE}[[policy]]\nfile = "policy.toml"\n')

    with pytest.raises(SettingsError, match=r"policy\.toml: no such file"):
        build_settings(read_source(str(config), SLACK))
