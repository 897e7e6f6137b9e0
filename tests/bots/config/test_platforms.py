"""Which platforms are on, which can be loaded, and that the bots know none of them by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from sayso.text.secrets import hiding, redacted_text
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import Settings, build_settings, read_registration
from sayso_bots.config.source import parse_source

SLACK = {"SLACK_BOT_TOKEN": "xoxb-of-a-test", "SLACK_SIGNING_SECRET": "signing-of-a-test"}
SOCKET = {"SLACK_BOT_TOKEN": "xoxb-of-a-test", "SLACK_APP_TOKEN": "xapp-1-A0SAYSO-of-a-test"}
TELEGRAM = {"TELEGRAM_BOT_TOKEN": "123:of-a-test", "TELEGRAM_WEBHOOK_SECRET": "hook-of-a-test"}

TO_SLACK = '[[route]]\nto = ["slack:C0OPS"]\napprovers = ["slack:U0ALICE"]\n'
TO_TELEGRAM = '[[route]]\nto = ["telegram:42"]\napprovers = ["telegram:42"]\n'

BOTS = Path(__file__).parents[3] / "bots" / "sayso_bots"


def read(text: str, env: Mapping[str, str]) -> Settings:
    return build_settings(parse_source(text, env))


def problems(text: str, env: Mapping[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        read(text, env)
    return caught.value.problems


def test_a_token_left_over_from_another_platform_does_not_switch_that_one_on() -> None:
    env = {"SLACK_BOT_TOKEN": "xoxb-of-a-test", "TELEGRAM_BOT_TOKEN": "123:of-a-test"}

    settings = read('[telegram]\nmode = "polling"\n' + TO_TELEGRAM, env)

    assert list(settings.platforms) == ["telegram"]


def test_without_sections_a_platform_is_on_when_its_token_is_set_and_a_route_leads_there() -> None:
    assert list(read(TO_SLACK, {**SLACK, **TELEGRAM}).platforms) == ["slack"]
    assert list(read(TO_TELEGRAM, {**SLACK, **TELEGRAM}).platforms) == ["telegram"]
    assert list(read(TO_SLACK + TO_TELEGRAM, {**SLACK, **TELEGRAM}).platforms) == [
        "slack",
        "telegram",
    ]


def test_a_section_switches_its_platform_on_and_a_route_another_one() -> None:
    settings = read("[telegram]\n" + TO_SLACK, {**SLACK, **TELEGRAM})

    assert set(settings.platforms) == {"slack", "telegram"}


def test_a_token_is_a_hint_where_nothing_else_says_which_platform_is_meant() -> None:
    found = problems("", {"TELEGRAM_BOT_TOKEN": "123:of-a-test"})

    assert any(text.startswith("TELEGRAM_WEBHOOK_SECRET is not set") for text in found)
    assert not any("SLACK" in text for text in found)


@pytest.mark.parametrize(
    ("section", "env", "mode"),
    [
        ("", SLACK, "http"),
        ("", SOCKET, "socket"),
        ("", {**SLACK, **SOCKET}, "http"),
        ('[slack]\nmode = "socket"\n', {**SLACK, **SOCKET}, "socket"),
        ('[slack]\nmode = "http"\n', {**SLACK, **SOCKET}, "http"),
        ("", {**SLACK, **SOCKET, "SAYSO_SLACK_MODE": "socket"}, "socket"),
    ],
)
def test_socket_mode_is_taken_when_an_app_token_is_there_and_nothing_speaks_for_http(
    section: str, env: Mapping[str, str], mode: str
) -> None:
    settings = read(section + TO_SLACK, env)

    assert settings.platforms["slack"].settings.section.mode == mode


def test_http_that_is_asked_for_is_not_answered_with_socket_mode() -> None:
    found = problems('[slack]\nmode = "http"\n' + TO_SLACK, SOCKET)

    assert len(found) == 1
    assert found[0].startswith("SLACK_SIGNING_SECRET is not set")


OWN = '''
import re
from contextlib import asynccontextmanager
from sayso.platforms import Platform, Secret, Section

class PagerSection(Section):
    """[pager]."""
    loud: bool = False

class PagerPlatform(Platform[PagerSection]):
    name = "{name}"
    title = "Pager"
    section = PagerSection
    secrets = (
        Secret(
            "PAGER_KEY", "it is on the back of the pager", keys=("key",),
            looks=re.compile(r"{looks}"),
        ),
    )
    place_example = "{name}:7"
    account_example = "{name}:7"

    def check_place(self, place):
        if not place.address.isdecimal():
            raise ValueError("is not a pager; write pager:7")

    def account(self, written):
        if not str(written).isdecimal():
            raise ValueError("is not the number of a pager")
        return str(written)

    @asynccontextmanager
    async def open(self, settings, drafts):
        raise NotImplementedError
        yield

PLATFORM = PagerPlatform()
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for modules of one's own, on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def a_module(folder: Path, name: str, platform: str, looks: str = "pager-[0-9]{8}") -> str:
    written = OWN.replace("{name}", platform).replace("{looks}", looks)
    (folder / f"{name}.py").write_text(written)
    return name


def test_a_platform_of_ones_own_is_named_by_its_module(own: Path) -> None:
    module = a_module(own, "own_pager", "pager")
    text = (
        f'platforms = ["{module}"]\n[pager]\nloud = true\n'
        "[people.alice]\npager = 7\n"
        '[[route]]\nto = ["pager:7"]\napprovers = ["alice", "pager:8"]\n'
    )

    settings = read(text, {"PAGER_KEY": "of-a-test", "SAYSO_PAGER_LOUD": "false"})

    pager = settings.platforms["pager"]
    assert not pager.settings.section.loud
    assert pager.settings.value(pager.platform.secrets[0]) == "of-a-test"
    assert settings.routes.people["alice"] == {"pager:7"}
    assert "of-a-test" not in repr(settings)


def test_its_mistakes_are_told_as_those_of_any_platform(own: Path) -> None:
    module = a_module(own, "own_pager_of_mistakes", "pager")
    text = (
        f'platforms = ["{module}"]\n[pager]\nlod = true\nkey = "of-a-test"\n'
        '[[route]]\nto = ["pager:x", "page:7"]\napprovers = ["pager:x", "pager:@all"]\n'
    )

    found = problems(text, {})

    assert "PAGER_KEY is not set; it is on the back of the pager" in found
    assert "sayso.toml line 3: pager.lod is not a setting; did you mean loud?" in found
    assert any("pager.key holds a secret" in text for text in found)
    assert any("'pager:x' is not a pager; write pager:7" in text for text in found)
    assert any("'page:7' names the platform 'page'; write" in text for text in found)
    assert any("'pager:x' is not the number of a pager" in text for text in found)
    assert any("Pager has no groups of approvers" in text for text in found)
    assert "of-a-test" not in "".join(found)


def test_what_looks_like_its_secret_is_hidden_once_it_is_loaded(own: Path) -> None:
    module = a_module(own, "own_pager_of_secrets", "pager", looks="pocsag-[0-9]{8}")
    key = "pocsag-12345678"
    text = f'platforms = ["{module}"]\n'

    found = problems(text + f'[pager]\nlod = "{key}"\n' + TO_SLACK, SLACK)
    settings = read(text + TO_SLACK, SLACK)

    assert key not in "".join(found)
    assert redacted_text(f"page {key} now") == f"page {key} now"
    with hiding(settings.hiding):
        assert redacted_text(f"page {key} now") == "page [redacted: 15 characters] now"


def test_a_platform_whose_secret_looks_like_anything_is_refused(own: Path) -> None:
    module = a_module(own, "own_pager_of_anything", "pager", looks="[0-9]*")

    found = problems(f'platforms = ["{module}"]\n' + TO_SLACK, SLACK)

    assert "of a secret matches an empty string" in found[0]


def test_a_section_of_a_platform_that_is_not_loaded_says_how_to_load_it() -> None:
    found = problems("[pager]\n" + TO_SLACK, SLACK)

    assert len(found) == 1
    assert "line 1: pager is not a setting; settings here are store, server" in found[0]
    assert 'by its module: platforms = ["my_adapter"]' in found[0]


@pytest.mark.parametrize("name", ["slack", "api", "store", "Pager", "pager7"])
def test_a_name_that_is_taken_or_no_word_is_refused(own: Path, name: str) -> None:
    module = a_module(own, f"own_named_{name}", name)

    found = problems(f'platforms = ["{module}"]\n' + TO_SLACK, SLACK)

    assert found[0].startswith("sayso.toml line 1: platforms 1 cannot be loaded (ValueError:")


@pytest.mark.parametrize("setting", ['"json"', '"no_such_module_here"', "7"])
def test_a_module_that_is_not_a_platform_is_one_line_with_the_fix(setting: str) -> None:
    found = problems(f"platforms = [{setting}]\n" + TO_SLACK, SLACK)

    assert len(found) == 1
    assert "platforms 1 cannot be loaded (" in found[0]
    assert "put its folder into PYTHONPATH" in found[0]


def test_a_module_that_cannot_be_imported_is_the_only_line() -> None:
    text = (
        'platforms = ["no_such_module_here"]\n[pager]\nloud = true\n[people.alice]\npager = 7\n'
        '[[route]]\nto = ["pager:7"]\napprovers = ["pager:7"]\n'
    )

    (line,) = problems(text, {})

    assert line.startswith("sayso.toml line 1: platforms 1 cannot be loaded (")


def installed(folder: Path, package: str, entry: str, module: str) -> None:
    """A package whose metadata says that a module exports a platform."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[sayso.platforms]\n{entry} = {module}:PLATFORM\n")


