"""The words of forms that are asked question by question, and what repliers are told."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.cards import words as cards
from sayso.cards.words import CardWords


@dataclass(frozen=True, slots=True)
class ConversationWords:
    """One language of conversations, with that of cards: templates with named gaps.

    ``person`` and ``label`` may be shown as what they are, a mention or a name.
    """

    for_person: str
    step: str
    optional: str
    so_far: str
    summary: str
    reply_here: str
    user: str

    your_answer: str
    reply_with: str
    reply_or_press: str
    press_a_button: str
    keep: str
    keep_it: str
    back: str
    done: str
    done_with_none: str

    sent: str
    cancelled: str
    begun_anew: str
    could_not_ask: str
    nobody_can_type: str
    no_form: str
    unfit_together: str

    over: str
    answered: str
    changed: str
    not_text: str
    nobodys: str
    not_their_question: str
    not_their_form: str
    seen_before: str

    cards: CardWords


ENGLISH = ConversationWords(
    for_person="For {person}",
    step="{at} of {count}",
    optional="(optional)",
    so_far="So far:",
    summary="Is all of this right?",
    reply_here="{person}, reply to this message: {label}",
    user="user {number}",
    your_answer="your answer",
    reply_with="Reply with {what}.",
    reply_or_press="Reply with {what}, or press a button.",
    press_a_button="Nobody can type an answer here: press a button.",
    keep="Keep: {answer}",
    keep_it="Keep it as it is",
    back="« {back}",
    done="{done} ({count})",
    done_with_none="{done}: none of them",
    sent="Sent.",
    cancelled="Cancelled: nothing was decided.",
    begun_anew="This was started again below.",
    could_not_ask="The question could not be shown: press the button on the card again.",
    nobody_can_type="nobody can type an answer there: route it to a group or to a person",
    no_form="{label} has no form",
    unfit_together="these answers do not fit together",
    over="The time for this is over: press the button on the card again.",
    answered="This was answered already: the form above shows where it stands.",
    changed="The form has changed in the meantime.",
    not_text="Only text can be an answer here: reply to the question with text.",
    nobodys=(
        "This was sent in the name of a chat or an anonymous admin, so nobody can tell whose "
        "answer it is. It decides nothing: reply as yourself."
    ),
    not_their_question=(
        "This question is {name}'s: your reply decides nothing. "
        "To answer it yourself, press {label} on the card."
    ),
    not_their_form="This form is {name}'s: press {label} on the card.",
    seen_before="This was taken before.",
    cards=cards.ENGLISH,
)
