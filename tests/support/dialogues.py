"""Forms of a dialogue, and what is pressed in one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sayso.chats.places import MessageRef, Place
from sayso.dialogues.buttons import FormButton, Word
from sayso.dialogues.dialogue import Asking, Dialogue, Purpose, portable
from sayso.dialogues.moves import begun, pressed
from sayso.forms.form import Form, FormField, Option

ID = "DIALOGUEDIALOGUE123456"
NAME = FormField("name", "Name")
YES_TOO = FormField("too", "And?", "boolean")
NOTE = FormField("note", "Note", required=False)
YES = FormField("yes", "Really?", "boolean")
SIZE = FormField("size", "Size", "option", options=(Option("S", 1), Option("L", 2)))
TAGS = FormField(
    "tags", "Tags", "options", options=tuple(Option(f"tag {n}", n) for n in range(100)), maximum=2
)
COUNT = FormField("count", "Count", "integer", minimum=1)
DAY = FormField("day", "Day", "date")
WHY = FormField("why", "Why", suggestions=("Too risky", "Not now"))
DRY = FormField("dry", "Dry run", "boolean", required=False, initial=True)
SEEN = FormField("seen", "Seen", "options", options=SIZE.options, required=False, initial=[2])

_FORM = ("confirms", "note")
_PURPOSE = ("falls_back", "which", "begins")


def a_dialogue(*fields: FormField, actor: str = "chat:4242", **changes: Any) -> Dialogue:
    """At its first question; a change of the form or of its purpose is named after what it is."""
    of_form = {name: changes.pop(name) for name in _FORM if name in changes}
    of_purpose = {name: changes.pop(name) for name in _PURPOSE if name in changes}
    form, initial = portable(Form("A form", fields, **of_form))
    purpose = Purpose(
        handle="HANDLEHANDLEHANDLE1234",
        choice="fill",
        label="Fill in…",
        confirmed=False,
        falls_back="",
    )
    dialogue = Dialogue(
        dialogue_id=ID,
        actor=actor,
        name="Alice",
        card=MessageRef(Place("chat", "-100"), "7"),
        purpose=replace(purpose, **of_purpose),
        form=form,
        expires_at=0.0,
        initial=initial,
    )
    return begun(replace(dialogue, **changes))


def press(dialogue: Dialogue, word: Word, number: int = 0) -> Dialogue:
    """After a press of this button, which must be there."""
    moved = pressed(dialogue, FormButton(ID, dialogue.visit, word, number))
    assert moved is not None
    return moved


def asking(dialogue: Dialogue) -> Asking:
    """What it asks now."""
    assert isinstance(dialogue.state, Asking)
    return dialogue.state