def test_an_installed_package_is_a_platform(own: Path) -> None:
    installed(own, "installed-pager", "pager", a_module(own, "installed_pager", "pager"))

    settings = read("[pager]\n" + TO_SLACK, {**SLACK, "PAGER_KEY": "of-a-test"})

    assert set(settings.platforms) == {"slack", "pager"}


def test_an_entry_point_of_another_name_takes_over_no_platform(own: Path) -> None:
    installed(own, "aaa-taker", "aaa", a_module(own, "aaa_taker", "slack"))

    settings = read(TO_SLACK, SLACK)
    found = problems("[aaa]\n" + TO_SLACK, SLACK)

    assert type(settings.platforms["slack"].platform).__module__ == "sayso_slack.platform"
    assert len(found) == 1
    assert "aaa_taker is the platform 'slack', its entry point is 'aaa'" in found[0]


@pytest.mark.parametrize("module", ["aaa_second_slack", "zzz_second_slack"])
def test_two_installed_platforms_of_one_name_are_an_error_whichever_comes_first(
    own: Path, module: str
) -> None:
    installed(own, module, "slack", a_module(own, module, "slack"))

    found = "\n".join(problems("[slack]\n" + TO_SLACK, SLACK))

    assert "slack is a platform that is in two modules" in found
    assert module in found
    assert "sayso_slack.platform" in found


