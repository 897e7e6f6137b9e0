import subprocess
import sys

import pytest
from support.slack_kit import TOKEN, a_config

from sayso.errors import ConfigError


def test_the_app_is_named_by_its_app_level_token() -> None:
    assert a_config(app_id="", app_token="xapp-1-A0SAYSO-1-abc").known_app_id == "A0SAYSO"
    assert a_config(app_id="", app_token="xapp-playground").known_app_id == ""


def test_a_configuration_shows_no_secret() -> None:
    shown = repr(a_config(app_token="xapp-1-A0SAYSO-1-abc"))

    for secret in (TOKEN, "xapp-1", "a-signing-secret"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"bot_token": ""}, "SLACK_BOT_TOKEN"),
        ({"mode": "socket"}, "SLACK_APP_TOKEN"),
        ({"signing_secrets": ()}, "SLACK_SIGNING_SECRET"),
        ({"signing_secrets": ("",)}, "SLACK_SIGNING_SECRET"),
    ],
)
def test_a_missing_secret_is_an_error_that_names_it(
    changes: dict[str, object], setting: str
) -> None:
    with pytest.raises(ConfigError, match=setting):
        a_config(**changes)


_WITHOUT_THE_LIBRARIES = """
import asyncio, sys
sys.modules["slack_sdk"] = sys.modules["slack_bolt"] = None  # as if the extra were not installed
from sayso.errors import ConfigError
from sayso.platforms.platform import PlatformSettings
from sayso_slack.config import BOT_TOKEN, SIGNING_SECRET, SlackSection
from sayso_slack.platform import PLATFORM
secrets = {BOT_TOKEN.variable: "xoxb-1", SIGNING_SECRET.variable: "s"}
async def main():
    settings = PlatformSettings(SlackSection(mode="http"), secrets)
    async with PLATFORM.open(settings, None):
        print("opened")
try:
    asyncio.run(main())
except ConfigError as error:
    print(error)
"""


def test_without_slacks_libraries_the_platform_loads_and_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_THE_LIBRARIES],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert done.returncode == 0, done.stderr
    assert "Slack needs its libraries: install Sayso with its extra `slack`" in done.stdout
