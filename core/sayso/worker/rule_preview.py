"""Preview of a rule: the number of the last calls of a session that it would have decided."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from gettext import NullTranslations

from sayso.calls import ToolCall
from sayso.errors import StoreUnreachableError
from sayso.events import UserInputRequest
from sayso.questions.permission import PermissionRequestEvent, call_of
from sayso.rules.rule import RememberedRule, Rule
from sayso.seldom import Seldom
from sayso.stores.protocols import RequestStore

_log = logging.getLogger(__name__)

LAST_CALLS = 10
"""So many calls are looked at: those that the session asked about before this one, the newest."""

# Of one call, nothing could be told that the card does not show.
_FEWEST = 2
_SECONDS = 1.0


class RulePreview:
    """Says what a rule would have done, in one look and beside the loop; nothing hangs on it.

    Counted are the last calls that the session asked people about, however they were
    decided, as far as the store still knows them; not the one on the card, nor what
    rules and policies decided. They are held against the rule as they were called: what
    cards hide of them changes nothing.
    """

    def __init__(self, watch: RequestStore) -> None:
        self._watch = watch
        self._missing = Seldom(_log)

    async def told(
        self, request: UserInputRequest, kept: RememberedRule | None, translations: NullTranslations
    ) -> str:
        """What the rule would have decided of the last calls, in words; empty where too few."""
        if kept is None:
            return ""
        try:
            async with asyncio.timeout(_SECONDS):
                asked = await self._watch.list_recent(request.run)
        except (StoreUnreachableError, TimeoutError) as error:
            self._missing.say(f"what a rule would have saved is not said: {error}")
            return ""
        calls = _calls(asked, request)
        if len(calls) < _FEWEST:
            return ""
        count = await asyncio.to_thread(_covered, kept.rule, calls)
        said = (
            translations.gettext(
                "It would have denied {count} of the last {all} calls of this session"
            )
            if kept.effect == "deny"
            else translations.gettext(
                "It would have allowed {count} of the last {all} calls of this session"
            )
        )
        return said.format(count=count, all=len(calls))


def _calls(asked: Sequence[UserInputRequest], request: UserInputRequest) -> list[ToolCall]:
    others = (
        one
        for one in asked
        if isinstance(one, PermissionRequestEvent) and one.question_id != request.question_id
    )
    return [_as_called(one) for one, _ in zip(others, range(LAST_CALLS), strict=False)]


def _as_called(request: PermissionRequestEvent) -> ToolCall:
    # The agent's files are not those of this machine: its paths are compared as they are written.
    folder = request.folder and replace(request.folder, seen=False)
    return replace(call_of(request), folder=folder)


def _covered(rule: Rule, calls: Sequence[ToolCall]) -> int:
    return sum(map(rule.matches, calls))
