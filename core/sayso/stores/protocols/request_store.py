"""Request store: requests, their resolutions, and approvals that are used once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sayso.calls import RunRef
from sayso.errors import UnreadableEventError
from sayso.events import Resolution, UserInputRequest
from sayso.rules.rule import RememberedRule
from sayso.stores.protocols.card_messages import Copy, Use, Went
from sayso.stores.protocols.rule_store import BookChanged, Revoked

LONGEST_KEY = 1_024
"""How many characters a key has at most."""

MOST_ASKED_LAST = 20
"""So many of a session's questions are known to be its last ones."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A request is in the store; ``seconds`` are left by the store's clock.

    ``at`` is what that clock showed, in Unix seconds.
    """

    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class Settled:
    """The ending that counts.

    ``first`` says that it is the one just offered. ``heard`` counts the
    processes that were told of it: 0 means that nobody waits right now.
    ``forbidden`` says that it was recorded instead of the one just offered,
    because a rule forbids what that would have approved.
    """

    ending: Resolution
    first: bool
    heard: int = 0
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """All that the store knows of one request.

    ``request.expires_at`` and the ``seconds_left`` until then are by the store's clock,
    and so are ``opened_at`` and ``ended_at``, which records of before that was kept lack.
    ``overruled`` is the approval whose place the ending took; ``use`` is what became of an
    approval, where that is told, and ``revoked`` who took back what its ending stored.
    """

    request: UserInputRequest
    ending: Resolution | None = None
    copies: tuple[Copy, ...] = ()
    seconds_left: float = 0.0
    overruled: Resolution | None = None
    opened_at: datetime | None = None
    ended_at: datetime | None = None
    use: Use | None = None
    revoked: Revoked | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Nothing was opened: this was asked under the key before."""

    record: Record


@dataclass(frozen=True, slots=True)
class Hold:
    """Who counts on a request: a waiter of the process behind an inbox, until it leaves.

    Without an inbox the request is held for good, by whoever comes back for it later.
    """

    waiter: str = ""
    inbox: str = ""


def check_key(key: str) -> str:
    """The key, if it can be one: any text that is not empty and not too long.

    Raises:
        ValueError: it cannot.
    """
    if not 0 < len(key) <= LONGEST_KEY:
        raise ValueError(f"a key has 1 to {LONGEST_KEY:,} characters, not {len(key):,}")
    try:
        key.encode()
    except UnicodeEncodeError:
        raise ValueError("a key must be valid Unicode") from None
    return key


