"""What requests put on their cards, made once; that of a large one is made beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from gettext import NullTranslations
from typing import TypeAlias

from sayso.cards.card import CardBody
from sayso.events import UserInputRequest
from sayso.locales import locale_of
from sayso.questions.large import is_large

KEPT_BODIES = 8_192
_SMALL_CHARACTERS = 4_000
_KEPT_CHARACTERS = 4_000_000

Which: TypeAlias = tuple[str, datetime, str]
Said: TypeAlias = tuple[Which, str]


def which(request: UserInputRequest) -> Which:
    """What tells a request from a later one of the same id."""
    return request.question_id, request.expires_at, request.digest_of_arguments


def said(request: UserInputRequest, translations: NullTranslations) -> Said:
    """What tells what a request puts on its card from the same in another language."""
    return which(request), locale_of(translations)


class Bodies:
    """Keeps the newest few thousand small bodies, and large ones up to some millions of characters.

    They never change, and are wanted several times, each in one language. An id alone names none:
    once its record is gone, another request may have it.
    """

    def __init__(self, make: Callable[[UserInputRequest, NullTranslations], CardBody]) -> None:
        self._make = make
        self._small: dict[Said, CardBody] = {}
        self._large: dict[Said, CardBody] = {}
        self._characters = 0
        self._one_at_a_time = asyncio.Lock()

    async def prepare(self, request: UserInputRequest, translations: NullTranslations) -> None:
        """See that ``of`` has no work that others would notice."""
        wanted = said(request, translations)
        if self._known(wanted) is not None or not is_large(request):
            return
        async with self._one_at_a_time:
            if self._known(wanted) is None:
                self._keep(wanted, await asyncio.to_thread(self._make, request, translations))

    def of(self, request: UserInputRequest, translations: NullTranslations) -> CardBody:
        """What the request puts on its card in these words."""
        wanted = said(request, translations)
        body = self._known(wanted)
        if body is None:
            body = self._make(request, translations)
            self._keep(wanted, body)
        return body

    def has_small(self, request: UserInputRequest, translations: NullTranslations) -> bool:
        """Whether the request is one of the newest small ones in these words."""
        return said(request, translations) in self._small

    def _known(self, wanted: Said) -> CardBody | None:
        return self._small.get(wanted) or self._large.get(wanted)

    def _keep(self, wanted: Said, body: CardBody) -> None:
        if len(body.content) <= _SMALL_CHARACTERS:
            self._small[wanted] = body
            if len(self._small) > KEPT_BODIES:
                del self._small[next(iter(self._small))]
            return
        self._large[wanted] = body
        self._characters += _length(body)
        while self._characters > _KEPT_CHARACTERS and len(self._large) > 1:
            self._characters -= _length(self._large.pop(next(iter(self._large))))


def _length(body: CardBody) -> int:
    return len(body.content) + len(body.description)
