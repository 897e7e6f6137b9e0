"""The events: their bases, and by name those of each kind of request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from gettext import NullTranslations
from operator import not_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from sayso.calls import LONGEST_STRING, RunRef
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.later import later
from sayso.locales import ENGLISH
from sayso.rules.rule import RememberedRule
from sayso.rules.rule_set import RuleBook
from sayso.where import Where

if TYPE_CHECKING:
    # The names of _FILES, and the cards, which an agent's process does not load.
    from sayso.cards.card import CardBody, Choice
    from sayso.questions.clarification import ClarificationRequestEvent as ClarificationRequestEvent
    from sayso.questions.clarification import (
        ClarificationResponseEvent as ClarificationResponseEvent,
    )
    from sayso.questions.continuation import ContinuationRequestEvent as ContinuationRequestEvent
    from sayso.questions.continuation import ContinuationResponseEvent as ContinuationResponseEvent
    from sayso.questions.permission import PermissionRequestEvent as PermissionRequestEvent
    from sayso.questions.permission_answer import PermissionResponseEvent as PermissionResponseEvent
    from sayso.questions.structured_input import (
        StructuredInputRequestEvent as StructuredInputRequestEvent,
    )
    from sayso.questions.structured_input import (
        StructuredInputResponseEvent as StructuredInputResponseEvent,
    )
    from sayso.questions.text_approval import TextApprovalRequestEvent as TextApprovalRequestEvent
    from sayso.questions.text_approval import TextApprovalResponseEvent as TextApprovalResponseEvent

# What the fields of any response may say, whichever choice it stands for.
_SAID_BY_ANY = frozenset({"reason", "decided_by", "decided_at"})


class Outcome(Enum):
    """How a request ended. One is never reported as another.

    A question for something else than a yes or a no is answered, not approved.
    """

    APPROVED = "approved"
    DENIED = "denied"
    ANSWERED = "answered"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    UNDELIVERABLE = "undeliverable"


class Event(BaseModel):
    """The base of all events: frozen, JSON in camelCase, unknown fields ignored on the way in.

    A string with half of a surrogate pair, which no JSON carries, is refused.

    ``source_name`` and the ids come back exactly as they went out.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        str_max_length=LONGEST_STRING,
    )

    source_name: str


class OutcomeEvent(Event):
    """The base of what observers see of an ending where they do not see the ending itself.

    It is made of a recorded ending, by ``Resolution.observed``, and never sent.
    """


class Resolution(Event):
    """The base of everything that ends a request; at most one counts per request."""

    decided_at: AwareDatetime
    decided_by: str | None = None
    reason: str = ""

    @property
    def question_id(self) -> str:
        """The id of the request that this ends."""
        raise TypeError(f"{type(self).__name__} does not say which request it ends")

    @property
    def outcome(self) -> Outcome:
        """How the request ended."""
        raise TypeError(f"{type(self).__name__} does not say how the request ended")

    @property
    def chosen(self) -> str:
        """The word for what a person chose, for the audit; empty where nobody chose."""
        return ""

    @property
    def digest_of_changes(self) -> str:
        """The digest of what a person changed what was asked into; empty where nothing was."""
        return ""

    @property
    def approves_a_call(self) -> bool:
        """Whether a tool call runs on it: it counts only where no rule forbids that call."""
        return False

    @property
    def approves_another_call(self) -> bool:
        """Whether the call that runs on it is another one than was asked about."""
        return False

    @property
    def rule_kept(self) -> str:
        """The id of the rule that it stored; empty where it stored none."""
        return ""

    @property
    def remembered_until(self) -> datetime | None:
        """Until when what it stored counts, where that ends."""
        return None

    def remembers_at(self, moment: datetime) -> bool:  # noqa: ARG002  the base stores nothing
        """Whether what it stored would still count then, if nobody takes it back."""
        return False

    def keeping(self, rule: RememberedRule | None) -> Self:  # noqa: ARG002  the base keeps none
        """The ending that says which rule is stored with it, for kinds that store some."""
        return self

    @property
    def observed(self) -> Event:
        """The event that observers see: itself, or an ``OutcomeEvent``. Nobody waits on it."""
        return self


class UserInputResponse(Resolution):
    """The base of all answers that people give."""


_Ending = TypeVar("_Ending", bound="_Unanswered")

NO_RUN = RunRef("", "", run_id="")
"""The run of a request that a gate has not filled in yet."""