class RequestStore(Protocol):
    """Requests and their endings. The first ending wins, whoever offers one and however often.

    Every method raises StoreUnreachableError when the store does not answer
    within seconds; then nothing was approved.
    """

    async def open(
        self,
        request: UserInputRequest,
        *,
        seconds: float,
        inbox: str,
        book: str | None,
        ending: Resolution | None = None,
        key: str = "",
        audited: bool = True,
    ) -> Opened | BookChanged | Joined:
        """Record the request, put it in the outbox and ring ``inbox`` at its end; one atomic step.

        Whoever follows the run's branch on the bus is told of the request, once.

        The request expires ``seconds`` from now by the store's clock. An empty
        ``inbox`` is not rung. ``book`` is the version of the session's rules
        that the asker knows; when it is not the current one, nothing is
        opened; None opens whatever they are. With it the asker promises that the call, as it is
        asked about, was held against all that denies it. Repeating the same request
        changes nothing; after its end the inbox is rung at once. What needs
        nobody is recorded with its ``ending``: it is never open, and never shown, and it is
        not in the audit unless it is to be ``audited``.

        Under a ``key`` a session asks once: another request joins the one that
        was asked under it, whatever the rules are by now. Whoever opens it holds it, and
        so does who joins, see ``get_by_key``: as the waiter of its own id behind the inbox. Who
        joins without an inbox holds nothing yet: only what is found to be the same call is
        to be held for good.

        Raises:
            IdempotencyConflictError: another request has this id.
            RequestUnansweredError: its agent, or the token it came with, has as many open requests
                as the desks allow, see ``Outbox.heartbeat``; nothing was opened.
            ValueError: the request has no run.
        """
        ...

    async def settle(
        self,
        question_id: str,
        ending: Resolution,
        *,
        remember: RememberedRule | None = None,
    ) -> Settled:
        """Record the ending and the rule, then tell those who wait; one atomic step.

        Whoever follows the run's branch on the bus is told of what was recorded, once.
        What approves a call is held against the rules that count in this very
        step, by ``UserInputRequest.ruled``: where they forbid the call, that
        denial is recorded in its place, and nothing is remembered.

        After the request's expiry only its expiry is recorded; before it, an
        expiry is not. Who ends a request leaves a job in the outbox.

        Raises:
            RequestNotFoundError: no such request.
            UnreadableEventError: it approves a request of a kind that is not known here.
            ValueError: the rule is for a project, and the request names none.
        """
        ...

    async def settle_later(
        self, question_id: str, ending: Resolution, *, seconds: float
    ) -> Resolution | None:
        """Let the request end with this in so many seconds, or when its own time is over.

        Until then another refusal can take its place, an approval or an answer
        cannot: whoever offers one ends the request with what was foreseen. The
        first ending that is foreseen counts. Answers how the request has ended
        already, None while it is open.

        Raises:
            RequestNotFoundError: no such request.
            ValueError: it approves a call, which a rule may forbid by then.
        """
        ...

    async def overrule(self, question_id: str, denial: Resolution) -> Resolution:
        """Put a denial in the place of a recorded approval of a call; one atomic step.

        An agent denies what its policy denies by the time the call is to run,
        and then nobody may go on hearing that it was approved: cards, observers
        and the audit are told. Nothing else can be overruled, and nothing
        twice. Answers the ending that counts.

        Raises:
            RequestNotFoundError: no such request.
            ValueError: it is still open, or the denial approves a call.
        """
        ...

    async def get(self, question_id: str) -> Record | None:
        """All that is known of the request, None when there is no such request."""
        ...

    async def get_by_key(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key; None where there is none.

        A key leads to its request for as long as that is known. It leads nowhere
        again once all that waited for the request have left it without an answer.
        In the same step it is held, while it is open.
        """
        ...

    async def release_hold(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it.

        One atomic step: True where the request ended with it, and its key is free
        again. A hold whose process is gone does not count. Repeating it changes nothing.
        """
        ...

    async def poll(
        self, question_ids: Sequence[str], *, inbox: str
    ) -> Mapping[str, Resolution | UnreadableEventError | None]:
        """The endings recorded so far, None for open requests; unknown ids are left out.

        From this moment on the inbox is rung for each of the open ones. An
        ending of a kind that is not known here is the error that says so.
        """
        ...

    async def expire_due(self) -> float | None:
        """End all requests whose time is over; the seconds until the next one, None without one."""
        ...

    async def shorten_deadline(self, question_id: str, seconds: float) -> datetime:
        """Let the request expire in so many seconds unless it does so earlier; when it expires.

        Raises:
            RequestNotFoundError: no such request.
        """
        ...

    async def list_recent(self, run: RunRef) -> Sequence[UserInputRequest]:
        """What the run's session asked people last, the newest first, as far as it is known.

        At most ``MOST_ASKED_LAST``, without those of unknown kinds; what needed nobody is
        not among them.
        """
        ...

    async def list_requests(self, run: RunRef | None = None) -> Sequence[Record]:
        """The open requests, the first to expire first; without those of unknown kinds.

        With a run, those of its session.
        """
        ...

    async def consume_approval(self, question_id: str, key: str, *, until: datetime) -> Use | None:
        """Use an approval, once: one atomic step. Answers the use that counts, this or another.

        None where there is none to be had: at ``until`` by the store's clock it
        is over, and nothing but an approval of a call is used.
        """
        ...

    async def report_outcome(self, question_id: str, went: Went, note: str = "") -> Use | None:
        """Record how the call went; the first report counts. None where it was not used.

        Raises:
            RequestNotFoundError: no such request.
        """
        ...
