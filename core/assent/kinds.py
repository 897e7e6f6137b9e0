"""The kinds of event besides permissions that come with Assent; importing this makes them known."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from assent.clarification import ClarificationRequestEvent, ClarificationResponseEvent
from assent.continuation import ContinuationRequestEvent, ContinuationResponseEvent
from assent.events import Event
from assent.structured_input import StructuredInputRequestEvent, StructuredInputResponseEvent
from assent.text_approval import TextApprovalRequestEvent, TextApprovalResponseEvent

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
