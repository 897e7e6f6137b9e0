"""The words of forms: what people read beside a field. Nothing decides on them."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class FormWords:
    """One language of forms: templates with named gaps. Another language is another value."""

    fill_in: str
    send: str
    cancel: str
    leave_out: str
    back: str
    skip: str
    done: str

    yes: str
    no: str
    said_yes: str
    said_no: str
    none: str

    needed: str
    unfit: str
    must_be: str
    whole_number: str
    number: str
    finite: str
    yes_or_no: str
    text: str
    date: str
    moment: str
    email: str
    url: str
    pattern: str
    least: str
    most: str
    least_characters: Counted
    most_characters: Counted
    least_options: Counted
    most_options: Counted
    several_options: str
    one_option: str
    each_once: str
    lines: str
    on_line: str
    least_items: Counted
    most_items: Counted
    item_once: str
    too_deep: str
    curly_quotes: str
    not_json: str
    no_such_constant: str
    name_twice: str
    json: str
    json_such_as: str
    unfit_for_schema: str

    @property
    def steps(self) -> tuple[str, ...]:
        """What forms that are asked step by step call their own buttons."""
        return (
            self.back,
            self.cancel,
            self.done,
            self.leave_out,
            self.send,
            self.skip,
        )


ENGLISH = FormWords(
    fill_in="Fill in",
    send="Send",
    cancel="Cancel",
    leave_out="Leave it out",
    back="Back",
    skip="Skip",
    done="Done",
    yes="Yes",
    no="No",
    said_yes="yes",
    said_no="no",
    none="none",
    needed="an answer is needed here",
    unfit="this does not fit",
    must_be="this must be {what}",
    whole_number="a whole number, such as 3",
    number="a number, such as 2.5",
    finite="a finite number",
    yes_or_no="yes or no",
    text="text",
    date="a date, such as 2026-11-21",
    moment="a date and a time with its zone, such as 2026-11-21 14:30 UTC",
    email="an address such as ana@example.com",
    url="an address such as https://example.com",
    pattern="text that matches {pattern}",
    least="at least {number}",
    most="at most {number}",
    least_characters=Counted("at least {count} character", "at least {count} characters"),
    most_characters=Counted("at most {count} character", "at most {count} characters"),
    least_options=Counted("at least {count} of the options", "at least {count} of the options"),
    most_options=Counted("at most {count} of the options", "at most {count} of the options"),
    several_options="one or several of the options",
    one_option="choose one of the options",
    each_once="choose each option once",
    lines="one on each line",
    on_line="line {number}: {problem}",
    least_items=Counted("a list of at least {count}", "a list of at least {count}"),
    most_items=Counted("a list of at most {count}", "a list of at most {count}"),
    item_once="write each one once",
    too_deep="this is nested too deeply",
    curly_quotes='write straight quotes ("), not curly ones: line {line}, column {column}',
    not_json="this is not JSON: {problem} at line {line}, column {column}",
    no_such_constant="{name} is not JSON",
    name_twice="a name appears twice in the same object",
    json="JSON",
    json_such_as="JSON, such as {example}",
    unfit_for_schema="this does not fit: {problem}",
)