NO_EXPIRY = datetime.fromtimestamp(0, UTC)
"""The expiry of a request that a gate has not filled in yet: long over."""


class UserInputRequest(Event):
    """The base of all questions to a person.

    A kind of question of your own is a subclass with a ``type`` of its own
    that says how it becomes a card and what each choice on the card means. No
    adapter needs to know it. ``requested_by`` is the actor who wants it, as whoever
    asks says, as ``where`` it works; ``filed_by`` is the token of the hosted API that it came with.

    Whoever emits a request may leave out its run and its expiry: the gate fills
    them in, and no store takes a request without a run.
    """

    result_type: ClassVar[type[Any] | None] = None
    """What ``result`` is an instance of, for ``expect`` of ``sayso.Gate.resume``."""

    run: RunRef = NO_RUN
    path: tuple[str, ...] = ()
    requested_by: str | None = None
    filed_by: str | None = None
    where: Annotated[Where | None, Field(exclude_if=not_)] = None
    expires_at: AwareDatetime = NO_EXPIRY
    _translations: Any = PrivateAttr(default=None)

    @property
    def question_id(self) -> str:
        """The id that comes back with the answer."""
        raise TypeError(f"{type(self).__name__} does not say which field is its id")

    @property
    def askers(self) -> tuple[str, ...]:
        """Who asked, as actors: who wants it, and whose token it was asked with."""
        return tuple(dict.fromkeys(filter(None, (self.requested_by, self.filed_by))))

    @property
    def subject(self) -> str:
        """What is asked about, for routes: a tool's name or a kind of question."""
        raise TypeError(f"{type(self).__name__} does not say what it is about")

    @property
    def bundle(self) -> str:
        """Requests that say the same here may share one message; empty: it stands alone.

        Those that do have the choices ``allow`` and ``deny``.
        """
        return ""

    @property
    def why_asked(self) -> str:
        """Why a policy asks a person, for the audit; empty where none says."""
        return ""

    @property
    def digest_of_arguments(self) -> str:
        """The digest of what is decided on, for the audit; empty where there is none."""
        return ""

    def card(self) -> CardBody:
        """The request as a person sees it."""
        raise TypeError(f"{type(self).__name__} does not say how it becomes a card")

    def answer(
        self,
        choice: Choice,
        *,
        by: str,  # noqa: ARG002  the base answers nothing
        at: datetime,  # noqa: ARG002
        inputs: Inputs = NO_INPUTS,  # noqa: ARG002
    ) -> UserInputResponse:
        """The answer that a choice on the card stands for, with the values of its form.

        Raises:
            InvalidInputError: the values fit the form and yet make no answer.
        """
        raise TypeError(f"{type(self).__name__} does not say what {choice.key!r} means")

    def said(self, fields: Mapping[str, Any], *, by: str, at: datetime) -> UserInputResponse | str:
        """What the fields of a response say, for whoever answers without the card.

        It is the answer, or the key of the choice on the card that is meant;
        empty where the fields do not say enough. They have the names and the
        types of the response. Unless a kind says otherwise, the one choice
        without a form is meant whose answer has these fields.

        Raises:
            InvalidInputError: the answer does not fit what was asked for.
            ValueError: no person could have answered so.
        """
        told = {name: value for name, value in fields.items() if name not in _SAID_BY_ANY}
        body = self.card()
        meant = [
            choice.key
            for choice in (*body.choices, *body.more)
            if choice.form is None
            and not choice.stores
            and told.items() <= dict(self.answer(choice, by=by, at=at)).items()
        ]
        return meant[0] if len(meant) == 1 else ""

    def result(self, ending: Resolution) -> Any:  # noqa: ARG002  the base results in nothing
        """What its ending means for the agent that asked, whether somebody answered or not."""
        raise TypeError(f"{type(self).__name__} does not say what comes of it")

    def reader(self, expect: type[Any]) -> Callable[[Resolution], Any] | None:
        """What makes a result of this type of its ending; None where it results in another."""
        results_in = self.result_type
        return self.result if results_in is not None and issubclass(results_in, expect) else None

    def to_remember(
        self,
        choice: Choice,  # noqa: ARG002  a base that stores nothing
        *,
        by: str,  # noqa: ARG002
        at: datetime,  # noqa: ARG002
        until: datetime,  # noqa: ARG002
    ) -> RememberedRule | None:
        """The rule that a choice stores until then, if it stores one."""
        return None

    def ruled(self, ending: Resolution, book: RuleBook) -> Resolution:  # noqa: ARG002
        """The ending that counts under these rules: a denial where they forbid what it approves.

        The store asks this in the step that records the ending, of endings that approve a call.
        """
        return ending

    def stored(self, ending: Resolution) -> str:  # noqa: ARG002  the base stores nothing
        """What its ending stored, in words; empty when it stored nothing."""
        return ""

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """What its ending says besides how it ended, as pairs of a label and a visible text."""
        return ()

    def told_below(self, ending: Resolution) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """What tells the answer from others, for whoever looks closer: pairs as of ``told``."""
        return ()

    @property
    def asker(self) -> str:
        """Who asks, outermost first: the agent, then the chain of calls that led here."""
        from sayso.cards.origin import asker

        return asker(self)

    @property
    def origin(self) -> tuple[tuple[str, str], ...]:
        """Where the question comes from, as facts of its card: source, session, who wants it."""
        from sayso.cards.origin import origin

        return origin(self, self.translations)

    @property
    def translations(self) -> NullTranslations:
        """What its card, its answers and what they tell are translated with."""
        return self._own_translations or ENGLISH

    def in_language(self, translations: NullTranslations) -> Self:
        """Return a copy with its card in this language."""
        if translations is self._own_translations:
            return self
        copy = self.model_copy()
        copy._translations = translations  # noqa: SLF001  of one of its own kind
        return copy

    @property
    def _own_translations(self) -> NullTranslations | None:
        # By its own name a private attribute goes a long way through pydantic.
        kept = self.__pydantic_private__
        return None if kept is None else kept.get("_translations")

    def expired(self, *, at: datetime) -> RequestExpiredEvent:
        """The ending of a request that nobody answered in time."""
        return self._end(RequestExpiredEvent, decided_at=at, reason="nobody answered in time")

    def cancelled(
        self, *, at: datetime, reason: str = "", by: str | None = None
    ) -> RequestCancelledEvent:
        """The ending of a request that was withdrawn."""
        return self._end(RequestCancelledEvent, decided_at=at, decided_by=by, reason=reason)

    def undeliverable(self, *, at: datetime, reason: str) -> RequestUndeliverableEvent:
        """The ending of a request that can be shown nowhere."""
        return self._end(RequestUndeliverableEvent, decided_at=at, reason=reason)

    def _end(self, kind: type[_Ending], **facts: Any) -> _Ending:
        return kind(request_id=self.question_id, source_name=self.source_name, **facts)


