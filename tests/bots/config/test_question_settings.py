"""[questions]: ready-made reasons, how long a denial waits for one, kinds of one's own."""

from __future__ import annotations

import traceback
from datetime import timedelta
from pathlib import Path

import pytest
from support.settings_text import ROUTE, SLACK

from sayso.errors import ConfigError
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_bots.server.checks import load_kinds


def test_reasons_and_their_wait_come_from_the_file() -> None:
    written = '[questions]\nreasons = [" Not now "]\nreason_wait = "2m"\ntypes = ["json"]\n'

    questions = build_settings(parse_source(ROUTE + written, SLACK)).questions

    assert questions.refusals.reasons == ("Not now",)
    assert questions.refusals.wait == timedelta(minutes=2)
    assert questions.types == ("json",)


def test_without_the_section_a_denial_waits_a_minute() -> None:
    questions = build_settings(parse_source(ROUTE, SLACK)).questions

    assert (questions.refusals.reasons, questions.refusals.wait) == ((), timedelta(minutes=1))


@pytest.mark.parametrize(
    ("written", "milliseconds"), [("", 200), ('together = "1.5s"', 1_500), ('together = "off"', 0)]
)
def test_how_long_calls_gather_for_one_card_comes_from_the_file(
    written: str, milliseconds: int
) -> None:
    questions = build_settings(parse_source(f"{ROUTE}[questions]\n{written}\n", SLACK)).questions

    assert questions.together == timedelta(milliseconds=milliseconds)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('together = "6s"', "every card waits for it; write at most 5s"),
        ("together = 300", 'or "off", for a card for every call'),
        ('reason_wait = "soon"', "is not a duration"),
        ('reasons = [""]', "is not a reason; write 1 to 1,000 characters"),
        ("types = 3", "types"),
    ],
)
def test_what_makes_no_sense_names_the_key_the_line_and_the_fix(written: str, told: str) -> None:
    with pytest.raises(SettingsError) as error:
        build_settings(parse_source(f"{ROUTE}[questions]\n{written}\n", SLACK))

    assert told in str(error.value)
    assert "line 6" in str(error.value)


def test_a_module_that_cannot_be_imported_says_what_to_do() -> None:
    load_kinds(["json"])

    with pytest.raises(ConfigError, match=r"no_such_module cannot be imported.*PYTHONPATH"):
        load_kinds(["no_such_module"])


TOKEN = "xoxb-1234567890-abcdefghij"


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("leaving_kinds", r"leaving_kinds cannot be imported \(SystemExit: 0\)"),
        ("loud_kinds", r"\(RuntimeError: \[redacted: 26 characters\]⏎ok\); install it"),
        (TOKEN, "questions.types holds a secret"),
        ("two\nlines", "two⏎lines cannot be imported"),
    ],
)
def test_what_is_said_of_a_module_that_cannot_be_imported_is_one_line_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, told: str
) -> None:
    (tmp_path / "leaving_kinds.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "loud_kinds.py").write_text(f"raise RuntimeError('{TOKEN}\\nok')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ConfigError, match=told) as error:
        load_kinds([module])

    assert TOKEN not in "".join(traceback.format_exception(error.value))
    assert "\n" not in str(error.value)
