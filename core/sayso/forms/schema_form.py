"""A JSON Schema as a form, and what was filled in as data that the schema allows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.form import MOST_FIELDS, Form
from sayso.forms.inputs import Inputs
from sayso.forms.schema_fields import beginning_with, begins_faithfully
from sayso.forms.schema_members import Leaf, Member, leaves_of, slimmed
from sayso.forms.schema_nodes import Node, Resolved, plain_schema, resolved
from sayso.forms.schema_objects import Objects
from sayso.forms.values import raw_inputs, same
from sayso.forms.words import ENGLISH, FormWords
from sayso.text.secrets import redacted
from sayso.text.visible import visible

# Of a list of objects, so many are asked for at most; fewer where they would be too many fields.
_MOST_SLOTS = 5


class SchemaForm:
    """A form made of a schema. Whatever can be filled in is data that the schema allows.

    A field of an object within the object is named ``parent.child``; a dot or
    a tilde in a name itself is written ``~1`` or ``~0`` there.
    """

    def __init__(self, form: Form, members: tuple[Member, ...], words: FormWords = ENGLISH) -> None:
        self.form = form
        self._members = members
        self._words = words

    def data(self, values: Inputs) -> dict[str, Any]:
        """The data that values read by the form make.

        Raises:
            InvalidInputError: a part was filled in that needs more.
        """
        data: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for member in self._members:
            if isinstance(member, Leaf):
                member.put(data, values, problems, self._words.needed)
            else:
                member.put(data, values, problems, self._words)
        if problems:
            raise InvalidInputError(problems)
        return data

    def check(self, data: Mapping[str, Any]) -> None:
        """Hold data that comes from elsewhere against the schema.

        Raises:
            InvalidInputError: it could not have come of the form.
        """
        slim, values = self._values(data)
        read = self.form.read(raw_inputs(self.form, values))
        if not same(self.data(read), slim):
            raise InvalidInputError({"data": "it is not what the form asks for"})

    def beginning_with(self, data: Mapping[str, Any]) -> SchemaForm:
        """The same form, each field beginning with its value in the data.

        Raises:
            InvalidInputError: a field cannot show it as it is.
        """
        _, values = self._values(data)
        fields = tuple(replace(field, initial=values.get(field.name)) for field in self.form.fields)
        if not all(map(begins_faithfully, fields)):
            raise InvalidInputError({"data": "a field cannot hold it as it is"})
        return SchemaForm(replace(self.form, fields=fields), self._members, self._words)

    def told(self, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The data as pairs of a label and a visible text, without secrets."""
        _, values = self._values(data)
        return tuple(
            (leaf.field.label, _in_words(leaf, values[leaf.field.name], self._words))
            for leaf in leaves_of(self._members)
            if leaf.field.name in values
        )

    def _values(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The data without what says nothing, and its values by the names of the fields."""
        values: dict[str, Any] = {}
        slim = slimmed(data, self._by_name, values)
        return slim, values

    @cached_property
    def _by_name(self) -> Mapping[str, Member]:
        return {member.name: member for member in self._members}


def schema_form(
    schema: Mapping[str, Any], *, note: str = "", words: FormWords = ENGLISH
) -> SchemaForm:
    """The form that asks for data of a JSON Schema.

    Raises:
        SchemaError: it cannot be asked in chat; it says which part and why.
    """
    members, form = _made(json.dumps(plain_schema(schema)), words)
    return SchemaForm(replace(form, note=note), members, words)


# A desk reads the same schema again with every press.
@lru_cache(maxsize=128)
def _made(schema: str, words: FormWords) -> tuple[tuple[Member, ...], Form]:
    root = json.loads(schema)
    found = resolved(root, root, "")
    if not found.is_object or found.nullable:
        raise SchemaError(found.at, "data that is asked for in chat is an object")
    slots = _MOST_SLOTS
    while True:
        members = tuple(Objects(root, words, slots).members(found.node, found.at))
        fields = tuple(leaf.field for leaf in leaves_of(members))
        if len(fields) <= MOST_FIELDS or slots == 1:
            break
        slots -= 1
    try:
        form = Form(words.fill_in, fields, confirms=len(fields) > 1)
    except ValueError as error:
        raise SchemaError(found.at, str(error)) from None
    return members, _with_defaults(root, found, members, form)


def _with_defaults(root: Node, found: Resolved, members: tuple[Member, ...], form: Form) -> Form:
    """The form with the defaults of whole objects and lists of them to begin with."""
    by_name = {member.name: member for member in members if not isinstance(member, Leaf)}
    values: dict[str, Any] = {}
    for name, schema in found.node["properties"].items():
        default = resolved(root, schema, "").notes.get("default")
        if name in by_name and default:
            within: dict[str, Any] = {}
            with suppress(InvalidInputError):
                slimmed({name: default}, by_name, within)
                values |= within
    fields = (
        beginning_with(field, values[field.name]) if field.name in values else field
        for field in form.fields
    )
    return replace(form, fields=tuple(fields))


def _in_words(leaf: Leaf, value: Any, words: FormWords) -> str:
    if leaf.field.options:
        chosen = value if isinstance(value, list) else [value]
        return ", ".join(
            option.label
            for one in chosen
            for option in leaf.field.options
            if same(option.value, one)
        )
    if isinstance(value, bool):
        return words.said_yes if value else words.said_no
    items = value if isinstance(value, list) else [value]
    return ", ".join(visible(_without_secrets(leaf, str(item))) for item in items)


def _without_secrets(leaf: Leaf, text: str) -> str:
    # A secret is known by the name of its property or by the words shown for it.
    (shown,) = redacted({leaf.name: text}).values()
    (again,) = redacted({leaf.field.label: shown}).values()
    return str(again)
