"""What of a call is on its card: its arguments, by what is known of the tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from gettext import NullTranslations
from typing import Any

from sayso.calls import ToolCall
from sayso.dangers.found import dangerous_lines
from sayso.known.tools import roles_in
from sayso.values import Kind, Value, one_value
from sayso.values.arguments import values_of
from sayso.values.screen import around

_FEW = 8


def call_values(
    call: ToolCall,
    shown: Mapping[str, Any],
    translations: NullTranslations,
    *,
    declared: Mapping[str, Kind] | None = None,
    edited_lines: Sequence[int] = (),
    dangerous: bool = False,
) -> tuple[Value, ...]:
    """The arguments as they may be shown, the thing itself first and what is talk last.

    ``declared`` are the kinds that its tool says they are of: they count before what is known;
    ``edited_lines`` are where the edits begin in their file.
    Of a call that is dangerous, the lines that say so are kept where there is no room for all.
    """
    roles = roles_in(call, None)
    kinds: dict[str, Kind] = {roles.command: "shell"} if roles.command else {}
    kinds.update(declared or {})
    values = values_of(shown, kinds, talk=roles.talk, lines=edited_lines, translations=translations)
    if dangerous:
        only = next(iter(call.arguments)) if len(call.arguments) == 1 else ""
        values = tuple(_with_its_dangers(call, only, value) for value in values)
    return values or one_value(translations.gettext("(no arguments)"))


def _with_its_dangers(call: ToolCall, only: str, value: Value) -> Value:
    lines = value.text.split("\n")
    if value.brief or len(lines) <= _FEW:
        return value
    dangerous = dangerous_lines(call, value.name or only, value.text)
    return replace(value, brief=around(lines, dangerous)) if dangerous else value