def test_a_platform_of_ones_own_does_not_replace_an_installed_one(own: Path) -> None:
    module = a_module(own, "own_second_slack", "slack")

    found = problems(f'platforms = ["{module}"]\n' + TO_SLACK, SLACK)

    assert "is in two modules, sayso_slack.platform and own_second_slack" in found[0]


def test_no_webhook_is_registered_with_one_of_two_platforms(own: Path) -> None:
    module = a_module(own, "own_second_telegram", "telegram")
    config = own / "sayso.toml"
    config.write_text(f'platforms = ["{module}"]\n')

    with pytest.raises(SettingsError, match="the platform telegram is in two modules"):
        read_registration(str(config), TELEGRAM, "telegram")


TOKEN = "xoxb-1234567890-abcdefghij"


def test_what_a_broken_module_says_is_one_line_without_secrets(own: Path) -> None:
    (own / "loud_module.py").write_text(f"raise RuntimeError('with {TOKEN}\\n\\x1b[2Jok')\n")

    found = problems('platforms = ["loud_module"]\n' + TO_SLACK, SLACK)

    assert len(found) == 1
    assert TOKEN not in found[0]
    assert found[0].isprintable()
    assert "(RuntimeError: with [redacted: 26 characters]⏎⟨U+001B⟩[2Jok); install it" in found[0]