class _Unanswered(Resolution):
    """A request that ended without an answer."""

    request_id: str
    ends_as: ClassVar[Outcome]

    @property
    def question_id(self) -> str:
        return self.request_id

    @property
    def outcome(self) -> Outcome:
        return self.ends_as


class RequestExpiredEvent(_Unanswered):
    """Nobody answered in time."""

    type: Literal["REQUEST_EXPIRED"] = "REQUEST_EXPIRED"
    ends_as: ClassVar[Outcome] = Outcome.EXPIRED


class RequestCancelledEvent(_Unanswered):
    """The question was withdrawn."""

    type: Literal["REQUEST_CANCELLED"] = "REQUEST_CANCELLED"
    ends_as: ClassVar[Outcome] = Outcome.CANCELLED


class RequestUndeliverableEvent(_Unanswered):
    """The question could be shown nowhere."""

    type: Literal["REQUEST_UNDELIVERABLE"] = "REQUEST_UNDELIVERABLE"
    ends_as: ClassVar[Outcome] = Outcome.UNDELIVERABLE


_FILES: dict[str, tuple[str, ...]] = {
    "sayso.questions.clarification": ("ClarificationRequestEvent", "ClarificationResponseEvent"),
    "sayso.questions.continuation": ("ContinuationRequestEvent", "ContinuationResponseEvent"),
    "sayso.questions.permission": ("PermissionRequestEvent",),
    "sayso.questions.permission_answer": ("PermissionResponseEvent",),
    "sayso.questions.structured_input": (
        "StructuredInputRequestEvent",
        "StructuredInputResponseEvent",
    ),
    "sayso.questions.text_approval": ("TextApprovalRequestEvent", "TextApprovalResponseEvent"),
}
if not TYPE_CHECKING:
    __getattr__, __dir__ = later(globals(), _FILES)
