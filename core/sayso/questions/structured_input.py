"""Which data does the agent need? A JSON Schema, what was filled in, and the card between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator
from pydantic.errors import PydanticInvalidForJsonSchema

from sayso.cards.card import CardBody, Choice
from sayso.clock import utc_now
from sayso.errors import InvalidInputError, SchemaError
from sayso.events import Outcome, Resolution, UserInputRequest, UserInputResponse
from sayso.forms.form_values import NO_INPUTS, Inputs
from sayso.forms.json_schema import SchemaForm, build_schema_form, to_plain_schema
from sayso.questions.inquiry import Question
from sayso.questions.unanswered import DECLINE, decline_choice, unanswered
from sayso.text.agents import from_agent
from sayso.text.visible import shortened
from sayso.values import one_value

TEXT_LIMIT = 20_000

FILL_IN = "fill-in"
_NOTE_LIMIT = 500

# In the body of an event, ``type`` is its field.
_Type: TypeAlias = type[Any]
_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Collected(Generic[_T]):
    """What a person filled in; ``data`` is None unless somebody did, and ``reason`` says why."""

    outcome: Outcome
    data: _T | None = None
    reason: str = ""
    decided_by: str | None = None

    @property
    def answered(self) -> bool:
        """True if there is data."""
        return self.outcome is Outcome.ANSWERED


class StructuredInputRequestEvent(UserInputRequest):
    """A run asks a person for data that a JSON Schema describes.

    A schema that cannot be asked in chat makes no request; the error says
    which part of it and why.
    """

    result_type = Collected

    type: Literal["STRUCTURED_INPUT_REQUEST"] = "STRUCTURED_INPUT_REQUEST"
    request_id: str
    text: Annotated[str, Field(max_length=TEXT_LIMIT)]
    json_schema: dict[str, Any]

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("it is empty")
        return text

    @field_validator("json_schema")
    @classmethod
    def _can_be_asked(cls, schema: dict[str, Any]) -> dict[str, Any]:
        build_schema_form(schema)
        return to_plain_schema(schema)

    @property
    def schema_form(self) -> SchemaForm:
        """The schema as a form."""
        note = shortened(from_agent(self.text), _NOTE_LIMIT)
        return build_schema_form(self.json_schema, note=note, translations=self.translations)

    @property
    def question_id(self) -> str:
        """The request id."""
        return self.request_id

    @property
    def subject(self) -> str:
        """Routes know this kind of question as ``structured-input``."""
        return "structured-input"

    def card(self) -> CardBody:
        """What is asked for, and a button that opens the form."""
        translations, form = self.translations, self.schema_form.form
        return CardBody(
            title=translations.gettext("Input needed"),
            values=one_value(from_agent(self.text)),
            facts=(*self.origin, (translations.gettext("Fields"), str(len(form.fields)))),
            choices=(
                Choice(
                    FILL_IN,
                    translations.gettext("Fill in…"),
                    "primary",
                    needs_sight=True,
                    form=form,
                ),
                decline_choice(translations),
            ),
            granted=translations.gettext("filled in"),
        )

    def answer(
        self, choice: Choice, *, by: str, at: datetime, inputs: Inputs = NO_INPUTS
    ) -> StructuredInputResponseEvent:
        """The response with what was filled in, or without it.

        Raises:
            ValueError: the choice is not one of this card.
        """
        if choice.key == DECLINE:
            return self.deny(by=by, at=at)
        if choice.key == FILL_IN:
            return self._response(self.schema_form.build_data(inputs), by=by, at=at)
        raise ValueError(f"structured input has no choice {choice.key!r}")

    def reply(
        self, data: Mapping[str, Any], *, by: str, at: datetime | None = None
    ) -> StructuredInputResponseEvent:
        """The response that carries data.

        Raises:
            InvalidInputError: the schema does not allow it.
        """
        self.schema_form.check_data(data)
        return self._response(dict(data), by=by, at=at)

    def deny(
        self, *, by: str, at: datetime | None = None, reason: str = ""
    ) -> StructuredInputResponseEvent:
        """The response of a person who does not answer."""
        return self._response(None, by=by, at=at, reason=reason)

    def said(
        self, fields: Mapping[str, Any], *, by: str, at: datetime
    ) -> StructuredInputResponseEvent:
        """The data, or that there is none.

        Raises:
            InvalidInputError: the schema does not allow it.
        """
        if (data := fields.get("data")) is not None:
            return self.reply(data, by=by, at=at)
        return self.deny(by=by, at=at, reason=fields.get("reason", ""))

    def told(self, ending: Resolution) -> tuple[tuple[str, str], ...]:
        """What was filled in, without secrets."""
        if not isinstance(ending, StructuredInputResponseEvent) or ending.data is None:
            return ()
        try:
            return self.schema_form.describe(ending.data)
        except InvalidInputError:
            translations = self.translations
            return (
                (
                    translations.gettext("Answer"),
                    translations.gettext("it does not fit what was asked for"),
                ),
            )

    def result(self, ending: Resolution) -> Collected[dict[str, Any]]:
        """What the ending of the question means, with the data held against the schema once more.

        Raises:
            InvalidInputError: there is data and the schema does not allow it.
        """
        if isinstance(ending, StructuredInputResponseEvent) and ending.data is not None:
            self.schema_form.check_data(ending.data)
            return Collected(Outcome.ANSWERED, ending.data, ending.reason, ending.decided_by)
        outcome, reason = unanswered(ending, "not filled in")
        return Collected(outcome, None, reason, ending.decided_by)

    def reader(self, expect: _Type) -> Callable[[Resolution], Collected[Any]] | None:
        """What reads what was filled in; where a pydantic model is expected, as one."""
        if issubclass(expect, BaseModel):
            return lambda ending: collected_as(expect, self.result(ending))
        return super().reader(expect)

    def _response(
        self, data: dict[str, Any] | None, *, by: str, at: datetime | None, reason: str = ""
    ) -> StructuredInputResponseEvent:
        return StructuredInputResponseEvent(
            request_id=self.request_id,
            source_name=self.source_name,
            data=data,
            decided_by=by,
            decided_at=at or utc_now(),
            reason=reason,
        )


class StructuredInputResponseEvent(UserInputResponse):
    """The answer that counts; without data, the person did not want to give any."""

    type: Literal["STRUCTURED_INPUT_RESPONSE"] = "STRUCTURED_INPUT_RESPONSE"
    request_id: str
    data: dict[str, Any] | None = None

    @property
    def question_id(self) -> str:
        """The request id."""
        return self.request_id

    @property
    def outcome(self) -> Outcome:
        """Answered or denied."""
        return Outcome.DENIED if self.data is None else Outcome.ANSWERED

    @property
    def chosen(self) -> str:
        """Whether it was filled in; never with what."""
        return DECLINE if self.data is None else FILL_IN


def collected_as(model: type[_Model], found: Collected[dict[str, Any]]) -> Collected[_Model]:
    """The same with the data as an instance of a model.

    Raises:
        InvalidInputError: a rule of the model that its schema cannot say refuses the data.
    """
    data = None
    if found.data is not None:
        try:
            data = model.model_validate(found.data)
        except ValidationError as error:
            problems = error.errors(include_input=False, include_url=False)
            raise InvalidInputError(
                {".".join(map(str, one["loc"])) or model.__name__: one["msg"] for one in problems}
            ) from None
    return Collected(found.outcome, data, found.reason, found.decided_by)


def schema_of(wanted: Mapping[str, Any] | type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of data that is wanted, as plain JSON.

    Raises:
        SchemaError: it cannot be asked in chat; it says which part and why.
    """
    schema: Mapping[str, Any]
    if isinstance(wanted, type):
        try:
            schema = wanted.model_json_schema()
        except PydanticInvalidForJsonSchema as error:
            raise SchemaError("", f"{wanted.__name__} has no JSON Schema: {error}") from None
    else:
        schema = wanted
    build_schema_form(schema)
    return to_plain_schema(schema)


@dataclass(frozen=True, slots=True)
class Collect(Question[StructuredInputRequestEvent, Collected[Any]]):
    """Data to ask for: what a JSON Schema or a pydantic model describes."""

    schema: Mapping[str, Any] | type[BaseModel]
    text: str

    def request(self, question_id: str, fields: dict[str, Any]) -> StructuredInputRequestEvent:
        """The question as a request.

        Raises:
            SchemaError: the schema cannot be asked in chat.
        """
        return StructuredInputRequestEvent(
            request_id=question_id, text=self.text, json_schema=schema_of(self.schema), **fields
        )

    def result(self, request: StructuredInputRequestEvent, ending: Resolution) -> Collected[Any]:
        """What was filled in: a dict for a schema, an instance for a model.

        Raises:
            InvalidInputError: what came back is not what the schema or the model allows.
        """
        found = request.result(ending)
        return collected_as(self.schema, found) if isinstance(self.schema, type) else found
