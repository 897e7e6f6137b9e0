"""[secrets]: what cards do not show besides what looks like a secret anyway."""

from __future__ import annotations

import pytest

from sayso.text.secrets import hiding, redacted
from sayso.toml_file import SettingsError
from sayso_bots.config.settings import build_settings, read_hiding
from sayso_bots.config.source import parse_source

ENV = {
    "SLACK_BOT_TOKEN": "xoxb-of-a-test",
    "SLACK_SIGNING_SECRET": "0123456789abcdef0123456789abcdef",
    "SAYSO_STORE_URL": "memory://",
}
ROUTE = '[[route]]\nto = ["slack:C0123ABCD"]\napprovers = ["slack:U0ALICE"]\n'
WRITTEN = '[secrets]\nnames = ["license plate"]\npatterns = ["EMP-[0-9]{4}"]\nshown = ["auth"]\n'
VALUE = {"licensePlate": "B-XY", "id": "EMP-1234", "auth": "oauth2", "token": "hunter2"}


def test_names_and_patterns_are_added_and_names_taken_out() -> None:
    with hiding(build_settings(parse_source(ROUTE + WRITTEN, ENV)).hiding):
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
        build_settings(parse_source(f"{ROUTE}[secrets]\n{written}\n", ENV))

    assert key in str(refused.value)
