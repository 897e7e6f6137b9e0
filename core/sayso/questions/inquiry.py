"""What every question that is not a call has in common, those of your own included."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from sayso.events import Resolution, UserInputRequest

_Request = TypeVar("_Request", bound=UserInputRequest)
_Result = TypeVar("_Result", covariant=True)


class Question(Protocol[_Request, _Result]):
    """A question that is not a call: Clarify, ApproveText, Collect, Continue, or one of your own.

    Yours is a subclass that makes its request, for ``sayso.Gate.ask`` and
    ``sayso.Gate.submit``.
    """

    __slots__ = ()

    def request(self, question_id: str, fields: dict[str, Any]) -> _Request:
        """The request with this id; ``fields`` are those that every request has."""
        ...

    def result(self, request: _Request, ending: Resolution) -> _Result:
        """What the ending means for the agent: what the request says of it, unless you say more.

        That nobody answered is a result with that outcome, not an exception.
        """
        said: _Result = request.result(ending)
        return said
