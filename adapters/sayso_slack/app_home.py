"""Lists for one person: the App Home, the answer to ``/approvals``, and *Revoke*."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from gettext import NullTranslations
from typing import Any
from weakref import WeakValueDictionary

from sayso.cards.called import Called
from sayso.cards.gist import alert
from sayso.cards.outcomes import outcome_by
from sayso.cards.plain_text import OUTCOME_ICONS
from sayso.chats.adapter import PressTaker
from sayso.chats.caller import Waiting
from sayso.chats.incoming import NotTaken, handed
from sayso.chats.overview import Decided, Overview, Remembered
from sayso.chats.places import Place
from sayso.errors import CallbackError, DeliveryError
from sayso.formats import formats_of
from sayso.locales import load_translations
from sayso.seldom import Seldom
from sayso.tasks import Background
from sayso.text.visible import format_count, one_line
from sayso_slack.blocks import UNPARSED
from sayso_slack.callback_guard import Payload, as_object, as_text
from sayso_slack.errors import PLATFORM
from sayso_slack.fallback_text import escape_text
from sayso_slack.interactions import USER, parse_actor
from sayso_slack.value_blocks import (
    Block,
    build_mentions,
    code,
    context,
    literal,
    moment,
    plain_text,
    quote,
    rich_text,
    section,
)

_TITLE, _ASKER, _LINK = 80, 80, 1_000
_TEXT = 1_000


def reminder_message(
    heading: str,
    waiting: Sequence[Waiting],
    called: Sequence[Called],
    translations: NullTranslations,
) -> dict[str, Any]:
    """Build a message that says that these wait; only the called are mentioned."""
    lead = section(literal(f"{heading}", bold=True), *build_mentions(called))
    blocks = [rich_text(lead, *pending_lines(waiting, translations))]
    return {"text": escape_text(_in_words(heading, waiting), _TEXT), "blocks": blocks, **UNPARSED}


def _in_words(heading: str, waiting: Sequence[Waiting]) -> str:
    """Put the questions first, for a lock screen, and then that they wait."""
    said = [alert(one.asker, one.title, one.matters) for one in waiting]
    return "\n".join((*said, heading))


def pending_lines(waiting: Sequence[Waiting], translations: NullTranslations) -> Iterator[Block]:
    """A line for each: what an agent wrote is literal, and set apart by a bar."""
    for one in waiting:
        yield {"type": "rich_text_quote", "elements": list(_line(one, translations))}


def _line(one: Waiting, translations: NullTranslations) -> Iterator[Block]:
    yield literal(one_line(one.title, _TITLE), bold=True)
    if one.matters:
        yield literal(" ")
        yield code(one_line(one.matters, _TITLE))
    asked_by, expires = translations.gettext("asked by"), translations.gettext("expires")
    yield literal(f" · {asked_by} {one_line(one.asker, _ASKER)} · {expires} ")
    yield moment(one.expires_at, translations)
    if one.link and len(one.link) <= _LINK:
        yield literal(" · ")
        yield {"type": "link", "url": one.link, "text": translations.gettext("Open the card")}


REVOKE = "sayso-home:revoke"
LONGEST_ID = 100

_MOST = 20
_TITLE, _WHAT, _WHO, _SAID = 80, 120, 80, 300


def waiting_message(overview: Overview, translations: NullTranslations) -> dict[str, Any]:
    """The answer to a slash command, shown to whoever gave it and to nobody else."""
    heading = translations.gettext("Nothing waits for you.")
    if overview.waiting:
        heading = translations.gettext("Waiting for you")
    blocks = [rich_text(section(literal(heading, bold=True))), *_waiting(overview, translations)]
    return {"response_type": "ephemeral", "text": heading, "blocks": blocks, **UNPARSED}


def home(overview: Overview, translations: NullTranslations, *, said: str = "") -> dict[str, Any]:
    """The App Home of one person; ``said`` is what became of their last press there."""
    blocks = [context(plain_text(one_line(said, _SAID)))] if said else []
    blocks.append(_header(translations.gettext("Waiting for you")))
    blocks += _waiting(overview, translations) or _nothing(
        translations.gettext("Nothing waits for you.")
    )
    blocks.append(_header(translations.gettext("Your rules")))
    blocks += _rules(overview, translations) or _nothing(
        translations.gettext("No rule of yours is remembered.")
    )
    blocks.append(_header(translations.gettext("Last decisions")))
    blocks += _decisions(overview.decisions, translations) or _nothing(
        translations.gettext("Nothing was decided yet.")
    )
    return {"type": "home", "blocks": blocks}


def _nothing(text: str) -> list[Block]:
    return [context(plain_text(text))]


def _header(text: str) -> Block:
    return {"type": "header", "text": plain_text(text)}


def _waiting(overview: Overview, translations: NullTranslations) -> list[Block]:
    if not overview.waiting:
        return []
    shown = overview.waiting[:_MOST]
    blocks = [rich_text(*pending_lines(shown, translations))]
    if more := overview.more_waiting + len(overview.waiting) - len(shown):
        blocks.append(
            context(
                plain_text(
                    format_count(
                        translations,
                        "{count} more question waits",
                        "{count} more questions wait",
                        more,
                    )
                )
            )
        )
    return blocks


def _rules(overview: Overview, translations: NullTranslations) -> list[Block]:
    shown = overview.rules[:_MOST]
    blocks = [block for rule in shown for block in _rule(rule, translations)]
    if more := overview.more_rules + len(overview.rules) - len(shown):
        blocks.append(
            context(
                plain_text(
                    format_count(
                        translations,
                        "{count} more rule is kept",
                        "{count} more rules are kept",
                        more,
                    )
                )
            )
        )
    return blocks


def _rule(rule: Remembered, translations: NullTranslations) -> Iterator[Block]:
    effect = translations.gettext("Allows") if rule.allows else translations.gettext("Denies")
    what = one_line(rule.what, _WHAT) if rule.what else translations.gettext("with any arguments")
    of_agent = translations.gettext("of agent")
    stored_by, until = translations.gettext("stored by"), translations.gettext("until")
    yield rich_text(
        section(literal(f"{'✅' if rule.allows else '⛔'} {effect}", bold=True)),
        quote(
            literal(one_line(rule.tool, _TITLE), bold=True),
            literal(f" · {what}\n"),
            literal(f"{of_agent} {one_line(rule.agent, _WHO)} · "),
            literal(f"{stored_by} {one_line(rule.stored_by, _WHO)} · {until} "),
            _until(rule.expires_at, translations),
        ),
    )
    if len(rule.rule_id) <= LONGEST_ID:
        yield {"type": "actions", "elements": [_revoke(rule, translations)]}


def _revoke(rule: Remembered, translations: NullTranslations) -> Block:
    """docs.slack.dev, confirmation dialog: title 100, text 300, confirm and deny 30."""
    revoke_really = translations.gettext("From now on people are asked again about such calls.")
    return {
        "type": "button",
        "action_id": REVOKE,
        "value": rule.rule_id,
        "text": plain_text(translations.gettext("Revoke")),
        "style": "danger",
        "confirm": {
            "title": plain_text(translations.gettext("Revoke")),
            "text": plain_text(f"{one_line(rule.tool, _TITLE)}: {revoke_really}"),
            "confirm": plain_text(translations.gettext("Revoke")),
            "deny": plain_text(translations.gettext("Keep it")),
        },
    }


def _decisions(decisions: Sequence[Decided], translations: NullTranslations) -> list[Block]:
    of_agent = translations.gettext("of agent")
    pending_lines = [
        quote(
            literal(f"{OUTCOME_ICONS.get(one.outcome, '•')} "),
            literal(one_line(one.subject, _TITLE), bold=True),
            literal(f" · {of_agent} {one_line(one.agent, _WHO)} · "),
            literal(f"{_outcome(one, translations)} · "),
            _until(one.at, translations),
        )
        for one in decisions[:_MOST]
    ]
    return [rich_text(*pending_lines)] if pending_lines else []


def _outcome(one: Decided, translations: NullTranslations) -> str:
    return outcome_by(translations, one.outcome, one_line(one.by, _WHO) if one.by else "")


def _until(at: datetime, translations: NullTranslations) -> Block:
    return (
        moment(at, translations)
        if at.timestamp() > 0
        else literal(formats_of(translations).time(at))
    )


_log = logging.getLogger(__name__)

_MOST_AT_ONCE = 200
HOME = "home"


class Lists:
    """Shows people what waits for them, and takes back rules. Callbacks are verified before.

    A home is published beside the answer, one at a time for each person.
    """

    def __init__(
        self,
        post: Callable[[str, Payload], Awaitable[object]],
        desk: PressTaker,
        homes: Background,
        *,
        seconds: float,
    ) -> None:
        self._post = post
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
        actor = parse_actor(payload)
        work = self._desk.revoke(actor, rule_id, Place(PLATFORM, HOME))
        answer = await handed(work, what="a revocation in Slack", seconds=self._seconds)
        if isinstance(answer, NotTaken):
            return answer
        self.publish_home(actor, said=answer.text)
        return None

    def publish_home(self, actor: str, *, said: str = "") -> None:
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
                await self._post("views.publish", {"user_id": user, "view": view})
            except (CallbackError, DeliveryError) as error:
                self._untold.say(f"an App Home is not shown: {error}", actor)


def identify_command(command: Payload) -> Payload:
    """Return the workspace and the app of a command in the form that presses name them.

    docs.slack.dev, slash commands: flat fields, none of them called type.

    Raises:
        CallbackError: it also claims to be something else.
    """
    if "type" in command:
        raise CallbackError("Slack callback is a command and something else besides")
    return {
        "api_app_id": command.get("api_app_id"),
        "team": {"id": command.get("team_id")},
        "enterprise": {"id": command.get("enterprise_id")},
        "user": {"id": command.get("user_id")},
    }


def find_revoked_rule(payload: Payload) -> str:
    """Which rule somebody wants to take back; empty where it is another press."""
    if payload.get("type") != "block_actions":
        return ""
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
