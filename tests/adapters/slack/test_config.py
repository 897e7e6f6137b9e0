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
