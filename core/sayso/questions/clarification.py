"""What does the agent need to know? A question in words, its answer, and the card between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from gettext import NullTranslations
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictBool, model_validator

from sayso.cards.card import CardBody, Choice
from sayso.clock import utc_now
from sayso.errors import InvalidInputError, SchemaError
from sayso.events import Outcome, Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form import LONGEST_TEXT, Form, FormField
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.locales import ENGLISH
from sayso.questions.inquiry import Question
from sayso.questions.unanswered import DECLINE, decline_choice, unanswered
from sayso.text.agents import from_agent
from sayso.text.visible import looks, shortened
from sayso.values import one_value

QUESTION_LIMIT = 20_000
CONTEXT_LIMIT = 20_000
MAX_OPTIONS = 10
OPTION_LIMIT = 200

ANSWER, OTHER = "answer", "other"
_OPTION = "option-"
_FIELD = "answer"
_LABEL_LIMIT = 30
_NOTE_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Clarification:
    """What a person answered; ``answer`` is None unless somebody did, and ``reason`` says why."""

    outcome: Outcome
    answer: str | None = None
    reason: str = ""
    decided_by: str | None = None

    @property
    def answered(self) -> bool:
        """True if there is an answer."""
        return self.outcome is Outcome.ANSWERED


class ClarificationRequestEvent(UserInputRequest):
    """A run asks a person a question in words.

    With ``options`` there is a button for each, and *Other…* for an answer of
    one's own unless ``allow_other`` is false; without options every answer is
    one's own.
    """

    result_type = Clarification

    type: Literal["CLARIFICATION_REQUEST"] = "CLARIFICATION_REQUEST"
    request_id: str
    question: Annotated[str, Field(max_length=QUESTION_LIMIT)]
    context: Annotated[str, Field(max_length=CONTEXT_LIMIT)] = ""
    options: Annotated[
        tuple[Annotated[str, Field(max_length=OPTION_LIMIT)], ...], Field(max_length=MAX_OPTIONS)
    ] = ()
    allow_other: StrictBool = True

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if not self.question.strip():
            raise SchemaError.at_field("question", reason="there is nothing to ask")
        seen: set[str] = set()
        for number, option in enumerate(self._shown):
            if not option.strip():
                raise SchemaError.at_field("options", number, reason="an option cannot be empty")
            if looks(option) in seen:
                reason = "it looks like another option on the card"
                raise SchemaError.at_field("options", number, reason=reason)
            seen.add(looks(option))
            if _is_a_button(option, ENGLISH):
                reason = f"{option!r} is a button on every card"
                raise SchemaError.at_field("options", number, reason=reason)
        return self

    @property
    def question_id(self) -> str:
        """The request id."""
        return self.request_id

    @property
    def subject(self) -> str:
        """Routes know this kind of question as ``clarification``."""
        return "clarification"

    def card(self) -> CardBody:
        """The question, and a button for each option or one to write the answer."""
        translations = self.translations
        return CardBody(
            title=translations.gettext("Question"),
            description=from_agent(self.context),
            described=translations.gettext("Context given"),
            values=one_value(self._content(translations)),
            facts=self.origin,
            choices=(*self._answers(translations), decline_choice(translations)),
            granted=translations.gettext("answered"),
        )

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> ClarificationResponseEvent:
        """The response that an option, an answer of one's own or *Don't answer* stands for.

        Raises:
            InvalidInputError: the answer is nothing but white space.
            ValueError: the choice is not one of this card.
        """
        if choice.key == DECLINE:
            return self.deny(by=by, at=at)
        if choice.key == self._own:
            text = str(inputs.get(_FIELD, ""))
            if not text.strip():
                raise InvalidInputError(
                    {_FIELD: self.translations.gettext("an answer is needed here")}
                )
            return self.reply(text, by=by, at=at)
        for number, option in enumerate(self.options):
            if choice.key == f"{_OPTION}{number + 1}":
                return self.reply(option, by=by, at=at)
        raise ValueError(f"this question has no choice {choice.key!r}")

    def reply(
        self, answer: str, *, by: str, at: datetime | None = None
    ) -> ClarificationResponseEvent:
        """The response that carries an answer.

        Raises:
            ValueError: no person could have given it: it is not an option and others
                are not allowed, or it is empty or longer than 4,000 characters.
        """
        if not self.admits(answer):
            raise ValueError("this answer was not offered")
        return self._response(answer, by=by, at=at)

    def deny(
        self, *, by: str, at: datetime | None = None, reason: str = ""
    ) -> ClarificationResponseEvent:
        """The response of a person who does not answer."""
        return self._response(None, by=by, at=at, reason=reason)

    def said(
        self, fields: Mapping[str, Any], *, by: str, at: datetime
    ) -> ClarificationResponseEvent:
        """The answer, or that there is none.

        Raises:
            ValueError: no person could have given it.
        """
        if (answer := fields.get("answer")) is not None:
            return self.reply(answer, by=by, at=at)
        return self.deny(by=by, at=at, reason=fields.get("reason", ""))

    def admits(self, answer: str) -> bool:
        """Return True if a person can have given this answer."""
        if answer in self.options:
            return True
        return self._own != "" and bool(answer.strip()) and len(answer) <= LONGEST_TEXT

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        """The answer."""
        if not isinstance(ending, ClarificationResponseEvent) or ending.answer is None:
            return ()
        return ((self.translations.gettext("Answer"), from_agent(ending.answer)),)

    @property
    def _own(self) -> str:
        """The key of the choice for an answer of one's own; empty where there is none."""
        if not self.options:
            return ANSWER
        return OTHER if self.allow_other else ""

    @property
    def _shown(self) -> list[str]:
        return [from_agent(option, one_line=True) for option in self.options]

    def _numbered(self, translations: NullTranslations) -> bool:
        """Return True if buttons cannot say all options, or one would pass for a button of ours."""
        return any(
            len(option) > _LABEL_LIMIT or _is_a_button(option, translations)
            for option in self._shown
        )

    def _content(self, translations: NullTranslations) -> str:
        question = from_agent(self.question)
        if not self._numbered(translations):
            return question
        listed = [f"{number}. {option}" for number, option in enumerate(self._shown, 1)]
        return "\n".join((question, "", *listed))

    def _answers(self, translations: NullTranslations) -> Sequence[Choice]:
        # With one option too long for its button all are numbered: then no option can pass for
        # the number of another one.
        numbered = self._numbered(translations)
        options = [
            Choice(
                f"{_OPTION}{number}",
                shortened(f"{number}. {option}" if numbered else option, _LABEL_LIMIT),
                needs_sight=True,
            )
            for number, option in enumerate(self._shown, 1)
        ]
        if not self._own:
            return options
        field = FormField(_FIELD, translations.gettext("Your answer"), multiline=True)
        note = shortened(from_agent(self.question), _NOTE_LIMIT)
        form = Form(translations.gettext("Your answer"), (field,), note=note)
        label = (
            translations.gettext("Other…")
            if self._own == OTHER
            else translations.gettext("Answer…")
        )
        style: Literal["default", "primary"] = "default" if options else "primary"
        return [*options, Choice(self._own, label, style, needs_sight=True, form=form)]

    def result(self, ending: Resolution) -> Clarification:
        """What the ending of the question means: only an answer that could be given is one."""
        if (
            isinstance(ending, ClarificationResponseEvent)
            and ending.answer is not None
            and self.admits(ending.answer)
        ):
            return Clarification(Outcome.ANSWERED, ending.answer, ending.reason, ending.decided_by)
        outcome, reason = unanswered(ending, "not answered")
        return Clarification(outcome, None, reason, ending.decided_by)

    def _response(
        self, answer: str | None, *, by: str, at: datetime | None, reason: str = ""
    ) -> ClarificationResponseEvent:
        return ClarificationResponseEvent(
            request_id=self.request_id,
            source_name=self.source_name,
            answer=answer,
            decided_by=by,
            decided_at=at or utc_now(),
            reason=reason,
        )


