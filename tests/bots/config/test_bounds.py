"""Both sides of every bound of a setting."""

from __future__ import annotations

import pytest
from support.settings_text import ROUTE, SLACK

from sayso.toml_file import SettingsError
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source

LONG, LONGER = "x" * 1_000, "x" * 1_001
MANY, MORE = '["a"' + ', "a"' * 19 + "]", '["a"' + ', "a"' * 20 + "]"


@pytest.mark.parametrize(
    ("section", "key", "good", "bad"),
    [
        ("server", "port", ["0", "65535"], ["-1", "65536"]),
        ("server", "connections_per_source", ["1", "1000000"], ["0", "1000001", "true"]),
        ("server", "reuse_port", ["true", "false"], ["1", '"yes"']),
        ("api", "per_second", ["1", "10000"], ["0", "10001"]),
        ("always", "remember", ['"30d"'], ['"0s"', '"2592001s"']),
        ("questions", "reason_wait", ['"15m"'], ['"0s"', '"901s"']),
        ("questions", "together", ['"5s"', '"off"'], ['"0s"', '"5001ms"']),
        ("questions", "reasons", [f'["{LONG}"]', MANY], ['[" "]', f'["{LONGER}"]', MORE]),
    ],
)
def test_a_setting_reaches_to_its_bound_and_no_further(
    section: str, key: str, good: list[str], bad: list[str]
) -> None:
    for value in good:
        build_settings(parse_source(f"[{section}]\n{key} = {value}\n{ROUTE}", SLACK))
    for value in bad:
        with pytest.raises(SettingsError, match=rf"line 2: {section}\.{key}"):
            build_settings(parse_source(f"[{section}]\n{key} = {value}\n{ROUTE}", SLACK))
