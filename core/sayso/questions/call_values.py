"""What of a call is on its card: its arguments, by what is known of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.calls import ToolCall
from sayso.known.tools import roles_in
from sayso.questions.words import QuestionWords
from sayso.values import Kind, Value, one_value
from sayso.values.arguments import values_of


def call_values(
    call: ToolCall, shown: Mapping[str, Any], words: QuestionWords
) -> tuple[Value, ...]:
    """The arguments as they may be shown, the thing itself first and what is talk last."""
    roles = roles_in(call, None)
    kinds: dict[str, Kind] = {roles.command: "shell"} if roles.command else {}
    values = values_of(shown, kinds, talk=roles.talk, words=words.cards.values)
    return values or one_value(words.no_arguments)
