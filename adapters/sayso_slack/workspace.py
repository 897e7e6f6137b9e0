"""One workspace: whose callbacks are admitted, who is a member, which scopes the app has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from sayso.errors import CallbackError
from sayso_slack.callback_guard import Payload, as_object, as_text

_ID = re.compile(r"[A-Z0-9_-]{1,40}", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The workspace and the app that callbacks must belong to; an empty app id is unknown."""

    team_id: str
    app_id: str

    def admit_press(self, payload: Payload) -> None:
        """Return when somebody of this workspace pressed something of this app or sent its form.

        The workspace is ``team.id``. Where an app is installed for a whole
        organisation that is null, and the presser's own workspace counts; a
        form also says where its app is installed, which must be this one.
        Somebody from the other side of a Slack Connect channel is refused,
        also when the channel is ours. A user without a workspace of their own
        in the payload belongs to the one the payload names.

        Raises:
            CallbackError: another workspace, another app, or not said.
        """
        self._admit_app(payload, required=True)
        installed = _installed_team(payload)
        team = _id(payload.get("team")) or installed
        presser = as_text(as_object(payload.get("user")).get("team_id"))
        enterprise = _id(payload.get("enterprise")) or as_text(
            as_object(payload.get("team")).get("enterprise_id")
        )
        if enterprise and enterprise == self.team_id:
            # Configured for an organisation: its people are those of the workspace that is named.
            at_home = presser == enterprise or bool(team and presser == team)
        else:
            at_home = (team or presser) == self.team_id and presser in ("", self.team_id)
        at_home = at_home and installed in ("", self.team_id, team)
        if not (self.team_id and at_home):
            where = _quote_id(team or presser or enterprise)
            raise CallbackError(
                f"Slack press refused: it came from workspace {where}, from somebody in "
                f"{_quote_id(presser or team)}, not {_quote_id(self.team_id)}; see slack.team_id",
                status=HTTPStatus.FORBIDDEN,
            )

    def admit(self, payload: Payload) -> None:
        """Return unless the callback says that it is for another workspace or app.

        Raises:
            CallbackError: it does.
        """
        self._admit_app(payload, required=False)
        stated = (
            _installed_team(payload) or as_text(payload.get("team_id")) or _id(payload.get("team"))
        )
        enterprise = as_text(payload.get("enterprise_id")) or _id(payload.get("enterprise"))
        if stated and self.team_id not in (stated, enterprise):
            raise CallbackError(
                f"Slack callback refused: it is for workspace {_quote_id(stated)}, "
                f"not {_quote_id(self.team_id)}; see slack.team_id",
                status=HTTPStatus.FORBIDDEN,
            )

    def _admit_app(self, payload: Payload, *, required: bool) -> None:
        app = as_text(payload.get("api_app_id"))
        if not self.app_id or app == self.app_id or not (app or required):
            return
        raise CallbackError(
            f"Slack callback refused: it is for app {_quote_id(app)}, "
            f"not {_quote_id(self.app_id)}; see slack.app_id",
            status=HTTPStatus.FORBIDDEN,
        )


def _installed_team(payload: Payload) -> str:
    """The workspace that the app of a view is installed in; only views say so."""
    return as_text(as_object(payload.get("view")).get("app_installed_team_id"))


def _id(value: Any) -> str:
    return as_text(as_object(value).get("id"))


def _quote_id(text: str) -> str:
    """The id for an error message, unless it only pretends to be one."""
    return text if _ID.fullmatch(text) else "unknown"


# docs.slack.dev, the user object. Each of them must be said, and said to be false.
_FLAGS = {
    "deleted": "the account is deactivated",
    "is_bot": "the account is a bot's",
    "is_ultra_restricted": "a guest of one channel",
    "is_restricted": "a guest",
}


def explain_non_member(user: Payload, team_id: str) -> str:
    """Return the reason that somebody does not count as a member of a group, or nothing.

    A member is a person of this workspace or organisation. What Slack does not
    say is not taken for granted.
    """
    for flag, why in _FLAGS.items():
        if user.get(flag) is not False:
            return why if user.get(flag) else f"Slack does not say {flag} of the account"
    if user.get("is_stranger") or not is_home_of(user, team_id):
        return "somebody of another workspace"
    return ""


def is_home_of(user: Payload, team_id: str) -> bool:
    """Return True if the workspace or the organisation is the user's."""
    enterprise = as_object(user.get("enterprise_user"))
    teams = enterprise.get("teams")
    homes = [
        as_text(user.get("team_id")),
        as_text(enterprise.get("enterprise_id")),
        *(teams if isinstance(teams, list) else ()),
    ]
    return bool(team_id) and team_id in homes
