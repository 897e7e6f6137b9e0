"""Lists for one person: a slash command, the App Home, and *Revoke* on it."""

from __future__ import annotations

import asyncio
import logging
from weakref import WeakValueDictionary

from sayso.chats.adapter import PressTaker
from sayso.chats.incoming import NotTaken, handed
from sayso.chats.places import Place
from sayso.errors import CallbackError, DeliveryError
from sayso.locales import load_translations
from sayso.seldom import Seldom
from sayso.tasks import Background
from sayso_slack.adapter import SlackAdapter
from sayso_slack.callback_guard import Payload, as_object, as_text
from sayso_slack.failures import PLATFORM
from sayso_slack.incoming.presses import USER, actor_of
from sayso_slack.lists.overview import LONGEST_ID, REVOKE, home, waiting_message

_log = logging.getLogger(__name__)

_MOST_AT_ONCE = 200
HOME = "home"


class Lists:
    """Shows people what waits for them, and takes back rules. Callbacks are verified before.

    A home is published beside the answer, one at a time for each person.
    """

    def __init__(
        self, adapter: SlackAdapter, desk: PressTaker, homes: Background, *, seconds: float
    ) -> None:
        self._adapter = adapter
        self._desk = desk
        self._homes = homes
        self._seconds = seconds
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._untold = Seldom(_log)

    async def command(self, payload: Payload) -> Payload:
        """The answer to a slash command: what waits for whoever gave it, for their eyes only."""
        place = Place(PLATFORM, as_text(payload.get("channel_id")))
        work = self._desk.overview(_commander(payload), place, whole=False)
        found = await handed(work, what="a command in Slack", seconds=self._seconds)
        if isinstance(found, NotTaken):
            said = load_translations(self._desk.language(place)).gettext(
                "This cannot be told right now. Try again in a moment."
            )
            return {"response_type": "ephemeral", "text": said}
        return waiting_message(found, load_translations(found.language))

    async def revoke(self, payload: Payload, rule_id: str) -> NotTaken | None:
        """Take back a rule, and show the home without it; why nothing was done, if that is so."""
        actor = actor_of(payload)
        work = self._desk.revoke(actor, rule_id, Place(PLATFORM, HOME))
        answer = await handed(work, what="a revocation in Slack", seconds=self._seconds)
        if isinstance(answer, NotTaken):
            return answer
        self.opened(actor, said=answer.text)
        return None

    def opened(self, actor: str, *, said: str = "") -> None:
        """Show somebody their home as it is now."""
        if len(self._homes) >= _MOST_AT_ONCE:
            self._untold.say("an App Home is not shown: too many are asked for", actor)
            return
        self._homes.start(self._publish(actor, said))

    async def _publish(self, actor: str, said: str) -> None:
        # What is looked up last is shown last.
        async with self._locks.setdefault(actor, asyncio.Lock()):
            try:
                work = self._desk.overview(actor, Place(PLATFORM, HOME))
                found = await handed(work, what="an App Home in Slack", seconds=self._seconds)
                if isinstance(found, NotTaken):
                    return
                view = home(found, load_translations(found.language), said=said)
                user = actor.removeprefix(f"{PLATFORM}:")
                await self._adapter.post("views.publish", {"user_id": user, "view": view})
            except (CallbackError, DeliveryError) as error:
                self._untold.say(f"an App Home is not shown: {error}", actor)


def is_command(payload: Payload) -> bool:
    """Whether somebody gave a slash command of the app; docs.slack.dev: flat fields, no type."""
    return "type" not in payload and as_text(payload.get("command")).startswith("/")


def admissible(command: Payload) -> Payload:
    """What a command says of its workspace and its app, as presses say it."""
    return {
        "api_app_id": command.get("api_app_id"),
        "team": {"id": command.get("team_id")},
        "enterprise": {"id": command.get("enterprise_id")},
        "user": {"id": command.get("user_id")},
    }


def revoked_rule(payload: Payload) -> str:
    """Which rule somebody wants to take back; empty where it is another press."""
    actions = payload.get("actions")
    action = as_object(actions[0]) if isinstance(actions, list) and len(actions) == 1 else {}
    is_home = as_object(payload.get("view")).get("type") == HOME
    rule_id = as_text(action.get("value"))
    is_ours = action.get("type") == "button" and action.get("action_id") == REVOKE
    return rule_id if is_home and is_ours and len(rule_id) <= LONGEST_ID else ""


def _commander(payload: Payload) -> str:
    user = as_text(payload.get("user_id"))
    if not USER.fullmatch(user):
        raise CallbackError("Slack command does not say who gave it")
    return f"{PLATFORM}:{user}"
