"""Forms of a conversation, and presses in one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sayso.chats.places import MessageRef, Place
from sayso.forms.form import Form, FormField, Option
from sayso.platforms.conversation_steps import (
    Conversation,
    FormButton,
    Purpose,
    Word,
    detach_values,
    go_to,
    press_button,
)

ID = "DIALOGUEDIALOGUE123456"
NAME = FormField("name", "Name")
NOTE = FormField("note", "Note", required=False)
YES = FormField("yes", "Really?", "boolean")
SIZE = FormField("size", "Size", "option", options=(Option("S", 1), Option("L", 2)))
TAGS = FormField(
    "tags", "Tags", "options", options=tuple(Option(f"tag {n}", n) for n in range(90)), maximum=2
)
COUNT = FormField("count", "Count", "integer", minimum=1)
DAY = FormField("day", "Day", "date")
WHY = FormField("why", "Why", suggestions=("Too risky", "Not now"))
DRY = FormField("dry", "Dry run", "boolean", required=False, initial=True)

_FORM = ("confirms", "note")
_PURPOSE = ("falls_back", "which", "begins")


def a_conversation(
    *fields: FormField, actor: str = "telegram:4242", **changes: Any
) -> Conversation:
    """At its first question; a change of the form or of its purpose is named after what it is."""
    of_form = {name: changes.pop(name) for name in _FORM if name in changes}
    of_purpose = {name: changes.pop(name) for name in _PURPOSE if name in changes}
    form, values = detach_values(Form("A form", fields, **of_form))
    purpose = Purpose(
        handle="HANDLEHANDLEHANDLE1234",
        choice="fill",
        label="Fill in…",
        confirmed=False,
        falls_back="",
    )
    conversation = Conversation(
        conversation_id=ID,
        actor=actor,
        name="Alice",
        card=MessageRef(Place("chat", "-100"), "7"),
        purpose=replace(purpose, **of_purpose),
        form=form,
        expires_at=0.0,
        values=values,
    )
    return go_to(replace(conversation, **changes), 0)


def press(conversation: Conversation, word: Word, number: int = 0) -> Conversation:
    """After a press of this button, which must be there."""
    after = press_button(conversation, FormButton(ID, conversation.step, word, number))
    assert after is not None
    return after
