"""What is kept of a run that was put aside: it is read again, and its answers are waited for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from sayso.agent.batch import SubmittedCall
from sayso.agent.timeouts import Timeout
from sayso.agent.verdict import PendingResult
from sayso.calls import RunRef
from sayso.errors import WaitTimeoutError
from sayso_agents.calls import Said, said_of

if TYPE_CHECKING:
    from sayso import Gate

__all__ = ["answers", "read"]

_T = TypeVar("_T")


def read(kept: str, form: TypeAdapter[_T]) -> _T:
    """What a door wrote.

    Raises:
        ValueError: it is something else.
    """
    try:
        return form.validate_json(kept)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        raise ValueError(f"this is not what submit gave: {problems[0]['msg']}") from None


async def answers(
    sayso: Gate, run: RunRef, submitted: Sequence[SubmittedCall], timeout: Timeout
) -> list[Said]:
    """Wait for what comes of each of the calls.

    Raises:
        WaitTimeoutError: ``timeout`` is over and a question is still open.
        RequestNotFoundError, StoreUnreachableError: as for ``Gate.resume``.
    """
    said = []
    verdicts = await sayso.for_session(run).resume_batch(submitted, timeout=timeout)
    for one, verdict in zip(submitted, verdicts, strict=True):
        if isinstance(verdict, PendingResult):
            raise WaitTimeoutError(f"nobody has answered {verdict.permission_id} yet")
        said.append(said_of(verdict, one.call))
    return said
