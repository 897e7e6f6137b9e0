"""Forms: fields that a person fills in, from a list or from a JSON Schema, and what was filled in.

A form knows what it asks and what a valid answer is. How it looks is a matter of the adapters,
and which question asks it a matter of ``questions``.
"""

from typing import TYPE_CHECKING

from sayso.later import later

if TYPE_CHECKING:
    from sayso.forms.form import Form, FormField
    from sayso.forms.form_values import NO_INPUTS, Inputs, Raw

__all__ = ["NO_INPUTS", "Form", "FormField", "Inputs", "Raw"]

if not TYPE_CHECKING:  # where another name is a mistake
    __getattr__, __dir__ = later(
        globals(),
        {
            "sayso.forms.form": ("Form", "FormField"),
            "sayso.forms.form_values": ("NO_INPUTS", "Inputs", "Raw"),
        },
    )
