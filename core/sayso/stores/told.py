"""What only the store tells: what was asked, and how it ended."""

from __future__ import annotations

from sayso.errors import RequestUnansweredError
from sayso.events import NO_RUN, Event, Outcome, OutcomeEvent, Resolution, UserInputRequest
from sayso.questions.kinds import kind
from sayso.stores.topics import BRANCH, INBOX


def refuse_made_up(topic: str, event: Event) -> None:
    """See that an event on a topic of the store's is none that the store alone may tell.

    Raises:
        ValueError: it asks something, ends a question, or says how one ended.
    """
    if topic.startswith(INBOX):
        raise ValueError("only the store rings an inbox")
    if not topic.startswith(BRANCH):
        return
    # In another process the event is whatever its type says.
    known = kind(str(getattr(event, "type", ""))) or type(event)
    made_up = [found for found in (type(event), known) if issubclass(found, _OURS)]
    if made_up:
        raise ValueError(
            f"a {made_up[0].__name__} is told by the store alone: open a request, "
            "or answer it with respond()"
        )


def refuse_unfilled(request: UserInputRequest) -> None:
    """See that a request says whose it is.

    Raises:
        ValueError: it has no run.
    """
    if request.run == NO_RUN:
        raise ValueError("a request without a run is of no session: send it with Gate.emit")


def build_full_error(request: UserInputRequest, kind: str, most: int) -> RequestUnansweredError:
    """Say whose open requests are as many as the server allows: an agent's or a token's."""
    name = request.filed_by if kind == "token" else request.run.agent_id
    reason = (
        f"{kind} {name!r:.80} has as many open requests as the server allows, {most} "
        f"(open_per_{kind} in its [limits]); try again when some have ended"
    )
    return RequestUnansweredError(request.question_id, Outcome.UNDELIVERABLE.value, reason)


_OURS = (UserInputRequest, Resolution, OutcomeEvent)
