"""Forms: fields that a person fills in, from a list or from a JSON Schema, and what was filled in.

A form knows what it asks and what a valid answer is. How it looks is a matter of the adapters,
and which question asks it a matter of ``questions``.
"""

from sayso.forms.form import NO_INPUTS, Form, FormField, Inputs, Raw

__all__ = ["NO_INPUTS", "Form", "FormField", "Inputs", "Raw"]
