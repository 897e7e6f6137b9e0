"""Updates on their way to the desk: what is stored may be forgotten by Telegram, nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable
from typing import Any

from sayso.chats.adapter import PressTaker
from sayso.chats.places import Answer, Answered, Press
from sayso.errors import CallbackError, StoreUnreachableError
from sayso_telegram.forms.dialogues import Dialogues
from sayso_telegram.people import People
from sayso_telegram.reading.replies import Reply
from sayso_telegram.reading.updates import Barred, FormPress, Moved, Nothing, read_update
from sayso_telegram.taken import Taken
from sayso_telegram.toasts import Toast

_log = logging.getLogger(__name__)

# Telegram waits 60 s for a webhook's answer and about 15 s for the presser's.
DESK_SECONDS = 10.0
_ALERTS = (Answered.REFUSED, Answered.LATE, Answered.UNKNOWN, Answered.UNHEARD)
_TOO_LONG = "the desk took too long"
_NOT_STORED = "Not recorded: the store cannot be reached. Trying again for two minutes."
_SEEN_BEFORE = "This press was taken before."
_NOT_OURS = "This button does nothing here."


class Intake:
    """Hands presses and moves to the desk, replies to their dialogues; for webhook and polling.

    ``counters`` says how many updates came to which end.
    """

    def __init__(
        self,
        desk: PressTaker,
        dialogues: Dialogues,
        people: People,
        counters: Counter[str],
        *,
        desk_seconds: float = DESK_SECONDS,
    ) -> None:
        self._desk = desk
        self._dialogues = dialogues
        self._people = people
        self._desk_seconds = desk_seconds
        self.counters = counters

    async def take(self, update: Any) -> Taken:
        """Act on an update. Never raises; an update that cannot be read counts as stored."""
        found = read_update(update)
        if isinstance(found, Press):
            self._people.heard(*presser_of(update))
            return await self._press(found)
        if isinstance(found, FormPress):
            failed = Taken(stored=False, toast=Toast(found.query_id, _NOT_STORED, alert=True))
            return await self._form(self._dialogues.press(found), failed)
        if isinstance(found, Reply):
            return await self._form(self._dialogues.reply(found), Taken(stored=False))
        if isinstance(found, Moved):
            return await self._moved(found)
        if isinstance(found, Barred):
            self.counters["barred"] += 1
            _log.warning("the bot was blocked in or removed from %s: no cards there", found.place)
            return Taken(stored=True)
        return self._nothing(found, update)

    async def _press(self, press: Press) -> Taken:
        answer: Answer | None = None
        try:
            async with asyncio.timeout(self._desk_seconds):
                answer = await self._desk.press(press)
        except CallbackError:
            self.counters["seen_before"] += 1
            return Taken(stored=True, toast=Toast(press.ticket, _SEEN_BEFORE))
        except (StoreUnreachableError, TimeoutError) as error:
            _log.warning("a press is not stored yet: %s", str(error) or _TOO_LONG)
        except Exception:
            _log.exception("a press is not stored yet: the desk failed")
        if answer is None:
            self.counters["not_stored"] += 1
            return Taken(stored=False, toast=Toast(press.ticket, _NOT_STORED, alert=True))
        self.counters[answer.kind.value] += 1
        alert = answer.kind in _ALERTS
        return Taken(stored=True, toast=Toast(press.ticket, answer.text, alert))

    async def _form(self, work: Awaitable[Taken], failed: Taken) -> Taken:
        try:
            async with asyncio.timeout(self._desk_seconds):
                return await work
        except (StoreUnreachableError, TimeoutError) as error:
            _log.warning("a form does not go on yet: %s", str(error) or _TOO_LONG)
        except Exception:
            _log.exception("a form does not go on yet: the desk failed")
        self.counters["not_stored"] += 1
        return failed

    async def _moved(self, moved: Moved) -> Taken:
        stored = False
        try:
            async with asyncio.timeout(self._desk_seconds):
                await self._desk.moved(moved.old, moved.new)
                stored = True
        except (StoreUnreachableError, TimeoutError) as error:
            _log.warning("a moved chat is not noted yet: %s", str(error) or _TOO_LONG)
        except Exception:
            _log.exception("a moved chat is not noted yet: the desk failed")
        self.counters["moved" if stored else "not_stored"] += 1
        return Taken(stored=stored)

    def _nothing(self, nothing: Nothing, update: Any) -> Taken:
        self.counters[nothing.reason] += 1
        if nothing.reason != "not_a_press":
            # The id only: nobody vouches for the rest.
            _log.info("update %s is not acted on: %s", update_id(update), nothing.reason)
        toast = Toast(nothing.query_id, _NOT_OURS, alert=True) if nothing.query_id else None
        return Taken(stored=True, toast=toast)


def presser_of(update: Any) -> tuple[int, Any]:
    """Who made the press in this update, by number and name."""
    sender = update["callback_query"]["from"]
    return sender["id"], sender.get("first_name")


def update_id(update: Any) -> int | None:
    """The number of the update, if it has one."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if type(number) is int else None
