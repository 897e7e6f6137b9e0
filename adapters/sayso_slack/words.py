"""The words of Slack's dialogs: what people read in them besides cards and forms."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.calling import words as calling
from sayso.calling.words import CallWords
from sayso.cards import words as cards
from sayso.cards.words import CardWords
from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class SlackWords:
    """One language of Slack's dialogs, with that of cards: templates with named gaps."""

    counts_at_once: str
    copied: str
    ready_made: str
    one_of_two: str
    instead: str
    each_line: str
    left_empty: str

    too_late: str
    not_taken: str
    was_not_taken: str
    entered: str
    answer: str
    too_long: str

    too_large: str
    press_again: str
    cannot_ask: str
    name_too_long: str
    initial_too_long: Counted
    too_many_options: str
    no_text_fits: str
    no_number_fits: str
    half_a_pair: str
    too_many_blocks: Counted
    needs_more_blocks: Counted
    needs_more_bytes: Counted
    handle_too_long: str

    calls: CallWords
    cards: CardWords


ENGLISH = SlackWords(
    counts_at_once="Closed without an answer, it counts at once.",
    copied="Also suggested, to be copied:",
    ready_made="{label}: ready-made answers",
    one_of_two="One of the two is needed.",
    instead="What you write here counts instead of a ready-made answer.",
    each_line="Write {lines}.",
    left_empty="Left empty, it is removed.",
    too_late="Too late",
    not_taken="Not taken",
    was_not_taken="This was not taken.",
    entered="What you entered",
    answer="Answer",
    too_long="It is too long to be shown again.",
    too_large="it is too large for a Slack dialog",
    press_again="the press came without a trigger_id: press again",
    cannot_ask="Slack's dialog cannot ask for “{label}”: {reason}",
    name_too_long="its name is too long for Slack",
    initial_too_long=Counted(
        "its text has {count} character, over {most}",
        "its text has {count} characters, over {most}",
    ),
    too_many_options="it has {count} options, over {most}",
    no_text_fits="no text can meet both its minimum and its maximum length",
    no_number_fits="no number can meet both its minimum and its maximum",
    half_a_pair="the form holds half of a surrogate pair, which Slack cannot carry",
    too_many_blocks=Counted(
        "the form is too large for a Slack dialog: it needs {count} block of at most "
        "{most}, and {size} bytes of at most {most_size}",
        "the form is too large for a Slack dialog: it needs {count} blocks of at most "
        "{most}, and {size} bytes of at most {most_size}",
    ),
    needs_more_blocks=Counted(
        "a Slack dialog has {count} block, and it needs more",
        "a Slack dialog has {count} blocks, and it needs more",
    ),
    needs_more_bytes=Counted(
        "a Slack dialog has {count} byte, and it needs more",
        "a Slack dialog has {count} bytes, and it needs more",
    ),
    handle_too_long="the card's handle is too long for a dialog",
    calls=calling.ENGLISH,
    cards=cards.ENGLISH,
)
