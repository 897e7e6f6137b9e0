"""How a value stands on the page with everything."""

from __future__ import annotations

from sayso.values.value import Value, headed, unheaded


def on_page(value: Value) -> str:
    """A value below its name, which nothing in a text can look like."""
    heading = " · ".join(filter(None, (value.name, value.note)))
    return headed(heading, value.text) if heading else unheaded(value.text)
