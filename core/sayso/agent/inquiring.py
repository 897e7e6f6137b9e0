"""The questions of a gate that are no calls: asked at once, or submitted and resumed later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from pydantic import BaseModel

from sayso.agent.asking import Asking, Options
from sayso.agent.verdict import Verdict
from sayso.calls import new_id
from sayso.errors import WrongQuestionError
from sayso.events import RequestEnding, UserInputRequest
from sayso.questions.permission import PermissionRequestEvent

# Most runs ask for permissions only: each kind of question is loaded when it is first asked.
if TYPE_CHECKING:
    from sayso.questions.clarification import Clarification
    from sayso.questions.continuation import Continuation
    from sayso.questions.structured_input import Collected
    from sayso.questions.text_approval import TextApproval

_Model = TypeVar("_Model", bound=BaseModel)
_Timeout = float | timedelta | None


_Request = TypeVar("_Request", bound=UserInputRequest)
_Asked = TypeVar("_Asked", bound=UserInputRequest, covariant=True)


class Inquiry(Protocol[_Asked]):
    """A question that is no call: Clarify, ApproveText, Collect, Continue, or one of your own."""

    def request(self, question_id: str, fields: dict[str, Any]) -> _Asked:
        """The request with this id; ``fields`` are those that every request has."""
        ...


class Inquiring:
    """The half of a gate that asks what is no call. Always asks, whatever the policy.

    That nobody answered (expired, cancelled, undeliverable) is a result with
    that outcome, never an answer and never an exception.
    """

    _asking: Asking

    async def clarify(
        self,
        question: str,
        *,
        context: str = "",
        options: Sequence[str] = (),
        allow_other: bool = True,
        source_name: str | None = None,
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> Clarification:
        """Ask a person a question in words, with a button for each option where there are some.

        Raises:
            ValueError: an empty question, or more than ten options, or two that look alike.
            StoreUnreachableError: nobody could be asked.
        """
        from sayso.questions.clarification import Clarify, clarification_of

        request, ending = await self._inquire(
            Clarify(question, context, options, allow_other),
            Options(source_name, timeout=timeout, path=path),
        )
        return clarification_of(request, ending)

    async def approve_text(
        self,
        text: str,
        *,
        title: str = "Text to approve",
        context: str = "",
        source_name: str | None = None,
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> TextApproval:
        """May this text be used as it is? What is approved is what was shown, in full.

        Raises:
            ValueError: an empty text, or one of more than 200,000 characters.
            StoreUnreachableError: nobody could be asked.
            ArgumentsChangedError: another text was approved.
        """
        from sayso.questions.text_approval import ApproveText, text_approval_of

        request, ending = await self._inquire(
            ApproveText(text, title, context), Options(source_name, timeout=timeout, path=path)
        )
        return text_approval_of(request, ending)

    @overload
    async def collect(
        self,
        schema: type[_Model],
        *,
        text: str,
        source_name: str | None = None,
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> Collected[_Model]: ...
    @overload
    async def collect(
        self,
        schema: Mapping[str, Any],
        *,
        text: str,
        source_name: str | None = None,
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> Collected[dict[str, Any]]: ...
    async def collect(
        self,
        schema: Mapping[str, Any] | type[BaseModel],
        *,
        text: str,
        source_name: str | None = None,
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> Collected[Any]:
        """Ask a person for data: a dict for a JSON Schema, an instance for a pydantic model.

        Raises:
            SchemaError: the schema cannot be asked in chat; nobody was asked.
            StoreUnreachableError: nobody could be asked.
            InvalidInputError: what came back is not what the schema or the model allows.
        """
        from sayso.questions.structured_input import Collect, collected_as, collected_of

        request, ending = await self._inquire(
            Collect(schema, text), Options(source_name, timeout=timeout, path=path)
        )
        found = collected_of(request, ending)
        return collected_as(schema, found) if isinstance(schema, type) else found

    async def may_continue(
        self,
        current: int,
        maximum: int,
        *,
        amounts: Sequence[int] | None = None,
        source_name: str | None = None,
        description: str = "",
        timeout: _Timeout = None,
        path: Sequence[str] = (),
    ) -> Continuation:
        """May the run go on after its iteration limit, by 5, 10 or 20 or one of other ``amounts``?

        Unless a person says by how much, the run ends normally, for the
        reason given.

        Raises:
            ValueError: the amounts are not one to five different positive numbers.
            StoreUnreachableError: nobody could be asked: the run does not go on.
        """
        from sayso.questions.continuation import AMOUNTS, Continue, continuation_of

        chosen_from = AMOUNTS if amounts is None else amounts
        request, ending = await self._inquire(
            Continue(current, maximum, chosen_from, description),
            Options(source_name, timeout=timeout, path=path),
        )
        return continuation_of(request, ending)

    async def _inquire(
        self, inquiry: Inquiry[_Request], options: Options
    ) -> tuple[_Request, RequestEnding]:
        request = inquiry.request(new_id(), self._asking.fields(options))
        return request, await self._asking.answer(request)


async def submit_inquiry(
    asking: Asking, inquiry: Inquiry[UserInputRequest], options: Options
) -> str:
    """Ask and do not wait: the id of the question.

    Raises:
        ValueError: a description or a declaration, which belong to calls.
    """
    if options.description or options.declaration is not None:
        raise ValueError("a description and a declaration belong to a call: put it in the question")
    request = inquiry.request(new_id(), asking.fields(options))
    await asking.open(request)
    return request.question_id


async def resume_inquiry(
    asking: Asking, question_id: str, timeout: _Timeout, expect: type[Any]
) -> Any:
    """The typed result of a question that was submitted, here or elsewhere.

    Raises:
        UnknownRequestError: no such request, or its record has been removed.
        WrongQuestionError: it is another kind of question.
    """
    record = await asking.record(question_id)
    _same_kind(record.request, expect)
    return _result(record.request, await asking.ending(record, timeout), expect)


def _same_kind(request: UserInputRequest, expect: type[Any]) -> None:
    kind = _kind_of(expect)
    if kind is None:
        raise TypeError(f"no question results in a {expect.__name__}")
    if not isinstance(request, kind):
        raise WrongQuestionError(request.question_id, request.subject, expect.__name__)


def _kind_of(expect: type[Any]) -> type[UserInputRequest] | None:
    """The kind of question that results in this."""
    from sayso.questions import clarification, continuation, structured_input, text_approval

    kinds: Mapping[type[Any], type[UserInputRequest]] = {
        Verdict: PermissionRequestEvent,
        clarification.Clarification: clarification.ClarificationRequestEvent,
        text_approval.TextApproval: text_approval.TextApprovalRequestEvent,
        continuation.Continuation: continuation.ContinuationRequestEvent,
        structured_input.Collected: structured_input.StructuredInputRequestEvent,
    }
    if expect not in kinds and issubclass(expect, BaseModel):
        return structured_input.StructuredInputRequestEvent
    return kinds.get(expect)


def _result(request: UserInputRequest, ending: RequestEnding, expect: type[Any]) -> Any:
    from sayso.questions import clarification, continuation, structured_input, text_approval

    if isinstance(request, clarification.ClarificationRequestEvent):
        return clarification.clarification_of(request, ending)
    if isinstance(request, text_approval.TextApprovalRequestEvent):
        return text_approval.text_approval_of(request, ending)
    if isinstance(request, continuation.ContinuationRequestEvent):
        return continuation.continuation_of(request, ending)
    if isinstance(request, structured_input.StructuredInputRequestEvent):
        found = structured_input.collected_of(request, ending)
        whole = expect is structured_input.Collected
        return found if whole else structured_input.collected_as(expect, found)
    raise TypeError(f"nothing is known of what comes of a {type(request).__name__}")
