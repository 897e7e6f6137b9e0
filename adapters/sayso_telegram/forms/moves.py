"""What each answer leads to: a dialogue before it, a dialogue after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sayso.forms.form import FormField
from sayso_telegram.forms.dialogue import Dialogue, RawValue
from sayso_telegram.reading.form_buttons import FormButton

_SEEN_KEPT = 50
_CANCELLED = "Cancelled: nothing was decided."


def begun(dialogue: Dialogue) -> Dialogue:
    """At the first question."""
    return _asking(dialogue, 0)


def typed(dialogue: Dialogue, text: str, message_id: int) -> Dialogue:
    """After somebody typed an answer: at the next question, or at the same with a problem."""
    seen = [*dialogue.seen, message_id][-_SEEN_KEPT:]
    is_text = dialogue.field is not None and dialogue.field.kind == "text"
    return replace(_given(dialogue, text if is_text else text.strip()), seen=seen)


def pressed(dialogue: Dialogue, button: FormButton) -> Dialogue | None:
    """After a press; None when the question asked now has no such button."""
    asked = dialogue.field
    if button.visit != dialogue.visit:
        return None
    if button.word == "cancel":
        return _left_out(dialogue) if dialogue.falls_back else over(dialogue, _CANCELLED)
    if button.word == "back":
        back = replace(dialogue, was_refused=False)
        return _asking(back, dialogue.at - 1) if dialogue.at > 0 else None
    if asked is None:
        return _sent_off(dialogue) if button.word == "send" else None
    if button.word == "page":
        return replace(dialogue, page=button.number)
    if button.word == "skip":
        return None if asked.required else _next(replace(dialogue, values=_others(dialogue)))
    if asked.kind == "options":
        return _picked(dialogue, asked, button)
    raw = _raw(dialogue, asked, button)
    return None if raw is None else _given(dialogue, raw)


def stumbled(dialogue: Dialogue, problems: Mapping[str, str]) -> Dialogue:
    """After the desk refused the values: at the first field to put right, the others kept."""
    names = [field.name for field in dialogue.form.fields]
    to_fix = [number for number, name in enumerate(names) if name in problems]
    back = replace(dialogue, ready=False, left_out=False, sent_at=0.0, was_refused=True)
    if to_fix:
        problem = problems[names[to_fix[0]]]
        return _asking(back, to_fix[0], to_fix=to_fix[1:], problem=problem)
    problem = "; ".join(problems.values()) or "these answers do not fit together"
    return _asking(back, len(names) - 1, problem=problem)


def over(dialogue: Dialogue, why: str) -> Dialogue:
    """Closed, without the values."""
    return replace(dialogue, ended=why, values={}, picked=[], initial={}, ready=False)


def _given(dialogue: Dialogue, raw: RawValue) -> Dialogue:
    asked = dialogue.form.fields[dialogue.at]
    try:
        asked.read(raw)
    except ValueError as error:
        return _asking(dialogue, dialogue.at, problem=str(error), to_fix=dialogue.to_fix)
    values = _others(dialogue)
    return _next(replace(dialogue, values={**values, asked.name: raw} if raw else values))


def _others(dialogue: Dialogue) -> dict[str, RawValue]:
    name = dialogue.form.fields[dialogue.at].name
    return {other: raw for other, raw in dialogue.values.items() if other != name}


def _next(dialogue: Dialogue) -> Dialogue:
    """At the next question: of those to be put right, or of all."""
    if dialogue.to_fix:
        return _asking(dialogue, dialogue.to_fix[0], to_fix=dialogue.to_fix[1:])
    count = len(dialogue.form.fields)
    if dialogue.at + 1 < count and not dialogue.was_refused:
        return _asking(dialogue, dialogue.at + 1)
    if dialogue.form.confirms and count > 1:
        return _asking(dialogue, count)
    return _sent_off(dialogue)


def _left_out(dialogue: Dialogue) -> Dialogue:
    """What it falls back to, without any words for it."""
    return replace(_sent_off(dialogue), left_out=True, values={}, picked=[])


def _sent_off(dialogue: Dialogue) -> Dialogue:
    return replace(dialogue, ready=True, problem="")


def _picked(dialogue: Dialogue, asked: FormField, button: FormButton) -> Dialogue | None:
    if button.word == "done":
        return _given(dialogue, dialogue.picked)
    if button.word not in ("pick", "unpick") or button.number >= len(asked.options):
        return None
    picked = {int(position) for position in dialogue.picked} - {button.number}
    if button.word == "pick":
        picked.add(button.number)
    chosen = [str(position) for position in sorted(picked)]
    return replace(dialogue, picked=chosen, problem="")


def _raw(dialogue: Dialogue, asked: FormField, button: FormButton) -> RawValue | None:
    if button.word == "keep":
        return dialogue.at_hand
    if button.word in ("yes", "no") and asked.kind == "boolean":
        return "true" if button.word == "yes" else "false"
    if button.word == "option" and asked.kind == "option":
        return str(button.number) if button.number < len(asked.options) else None
    if button.word == "suggest" and button.number < len(asked.suggestions):
        return asked.suggestions[button.number]
    return None


def _asking(
    dialogue: Dialogue, at: int, *, problem: str = "", to_fix: list[int] | None = None
) -> Dialogue:
    visit = dialogue.visit + 1
    asked = replace(dialogue, at=at, to_fix=to_fix or [], problem=problem, page=0, visit=visit)
    picked = asked.at_hand
    return replace(asked, picked=picked if isinstance(picked, list) else [])
