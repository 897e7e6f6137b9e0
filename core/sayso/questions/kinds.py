"""The kinds of event besides permissions that come with Sayso; importing this makes them known."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from sayso.events import Event
from sayso.questions.clarification import ClarificationRequestEvent, ClarificationResponseEvent
from sayso.questions.continuation import ContinuationRequestEvent, ContinuationResponseEvent
from sayso.questions.structured_input import (
    StructuredInputRequestEvent,
    StructuredInputResponseEvent,
)
from sayso.questions.text_approval import TextApprovalRequestEvent, TextApprovalResponseEvent

_Others = Annotated[
    ContinuationRequestEvent
    | ContinuationResponseEvent
    | ClarificationRequestEvent
    | ClarificationResponseEvent
    | TextApprovalRequestEvent
    | TextApprovalResponseEvent
    | StructuredInputRequestEvent
    | StructuredInputResponseEvent,
    Field(discriminator="type"),
]
OTHERS: TypeAdapter[Event] = TypeAdapter(_Others)
"""Reads them, told apart by ``type``."""