def _is_a_button(option: str, translations: NullTranslations) -> bool:
    """Return True if the option would pass for a button that is not the agent's."""
    ours = (
        translations.gettext("Other…"),
        translations.gettext("Answer…"),
        translations.gettext("Don't answer"),
        translations.gettext("Show all"),
    )
    return looks(option) in map(looks, ours)


class ClarificationResponseEvent(UserInputResponse):
    """The answer that counts; without one, the person did not want to answer."""

    type: Literal["CLARIFICATION_RESPONSE"] = "CLARIFICATION_RESPONSE"
    request_id: str
    answer: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None

    @property
    def question_id(self) -> str:
        """The request id."""
        return self.request_id

    @property
    def outcome(self) -> Outcome:
        """Answered or denied."""
        return Outcome.DENIED if self.answer is None else Outcome.ANSWERED

    @property
    def chosen(self) -> str:
        """Whether it was answered; never the answer."""
        return DECLINE if self.answer is None else ANSWER


@dataclass(frozen=True, slots=True)
class Clarify(Question[ClarificationRequestEvent, Clarification]):
    """A question in words, with ``options`` to choose from and *Other…* unless not allowed.

    Its request raises ValueError for an empty question, more than ten options,
    or two that look alike.
    """

    question: str
    context: str = ""
    options: Sequence[str] = ()
    allow_other: bool = True

    def request(self, question_id: str, fields: dict[str, Any]) -> ClarificationRequestEvent:
        """The question as a request."""
        return ClarificationRequestEvent(
            request_id=question_id,
            question=self.question,
            context=self.context,
            options=tuple(self.options),
            allow_other=self.allow_other,
            **fields,
        )
