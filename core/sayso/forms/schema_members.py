"""The parts of a form made of a schema: values, objects, lists of objects, choices of objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.errors import InvalidInputError
from sayso.forms.form import FormField
from sayso.forms.inputs import Inputs
from sayso.forms.schema_options import NULL
from sayso.forms.values import same
from sayso.forms.words import FormWords

Problems = dict[str, str]
"""Why fields do not fit, by their names."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value: ``name`` in its object, and what stands in the data for no answer to it."""

    name: str
    field: FormField
    required: bool
    nullable: bool

    @property
    def may_be_empty(self) -> bool:
        """Whether an empty array will do."""
        return self.field.kind in ("options", "list") and not self.field.minimum

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Itself."""
        return (self,)

    def put(self, data: dict[str, Any], values: Inputs, problems: Problems, why: str) -> None:
        """Put the value into its object; ``why`` says that one which is required is missing."""
        value = values.get(self.field.name)
        if value is not None:
            data[self.name] = _with_nulls(value)
        elif self.required and self.nullable:
            data[self.name] = None
        elif self.required and self.may_be_empty:
            data[self.name] = []
        elif self.required:
            problems[self.field.name] = why

    def take(self, slim: dict[str, Any], value: Any, values: dict[str, Any]) -> None:
        """What the value of the data is in the form."""
        if value is None and self.nullable:
            if self.required:
                slim[self.name] = None
        elif value == [] and self.may_be_empty:
            if self.required:
                slim[self.name] = []
        else:
            slim[self.name] = value
            values[self.field.name] = _with_chosen_nulls(self.field, value)


@dataclass(frozen=True, slots=True)
class Group:
    """An object of several values; ``fixed`` are those that are always the same."""

    name: str
    leaves: tuple[Leaf, ...]
    required: bool
    nullable: bool
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def is_in(self, values: Inputs) -> bool:
        """Whether something was answered for it."""
        return any(leaf.field.name in values for leaf in self.leaves)

    def filled(self, values: Inputs, problems: Problems, why: str) -> dict[str, Any]:
        """The object."""
        data = dict(self.fixed)
        for leaf in self.leaves:
            leaf.put(data, values, problems, why)
        return data

    def slimmed(self, value: Any, values: dict[str, Any]) -> dict[str, Any]:
        """The object without what says nothing, its values by the names of their fields."""
        if not isinstance(value, Mapping):
            raise InvalidInputError({"data": "an object is needed here"})
        given = dict(value)
        for name, constant in self.fixed.items():
            if not same(given.pop(name, constant), constant):
                raise InvalidInputError({"data": f"the property {name!r:.60} has another value"})
        return dict(self.fixed) | slimmed(given, {leaf.name: leaf for leaf in self.leaves}, values)

    def put(
        self, data: dict[str, Any], values: Inputs, problems: Problems, words: FormWords
    ) -> None:
        """Put the object into the one around it."""
        if (self.nullable or not self.required) and not self.is_in(values):
            if self.required:
                data[self.name] = None
            return
        optional = self.nullable or not self.required
        why = words.needed_or_none.format(name=f"{self.name!r:.60}") if optional else words.needed
        data[self.name] = self.filled(values, problems, why)

    def take(self, slim: dict[str, Any], value: Any, values: dict[str, Any]) -> None:
        """What the value of the data is in the form."""
        if value is None and self.nullable:
            if self.required:
                slim[self.name] = None
            return
        slim[self.name] = self.slimmed(value, values)


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of objects: as many as there are ``slots`` for."""

    name: str
    slots: tuple[Group, ...]
    required: bool
    nullable: bool
    minimum: int
    distinct: bool

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The values of all slots."""
        return tuple(leaf for slot in self.slots for leaf in slot.leaves)

    def put(
        self, data: dict[str, Any], values: Inputs, problems: Problems, words: FormWords
    ) -> None:
        """Put the list into the object around it."""
        asked = [slot for slot in self.slots if slot.is_in(values)]
        if asked or (self.required and not self.nullable and self.minimum):
            # Those that are needed are asked for, whichever were filled in.
            needed = self.slots[: self.minimum]
            asked = [slot for slot in self.slots if slot in needed or slot in asked]
            items = [slot.filled(values, problems, words.needed) for slot in asked]
            data[self.name] = items
            if self.distinct and any(
                same(item, other) for at, item in enumerate(items) for other in items[:at]
            ):
                problems[asked[-1].leaves[0].field.name] = words.item_once
        elif self.required:
            data[self.name] = None if self.nullable else []

    def take(self, slim: dict[str, Any], value: Any, values: dict[str, Any]) -> None:
        """What the value of the data is in the form."""
        if value is None and self.nullable:
            if self.required:
                slim[self.name] = None
            return
        if not isinstance(value, list):
            raise InvalidInputError({"data": f"{self.name!r:.60} is a list"})
        if len(value) > len(self.slots):
            raise InvalidInputError(
                {"data": f"{self.name!r:.60} has more than {len(self.slots)} items"}
            )
        items = [slot.slimmed(item, values) for slot, item in zip(self.slots, value, strict=False)]
        if items or self.required:
            slim[self.name] = items


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of several objects: ``which`` asks for the number of its variant."""

    name: str
    which: Leaf
    variants: tuple[Group, ...]
    required: bool
    nullable: bool

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The choice, and the values of all variants."""
        return (self.which, *(leaf for variant in self.variants for leaf in variant.leaves))

    def put(
        self, data: dict[str, Any], values: Inputs, problems: Problems, words: FormWords
    ) -> None:
        """Put the object into the one around it."""
        number = values.get(self.which.field.name)
        if number is not None:
            data[self.name] = self.variants[number].filled(values, problems, words.needed)
        elif self.required and self.nullable:
            data[self.name] = None
        elif self.required:
            problems[self.which.field.name] = words.needed

    def take(self, slim: dict[str, Any], value: Any, values: dict[str, Any]) -> None:
        """What the value of the data is in the form: the variant that it fits."""
        if value is None and self.nullable:
            if self.required:
                slim[self.name] = None
            return
        for number, variant in enumerate(self.variants):
            within: dict[str, Any] = {}
            try:
                found = variant.slimmed(value, within)
            except InvalidInputError:
                continue
            if all(leaf.name in found for leaf in variant.leaves if leaf.required):
                slim[self.name] = found
                values.update(within, **{self.which.field.name: number})
                return
        raise InvalidInputError({"data": f"{self.name!r:.60} is none of the choices"})


Member = Leaf | Group | Listed | Chosen


def slimmed(
    data: Any, members: Mapping[str, Leaf] | Mapping[str, Member], values: dict[str, Any]
) -> dict[str, Any]:
    """The data without what says nothing; its values go into ``values`` by their fields' names.

    Raises:
        InvalidInputError: there is something in it that the form does not ask for.
    """
    if not isinstance(data, Mapping):
        raise InvalidInputError({"data": "an object is needed here"})
    slim: dict[str, Any] = {}
    for name, value in data.items():
        member = members.get(name)
        if member is None:
            raise InvalidInputError({"data": f"there is no property {name!r:.60}"})
        member.take(slim, value, values)
    return slim


def leaves_of(members: tuple[Member, ...]) -> Iterator[Leaf]:
    """All values that are asked for, in order."""
    for member in members:
        yield from member.leaves


def _with_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nulls(item) for item in value]
    return None if value is NULL else value


def _with_chosen_nulls(asked: FormField, value: Any) -> Any:
    if asked.kind == "options" and isinstance(value, list):
        return [NULL if item is None else item for item in value]
    return NULL if value is None and asked.kind == "option" else value
