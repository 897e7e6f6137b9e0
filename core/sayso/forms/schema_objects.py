"""The properties of a JSON Schema's object as the parts of a form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from sayso.errors import SchemaError
from sayso.forms.form import MOST_ITEMS, FormField, Option, When
from sayso.forms.schema_fields import count_of, field_of, is_distinct, label_of
from sayso.forms.schema_members import Chosen, Group, Leaf, Listed, Member
from sayso.forms.schema_nodes import Node, Resolved, only, pointer, resolved
from sayso.forms.values import same
from sayso.forms.words import FormWords


@dataclass(frozen=True, slots=True)
class Objects:
    """Makes the parts of one schema; a list of objects has room for ``slots`` of them."""

    root: Node
    words: FormWords
    slots: int

    def members(self, node: Node, at: str) -> Iterator[Member]:
        """The properties of the whole.

        Raises:
            SchemaError: one of them cannot be asked in chat.
        """
        known = {"type", "properties", "required", "additionalProperties"}
        only(node, known if at else {*known, "$schema", "$id"}, at, "an object")
        properties, required = _properties(node, at)
        for name, schema in properties.items():
            place = pointer(at, "properties", name)
            found = resolved(self.root, schema, place)
            yield self._member(found, name, label_of(name, found.notes), name in required)

    def _member(self, found: Resolved, name: str, label: str, needed: bool) -> Member:
        path = written(name)
        if found.variants:
            return self._chosen(found, name, label, needed)
        if found.is_object:
            ask = needed and not found.nullable
            return self._group(found, name, (path, label), needed=needed, ask=ask)
        if found.node.get("type") == "array" and not found.is_chosen:
            items = resolved(self.root, found.node.get("items", True), pointer(found.at, "items"))
            if items.is_object:
                return self._listed(found, items, name, label, needed)
        return self._leaf(found, name, path, label, needed=needed, ask=needed)

    def _leaf(
        self, found: Resolved, name: str, path: str, label: str, *, needed: bool, ask: bool
    ) -> Leaf:
        empty = found.node.get("type") == "array" and not found.node.get("minItems")
        ask = ask and needed and not found.nullable and not empty
        field = field_of(self.root, found, path, label, self.words, required=ask)
        return Leaf(name, field, needed, found.nullable)

    def _group(
        self,
        found: Resolved,
        name: str,
        around: tuple[str, str],
        *,
        needed: bool,
        ask: bool,
        fixes: bool = False,
    ) -> Group:
        """A flat object, below the path and the label ``around`` it; ``fixes`` its constants."""
        path, label = around
        only(found.node, _KNOWN, found.at, "an object")
        properties, required = _properties(found.node, found.at)
        leaves: list[Leaf] = []
        fixed: dict[str, Any] = {}
        for inner, schema in properties.items():
            place = pointer(found.at, "properties", inner)
            one = resolved(self.root, schema, place)
            if one.variants or one.is_object:
                raise SchemaError(place, "an object two levels down cannot be asked in chat")
            if fixes and one.node.get("const") is not None and not one.nullable:
                only(one.node, {"type", "const"}, one.at, "a constant")
                fixed[inner] = one.node["const"]
                continue
            said = label_of("", {"title": f"{label} › {label_of(inner, one.notes)}"})
            leaves.append(
                self._leaf(
                    one, inner, f"{path}.{written(inner)}", said, needed=inner in required, ask=ask
                )
            )
        return Group(name, tuple(leaves), needed, found.nullable, fixed)

    def _listed(
        self,
        found: Resolved,
        items: Resolved,
        name: str,
        label: str,
        needed: bool,
    ) -> Listed:
        node, at = found.node, found.at
        only(node, {"type", "items", "minItems", "maxItems", "uniqueItems"}, at, "an array")
        if items.nullable:
            raise SchemaError(items.at, "an array with nulls cannot be asked in chat")
        least, most = count_of(node, "minItems", at) or 0, count_of(node, "maxItems", at)
        if least > (MOST_ITEMS if most is None else most):
            raise SchemaError(at, f"no value fits: at least {least} and at most {most}")
        count = max(least, self.slots if most is None else min(most, self.slots))
        slots: list[Group] = []
        before = ""
        for number in range(count):
            ask = needed and not found.nullable and number < least
            around = (f"{written(name)}.{number}", f"{label} {number + 1}")
            slot = self._group(items, name, around, needed=needed, ask=True, fixes=True)
            if not slot.leaves:
                raise SchemaError(items.at, "an object of constants leaves nothing to ask for")
            if not ask:
                slot, before = _optional(slot, before)
            slots.append(slot)
        distinct = is_distinct(node, at)
        return Listed(name, tuple(slots), needed, found.nullable, least, distinct)

    def _chosen(self, found: Resolved, name: str, label: str, needed: bool) -> Chosen:
        path = written(name)
        variants: list[Group] = []
        labels: list[str] = []
        for number, one in enumerate(found.variants):
            said = label_of("", {"title": _called(one, number)})
            around = (f"{path}.{number}", f"{label} › {said}")
            group = self._group(one, name, around, needed=needed, ask=True, fixes=True)
            when = When(path, (str(number),))
            leaves = tuple(
                replace(leaf, field=replace(leaf.field, when=when)) for leaf in group.leaves
            )
            variants.append(replace(group, leaves=leaves))
            labels.append(said)
        _tell_apart(found, variants, labels)
        options = tuple(Option(said, number) for number, said in enumerate(labels))
        ask = needed and not found.nullable
        which = FormField(path, label, "option", required=ask, options=options)
        leaf = Leaf(name, which, needed, found.nullable)
        return Chosen(name, leaf, tuple(variants), needed, found.nullable)


_KNOWN = {"type", "properties", "required", "additionalProperties"}


def written(name: str) -> str:
    """A name in the name of a field, where a dot separates: no two properties share a field."""
    return name.replace("~", "~0").replace(".", "~1")


def _optional(slot: Group, before: str) -> tuple[Group, str]:
    """The slot asked for by its first value that is required, after that of the slot before it.

    Also the name of that value's field; where an object requires none, every
    value may be left out.
    """
    needed = [leaf for leaf in slot.leaves if leaf.field.required]
    if not needed:
        return slot, ""
    first = needed[0]
    anchor = replace(
        first,
        field=replace(
            first.field, required=False, initial=None, when=When(before) if before else None
        ),
    )
    others = tuple(
        replace(leaf, field=replace(leaf.field, when=When(first.field.name)))
        for leaf in slot.leaves
        if leaf is not first
    )
    return replace(slot, leaves=(anchor, *others)), first.field.name


def _called(variant: Resolved, number: int) -> str:
    """The words for a variant: its title, or the first constant in it."""
    title = variant.notes.get("title") or variant.node.get("title")
    if isinstance(title, str) and title.strip():
        return title
    inner = variant.node.get("properties")
    for schema in inner.values() if isinstance(inner, dict) else ():
        if isinstance(schema, dict) and isinstance(schema.get("const"), str):
            return str(schema["const"])
    return str(number + 1)


def _tell_apart(found: Resolved, variants: list[Group], labels: list[str]) -> None:
    """See that no answer fits two variants: a constant or a required value tells which it is."""
    if len(set(labels)) < len(labels):
        raise SchemaError(found.at, "two of these look the same: give each a title")
    for one, other in permutations(variants, 2):
        apart = any(
            name in other.fixed and not same(value, other.fixed[name])
            for name, value in one.fixed.items()
        )
        names = {*one.fixed, *(leaf.name for leaf in one.leaves)}
        missing = any(leaf.required and leaf.name not in names for leaf in other.leaves)
        if not apart and not missing:
            raise SchemaError(
                found.at,
                "an answer could fit two of these: give each a const that tells them apart",
            )


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
