"""Secrets in the settings: what [secrets] hides on cards, and what no error quotes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from support.settings_text import BOTH, ROUTE, SLACK

from sayso.text.secrets import hiding, redacted
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import build_settings, read_hiding
from sayso_bots.config.source import parse_source

WRITTEN = '[secrets]\nnames = ["license plate"]\npatterns = ["EMP-[0-9]{4}"]\nshown = ["auth"]\n'
VALUE = {"licensePlate": "B-XY", "id": "EMP-1234", "auth": "oauth2", "token": "hunter2"}


def test_names_and_patterns_are_added_and_names_taken_out() -> None:
    with hiding(build_settings(parse_source(ROUTE + WRITTEN, SLACK)).hiding):
        shown = redacted(VALUE)

    assert shown == {
        "licensePlate": "[redacted: 4 characters]",
        "id": "[redacted: 8 characters]",
        "auth": "oauth2",
        "token": "[redacted: 7 characters]",
    }


def test_commands_that_read_the_store_hide_the_same(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("settings") / "sayso.toml"
    path.write_text(WRITTEN)

    with hiding(read_hiding(str(path), {})):
        assert redacted(VALUE)["id"] == "[redacted: 8 characters]"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ('patterns = ["a*"]', "secrets.patterns"),
        ('patterns = ["("]', "secrets.patterns"),
        ("patterns = [1]", "secrets.patterns"),
        ('names = [""]', "secrets.names"),
    ],
)
def test_what_would_hide_everything_or_nothing_is_refused(written: str, key: str) -> None:
    with pytest.raises(SettingsError) as refused:
        build_settings(parse_source(f"{ROUTE}[secrets]\n{written}\n", SLACK))

    assert key in str(refused.value)


EXAMPLE = Path(__file__).parents[3] / "deploy" / "sayso.example.toml"
PASTED = {
    "a token": "ghp_" + "a1B2c3D4e5" * 4,
    "a token of the API": "sayso_" + "a1B2c3D4e5" * 4 + "abc",
    "a long token": "eyJhbGciOiJIUzI1NiJ9."
    + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" * 9
    + ".dozjgNryP4J3jVmNHl0w",
}


@pytest.mark.parametrize(
    ("secret", "form"),
    [
        ("a token", "{}"),
        ("a token of the API", "api:{}"),
        ("a long token", "{}@x"),
        ("a token", "as a key"),
    ],
)
def test_a_secret_pasted_anywhere_in_the_settings_is_in_no_error(secret: str, form: str) -> None:
    # Each optional setting of the example is a comment.
    text = re.sub(r"(?m)^# ?(\w+ = .*|\[+[\w.]+\]+)$", r"\1", EXAMPLE.read_text())
    refused = 0
    for path in paths_in(written := tomllib.loads(text)):
        text = toml_of(pasted(written, path, PASTED[secret], form))
        error = error_of(text)
        refused += bool(error)
        assert PASTED[secret][:24] not in error, path

    assert refused > 30


def error_of(text: str) -> str:
    try:
        build_settings(parse_source(text, BOTH))
    except SettingsError as error:
        return str(error)
    return ""


def paths_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if not isinstance(value, dict | list):
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_in(item, (*path, key))


def pasted(settings: Any, path: tuple[str | int, ...], secret: str, form: str) -> Any:
    """Return the settings with the secret as the value at a path, or as its key."""
    inner = settings = deepcopy(settings)
    for part in path[:-1]:
        inner = inner[part]
    if form == "as a key" and isinstance(inner, dict):
        inner[secret] = inner.pop(path[-1])
    else:
        inner[path[-1]] = form.format(secret)
    return settings


def toml_of(settings: dict[str, Any]) -> str:
    return "\n".join(f"{json.dumps(key)} = {toml_value(item)}" for key, item in settings.items())


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        items = (f"{json.dumps(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value)
