"""The questions of a gate that are not calls: one method a kind, and the general one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from pydantic import BaseModel

from sayso.agent.options import AskOptions, CallOptions, GateOptions
from sayso.agent.waiting import Questions
from sayso.calls import new_id
from sayso.events import UserInputRequest
from sayso.questions.inquiry import Question

# Most runs ask for permissions only: each kind of question is loaded when it is first asked.
if TYPE_CHECKING:
    from sayso.questions.clarification import Clarification
    from sayso.questions.continuation import Continuation
    from sayso.questions.structured_input import Collected
    from sayso.questions.text_approval import TextApproval

_OF_CALLS = CallOptions.__optional_keys__ - AskOptions.__optional_keys__
_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)
_Request = TypeVar("_Request", bound=UserInputRequest)


class Asking:
    """Puts questions to people that no policy answers: always asked, with a result each."""

    def __init__(self, questions: Questions, options: GateOptions) -> None:
        self._questions = questions
        self._options = options

    async def ask(self, inquiry: Question[_Request, _T], **how: Unpack[AskOptions]) -> _T:
        """Ask a question that is not a call, and wait for what comes of it.

        It is always asked, whatever the policy. That nobody answered (expired,
        cancelled, undeliverable) is a result with that outcome, never an
        answer and never an exception.

        Raises:
            ValueError: the question makes no sense.
            SchemaError: what is to be collected cannot be asked in chat.
            InvalidInputError: what came back is not what the schema or the model allows.
        """
        request = self._request(inquiry, how)
        return inquiry.result(request, await self._questions.answer(request))

    async def clarify(
        self,
        question: str,
        *,
        context: str = "",
        options: Sequence[str] = (),
        allow_other: bool = True,
        **how: Unpack[AskOptions],
    ) -> Clarification:
        """Ask a person a question in words, with a button for each option where there are some."""
        from sayso.questions.clarification import Clarify

        return await self.ask(Clarify(question, context, options, allow_other), **how)

    async def approve_text(
        self,
        text: str,
        *,
        title: str = "Text to approve",
        context: str = "",
        **how: Unpack[AskOptions],
    ) -> TextApproval:
        """May this text be used as it is? What is approved is what was shown, in full."""
        from sayso.questions.text_approval import ApproveText

        return await self.ask(ApproveText(text, title, context), **how)

    @overload
    async def collect(
        self, schema: type[_Model], *, text: str, **how: Unpack[AskOptions]
    ) -> Collected[_Model]: ...
    @overload
    async def collect(
        self, schema: Mapping[str, Any], *, text: str, **how: Unpack[AskOptions]
    ) -> Collected[dict[str, Any]]: ...
    async def collect(self, schema: Any, *, text: str, **how: Unpack[AskOptions]) -> Any:
        """Ask a person for data: a dict for a JSON Schema, an instance for a pydantic model."""
        from sayso.questions.structured_input import Collect

        return await self.ask(Collect(schema, text), **how)

    async def may_continue(
        self,
        current: int,
        maximum: int,
        *,
        amounts: Sequence[int] | None = None,
        description: str = "",
        **how: Unpack[AskOptions],
    ) -> Continuation:
        """May the run go on after its iteration limit, by 5, 10 or 20 or one of other ``amounts``?

        Unless a person says by how much, the run ends normally, for the
        reason given.
        """
        from sayso.questions.continuation import Continue

        return await self.ask(Continue(current, maximum, amounts, description), **how)

    def _request(self, inquiry: Question[_Request, Any], how: AskOptions) -> _Request:
        if not how.keys().isdisjoint(_OF_CALLS):
            raise ValueError(
                "only a call has a description, a declaration, a key or suggested rules: "
                "put it into words"
            )
        return inquiry.request(new_id(), self._options.fields(self._options.asked(**how)))
