"""A JSON Schema as a form, and what was filled in as data that the schema allows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.form import Form, FormField, Inputs
from sayso.forms.schema_fields import NULL, field_of, label_of
from sayso.forms.schema_nodes import Node, only, plain_schema, pointer, resolved
from sayso.forms.values import raw_inputs, same
from sayso.forms.words import ENGLISH, FormWords
from sayso.text.secrets import redacted
from sayso.text.visible import visible


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One value: ``name`` in its object, and what stands in the data for no answer to it."""

    name: str
    field: FormField
    required: bool
    nullable: bool

    @property
    def may_be_empty(self) -> bool:
        """Whether an empty array will do."""
        return self.field.kind == "options" and not self.field.minimum

    def put(self, data: dict[str, Any], values: Inputs) -> bool:
        """Put the value into its object; whether one that the schema requires is missing."""
        value = values.get(self.field.name)
        if value is not None:
            data[self.name] = _with_nulls(value)
        elif self.required and self.nullable:
            data[self.name] = None
        elif self.required and self.may_be_empty:
            data[self.name] = []
        return self.required and self.name not in data


@dataclass(frozen=True, slots=True)
class _Group:
    """An object of several values."""

    name: str
    leaves: tuple[_Leaf, ...]
    required: bool
    nullable: bool


class SchemaForm:
    """A form made of a schema. Whatever can be filled in is data that the schema allows.

    A field of an object within the object is named ``parent.child``; a dot or
    a tilde in a name itself is written ``~1`` or ``~0`` there.
    """

    def __init__(
        self, form: Form, members: tuple[_Leaf | _Group, ...], words: FormWords = ENGLISH
    ) -> None:
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
            if isinstance(member, _Leaf):
                if member.put(data, values):
                    problems[member.field.name] = self._words.needed
                continue
            optional = member.nullable or not member.required
            if optional and not any(leaf.field.name in values for leaf in member.leaves):
                if member.required:
                    data[member.name] = None
                continue
            inner = data[member.name] = {}
            for leaf in member.leaves:
                if leaf.put(inner, values):
                    why = self._words.needed_or_none if optional else self._words.needed
                    problems[leaf.field.name] = why.format(name=f"{member.name!r:.60}")
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
        """The same form, each field beginning with its value in the data."""
        _, values = self._values(data)
        fields = tuple(replace(field, initial=values.get(field.name)) for field in self.form.fields)
        return SchemaForm(replace(self.form, fields=fields), self._members, self._words)

    def told(self, data: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The data as pairs of a label and a visible text, without secrets."""
        _, values = self._values(data)
        return tuple(
            (leaf.field.label, _in_words(leaf, values[leaf.field.name], self._words))
            for leaf in self._leaves()
            if leaf.field.name in values
        )

    def _leaves(self) -> Iterator[_Leaf]:
        for member in self._members:
            yield from (member,) if isinstance(member, _Leaf) else member.leaves

    def _values(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The data without what says nothing, and its values by the names of the fields."""
        values: dict[str, Any] = {}
        slim = _slim(data, self._by_name, values)
        return slim, values

    @cached_property
    def _by_name(self) -> Mapping[str, _Leaf | _Group]:
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
def _made(schema: str, words: FormWords) -> tuple[tuple[_Leaf | _Group, ...], Form]:
    root = json.loads(schema)
    found = resolved(root, root, "")
    if found.node.get("type") != "object" or found.nullable:
        raise SchemaError(found.at, "data that is asked for in chat is an object")
    members = tuple(_members(root, found.node, found.at, words, within=None))
    fields = tuple(
        leaf.field
        for member in members
        for leaf in ((member,) if isinstance(member, _Leaf) else member.leaves)
    )
    try:
        return members, Form(words.fill_in, fields, confirms=len(fields) > 1)
    except ValueError as error:
        raise SchemaError(found.at, str(error)) from None


def _members(
    root: Node, node: Node, at: str, words: FormWords, *, within: tuple[str, str, bool] | None
) -> Iterator[_Leaf | _Group]:
    """The properties of an object; ``within`` are name, label and need of the one around it."""
    known = {"type", "properties", "required", "additionalProperties"}
    only(node, known if at else {*known, "$schema", "$id"}, at, "an object")
    properties, required = _properties(node, at)
    for name, schema in properties.items():
        place = pointer(at, "properties", name)
        found = resolved(root, schema, place)
        label = label_of(name, found.notes)
        needed = name in required
        if found.node.get("type") == "object" and not {"enum", "const"} & found.node.keys():
            if within is not None:
                raise SchemaError(place, "an object two levels down cannot be asked in chat")
            around = (name, label, needed and not found.nullable)
            inner = _members(root, found.node, found.at, words, within=around)
            leaves = tuple(leaf for leaf in inner if isinstance(leaf, _Leaf))
            yield _Group(name, leaves, needed, found.nullable)
            continue
        empty = found.node.get("type") == "array" and not found.node.get("minItems")
        ask = needed and not found.nullable and not empty
        path, words_for_it = _written(name), label
        if within is not None:
            path = f"{_written(within[0])}.{path}"
            words_for_it = label_of("", {"title": f"{within[1]} › {label}"})
            ask = ask and within[2]
        field = field_of(root, found, path, words_for_it, words, required=ask)
        yield _Leaf(name, field, needed, found.nullable)


def _properties(node: Node, at: str) -> tuple[Mapping[str, Any], list[str]]:
    properties, required = node.get("properties"), node.get("required", [])
    if not isinstance(properties, dict) or not properties:
        raise SchemaError(at, "an object without properties leaves nothing to ask for")
    if not isinstance(node.get("additionalProperties", True), bool):
        raise SchemaError(
            pointer(at, "additionalProperties"), "values without a name cannot be asked in chat"
        )
    if not isinstance(required, list):
        raise SchemaError(pointer(at, "required"), "this is a list of names")
    for number, name in enumerate(required):
        if not isinstance(name, str) or name not in properties:
            raise SchemaError(pointer(at, "required", number), "there is no property of this name")
    return properties, required


def _written(name: str) -> str:
    """A name in the name of a field, where a dot separates: no two properties share a field."""
    return name.replace("~", "~0").replace(".", "~1")


def _slim(
    data: Any, members: Mapping[str, _Leaf | _Group], values: dict[str, Any]
) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise InvalidInputError({"data": "an object is needed here"})
    slim: dict[str, Any] = {}
    for name, value in data.items():
        member = members.get(name)
        if member is None:
            raise InvalidInputError({"data": f"there is no property {name!r:.60}"})
        if value is None and member.nullable:
            if member.required:
                slim[name] = None
        elif isinstance(member, _Group):
            slim[name] = _slim(value, {leaf.name: leaf for leaf in member.leaves}, values)
        elif value == [] and member.may_be_empty:
            if member.required:
                slim[name] = []
        else:
            slim[name] = value
            values[member.field.name] = _with_chosen_nulls(member.field, value)
    return slim


def _with_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nulls(item) for item in value]
    return None if value is NULL else value


def _with_chosen_nulls(field: FormField, value: Any) -> Any:
    if field.kind == "options" and isinstance(value, list):
        return [NULL if item is None else item for item in value]
    return NULL if value is None and field.kind == "option" else value


def _in_words(leaf: _Leaf, value: Any, words: FormWords) -> str:
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
    # A secret is known by the name of its property or by the words shown for it.
    (shown,) = redacted({leaf.name: str(value)}).values()
    (again,) = redacted({leaf.field.label: shown}).values()
    return visible(again)