def test_a_module_that_leaves_the_process_is_a_problem_as_any_other(own: Path) -> None:
    (own / "leaving_module.py").write_text("import sys\nsys.exit(0)\n")
    installed(own, "leaving", "leaving", "leaving_module")

    (named,) = problems('platforms = ["leaving_module"]\n[leaving]\n' + TO_SLACK, SLACK)
    (by_section,) = problems("[leaving]\n" + TO_SLACK, SLACK)

    assert "platforms 1 cannot be loaded (SystemExit: 0)" in named
    assert "leaving is a platform that cannot be loaded (SystemExit: 0)" in by_section


def test_a_token_among_the_modules_is_not_quoted(own: Path) -> None:
    module = a_module(own, "own_keys", "pager", looks="pager-key-[0-9]+")
    text = f"platforms = ['{TOKEN}', 'x.pager-key-77', '{module}']\n"

    found = problems(text + TO_SLACK, SLACK)

    assert [line.split(";")[0] for line in found] == [
        f"sayso.toml line 1: platforms {number} holds a secret, which must not stand in a file"
        for number in (1, 2)
    ]


def test_what_a_broken_module_says_is_without_the_secrets_of_a_later_one(own: Path) -> None:
    (own / "early_module.py").write_text("raise RuntimeError('with late-key-123456789')\n")
    a_module(own, "later_keys", "pager", looks="late-key-[0-9]+")

    found = problems('platforms = ["early_module", "later_keys"]\n' + TO_SLACK, SLACK)

    assert len(found) == 1
    assert "(RuntimeError: with [redacted: 18 characters])" in found[0]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"[slack]\n{TOKEN} = 1\n", "sayso.toml line 1: slack"),
        (f"{TOKEN} = 1\n", "sayso.toml: platforms"),
        (f"[people.{TOKEN}]\nslack = 'U0ALICE'\n", "sayso.toml: people"),
    ],
)
def test_a_token_that_is_a_key_is_not_quoted(text: str, where: str) -> None:
    found = problems(text + TO_SLACK, SLACK)

    assert len(found) == 1
    assert found[0].startswith(f"{where} has a key that holds a secret")
    assert "SLACK_BOT_TOKEN" in found[0]
    assert TOKEN not in found[0]


def test_a_key_that_looks_like_any_secret_is_not_quoted() -> None:
    found = problems("[server]\nghp_" + "a" * 30 + " = 1\n" + TO_SLACK, SLACK)

    assert len(found) == 1
    assert "server.[redacted: 34 characters] is not a setting" in found[0]


def test_a_webhook_is_registered_with_the_platform_that_has_some(own: Path) -> None:
    config = own / "sayso.toml"
    config.write_text("")

    registration, settings = read_registration(str(config), TELEGRAM, None)

    assert [secret.variable for secret in registration.needed] == ["TELEGRAM_BOT_TOKEN"]
    assert settings.value(registration.needed[0]) == "123:of-a-test"
    with pytest.raises(SettingsError, match="name a platform that registers webhooks"):
        read_registration(str(config), SLACK, "slack")
    with pytest.raises(SettingsError, match="TELEGRAM_BOT_TOKEN is not set"):
        read_registration(str(config), {}, None)


def test_the_bots_name_no_platform() -> None:
    files = [path for path in BOTS.rglob("*.py") if "demo" not in path.relative_to(BOTS).parts]
    naming = [
        f"{path.relative_to(BOTS)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search("slack|telegram", line, re.IGNORECASE)
    ]

    assert len(files) > 40
    assert naming == []
