"""What each answer leads to: a dialogue before it, a dialogue after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sayso.dialogues.buttons import FormButton
from sayso.dialogues.dialogue import Asking, Dialogue, Ended, Filled, LeftOut, RawValue
from sayso.dialogues.words import ENGLISH, DialogueWords
from sayso.forms.form import FormField

_SEEN_KEPT = 50


def begun(dialogue: Dialogue) -> Dialogue:
    """At the first question."""
    return _asking(dialogue, Asking())


def typed(
    dialogue: Dialogue, text: str, message_id: str, words: DialogueWords = ENGLISH
) -> Dialogue:
    """After somebody typed an answer: at the next question, or at the same one with a problem.

    Raises:
        ValueError: nothing is asked now.
    """
    state, asked = dialogue.state, dialogue.field
    if not isinstance(state, Asking) or asked is None:
        raise ValueError("a dialogue takes a typed answer only while it asks a question")
    seen = [*dialogue.seen, message_id][-_SEEN_KEPT:]
    raw = text if asked.kind in ("text", "list", "json") else text.strip()
    return replace(_given(dialogue, state, asked, raw, words), seen=seen)


def pressed(
    dialogue: Dialogue, button: FormButton, words: DialogueWords = ENGLISH
) -> Dialogue | None:
    """After a press; None when what is asked now has no such button."""
    state, asked = dialogue.state, dialogue.field
    if button.visit != dialogue.visit or not isinstance(state, Asking):
        return None
    if button.word == "cancel":
        falls_back = bool(dialogue.purpose.falls_back)
        return _left_out(dialogue) if falls_back else over(dialogue, words.cancelled)
    if button.word == "back":
        before = [at for at in dialogue.asked if at < state.at]
        return _asking(dialogue, Asking(before[-1])) if before else None
    if asked is None:
        return replace(dialogue, state=Filled()) if button.word == "send" else None
    if button.word == "page":
        return replace(dialogue, state=replace(state, page=button.number))
    if button.word == "skip":
        return None if asked.required else _next(_without(dialogue, asked), state)
    if asked.kind == "options":
        return _picked(dialogue, state, asked, button, words)
    raw = _raw(dialogue, asked, button)
    return None if raw is None else _given(dialogue, state, asked, raw, words)


def stumbled(
    dialogue: Dialogue, problems: Mapping[str, str], words: DialogueWords = ENGLISH
) -> Dialogue:
    """After the desk refused the values: at the first field to put right, the others kept."""
    names = [field.name for field in dialogue.form.fields]
    wrong = [number for number, name in enumerate(names) if name in problems]
    if wrong:
        problem = problems[names[wrong[0]]]
        return _asking(dialogue, Asking(wrong[0], problem=problem, again=wrong[1:]))
    problem = "; ".join(problems.values()) or words.unfit_together
    return _asking(dialogue, Asking(dialogue.asked[-1], problem=problem, again=[]))


def over(dialogue: Dialogue, why: str) -> Dialogue:
    """Closed, and nothing of what was answered is left in it."""
    return replace(dialogue, state=Ended(why), values={}, initial={})


def _given(
    dialogue: Dialogue, state: Asking, asked: FormField, raw: RawValue, words: DialogueWords
) -> Dialogue:
    try:
        asked.read(raw, words.cards.forms)
    except ValueError as error:
        return _asking(dialogue, replace(state, page=0, problem=str(error)))
    others = _without(dialogue, asked)
    values = {**others.values, asked.name: raw} if raw else others.values
    return _next(replace(dialogue, values=values), state)


def _without(dialogue: Dialogue, asked: FormField) -> Dialogue:
    kept = {name: raw for name, raw in dialogue.values.items() if name != asked.name}
    return replace(dialogue, values=kept)


def _next(dialogue: Dialogue, state: Asking) -> Dialogue:
    """At the next question: of those to be put right, or of all."""
    dialogue = _only_asked(dialogue)
    again = [at for at in state.again or () if at in dialogue.asked]
    if again:
        return _asking(dialogue, Asking(again[0], again=again[1:]))
    count = len(dialogue.form.fields)
    after = [at for at in dialogue.asked if at > state.at]
    if after and state.again is None:
        return _asking(dialogue, Asking(after[0]))
    if dialogue.form.confirms and count > 1:
        return _asking(dialogue, Asking(count))
    return replace(dialogue, state=Filled())


def _only_asked(dialogue: Dialogue) -> Dialogue:
    """Without the answers to questions that another answer has taken away."""
    names = {dialogue.form.fields[at].name for at in dialogue.asked}
    kept = {name: raw for name, raw in dialogue.values.items() if name in names}
    return replace(dialogue, values=kept)


def _left_out(dialogue: Dialogue) -> Dialogue:
    """What it falls back to, without any words for it."""
    return replace(dialogue, state=LeftOut(), values={}, initial={})


def _picked(
    dialogue: Dialogue,
    state: Asking,
    asked: FormField,
    button: FormButton,
    words: DialogueWords,
) -> Dialogue | None:
    if button.word == "done":
        return _given(dialogue, state, asked, state.picked, words)
    if button.word not in ("pick", "unpick") or button.number >= len(asked.options):
        return None
    picked = {int(position) for position in state.picked} - {button.number}
    if button.word == "pick":
        picked.add(button.number)
    chosen = [str(position) for position in sorted(picked)]
    return replace(dialogue, state=replace(state, picked=chosen, problem=""))


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


def _asking(dialogue: Dialogue, state: Asking) -> Dialogue:
    asked = replace(dialogue, state=state, visit=dialogue.visit + 1)
    if state.picked or not isinstance(asked.at_hand, list):
        return asked
    return replace(asked, state=replace(state, picked=asked.at_hand))
