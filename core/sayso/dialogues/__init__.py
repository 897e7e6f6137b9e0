"""A form asked for in a chat, question by question, for platforms without a dialog that holds it.

Where one person stands in a form, what each answer leads to, whose answers count and for how
long. No platform is named here: one that uses this room keeps the small promise in ``chat`` and
renders the views.
"""

from sayso.dialogues.buttons import FormButton, form_button_data, read_form_button
from sayso.dialogues.chat import DialogueChat, FormPress, Outcome, Reply, Taken
from sayso.dialogues.dialogues import Dialogues
from sayso.dialogues.drafts import DialogueDrafts
from sayso.dialogues.messages import Messages
from sayso.dialogues.openings import Openings
from sayso.dialogues.view import Board, Given, Note, Offer, Person, Prompt, Question
from sayso.dialogues.words import DialogueWords

__all__ = [
    "Board",
    "DialogueChat",
    "DialogueDrafts",
    "DialogueWords",
    "Dialogues",
    "FormButton",
    "FormPress",
    "Given",
    "Messages",
    "Note",
    "Offer",
    "Openings",
    "Outcome",
    "Person",
    "Prompt",
    "Question",
    "Reply",
    "Taken",
    "form_button_data",
    "read_form_button",
]
