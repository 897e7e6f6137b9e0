"""What one platform can show and ask for; whatever it says, the core has bounds of its own."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.cards.card import CardBody
from sayso.forms.form import LONGEST_TEXT, MOST_FIELDS, MOST_OPTIONS, Form, FormField


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """One platform's limits, unless said otherwise as wide as the core's own.

    ``content`` is how many characters of content a card shows, ``reveal`` how
    many *Show all* can show. ``fields`` are those of one form, ``options`` those of
    one field, ``text`` is the longest text that can be begun with or written.
    """

    content: int
    reveal: int
    fields: int = MOST_FIELDS
    options: int = MOST_OPTIONS
    text: int = LONGEST_TEXT

    def problem(self, body: CardBody) -> str:
        """Why the question cannot be answered here; empty when it can.

        Choices behind *More…* and those that fall back to another one may turn
        out not to fit: whoever presses them is told, and decides otherwise.
        """
        for choice in body.choices:
            if choice.form is not None and not choice.falls_back:
                problem = self._of_form(choice.form)
                if problem:
                    return f"{choice.label!r} cannot be asked for: {problem}"
        return ""

    def _of_form(self, form: Form) -> str:
        if len(form.fields) > self.fields:
            return f"the form has {len(form.fields)} fields, and {self.fields} fit"
        return next(filter(None, map(self._of_field, form.fields)), "")

    def _of_field(self, asked: FormField) -> str:
        if len(asked.options) > self.options:
            return f"{asked.label!r} has {len(asked.options)} options, and {self.options} fit"
        begun = len(asked.initial) if isinstance(asked.initial, str) else 0
        least = asked.minimum if asked.kind == "text" and asked.minimum else 0
        if max(begun, least) > self.text:
            return f"{asked.label!r} needs a text of more than {self.text:,} characters"
        return ""
