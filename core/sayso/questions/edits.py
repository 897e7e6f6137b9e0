"""Edited arguments: what a person may change before a call runs, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from gettext import NullTranslations
from typing import TYPE_CHECKING, Any

from sayso.cards.card import Choice
from sayso.digests import as_json
from sayso.errors import InvalidCallError, InvalidInputError, SchemaError
from sayso.forms.form import LONGEST_TEXT, Form, FormField
from sayso.forms.form_values import Inputs, is_same_json
from sayso.forms.json_text import SchemaValidator, count_schemas, format_json, parse_json
from sayso.locales import ENGLISH
from sayso.text.secrets import Redaction, marks_in, redacted, redaction
from sayso.text.visible import visible

if TYPE_CHECKING:
    from sayso.forms.json_schema import SchemaForm

EDIT = "edit"

_FIELD = "arguments"


def edit_choice(
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    translations: NullTranslations = ENGLISH,
    *,
    shown: Redaction | None = None,
) -> Choice | None:
    """The choice to change the arguments and allow that.

    None where they are too long to edit, or where the tool's schema costs too
    much to be held against them. Where it can be asked in chat, each argument
    is a field of its own. ``shown`` is what may be shown of them, where that is known.
    """
    shown = shown or redaction(arguments)
    if (fields := _as_fields(arguments, schema, translations, shown)) is not None:
        form = replace(
            fields.form,
            title=translations.gettext("Edit the arguments"),
            submit=translations.gettext("Allow with these"),
        )
        return Choice(EDIT, translations.gettext("Edit arguments…"), needs_sight=True, form=form)
    # The least that they take: what is far too long is not laid out to be measured.
    if not arguments or len(json.dumps(shown.shown, ensure_ascii=False)) > LONGEST_TEXT:
        return None
    written = format_json(shown.shown)
    if len(written) > LONGEST_TEXT or not _is_affordable(schema):
        return None
    field = FormField(_FIELD, translations.gettext("Arguments"), initial=written, multiline=True)
    form = Form(
        translations.gettext("Edit the arguments"),
        (field,),
        submit=translations.gettext("Allow with these"),
        note=translations.gettext(
            "Change the JSON, or write only what changes as name=value, one per line. Leave a "
            "hidden value unchanged to keep it."
        ),
    )
    return Choice(EDIT, translations.gettext("Edit arguments…"), needs_sight=True, form=form)


def edited(
    arguments: Mapping[str, Any],
    inputs: Inputs,
    schema: Mapping[str, Any] | None,
    translations: NullTranslations = ENGLISH,
) -> dict[str, Any]:
    """The arguments as a person changed them; hidden values that were left alone are whole again.

    Raises:
        InvalidInputError: it is neither a JSON object nor lines of name=value, or
            does not fit the tool's schema, or that cannot be used; it says where.
    """
    if (fields := _as_fields(arguments, schema, translations, redaction(arguments))) is not None:
        data = fields.build_data(inputs)
        # What was empty has no field that could say so: it stays as it is.
        empty = {name: value for name, value in arguments.items() if value in (None, "", [])}
        return empty | {name: _kept(value, arguments.get(name)) for name, value in data.items()}
    try:
        changed = _Reader(translations).read(str(inputs[_FIELD]).strip(), arguments)
        shown, hidden = redaction(arguments)
        restored = as_json(_restored(changed, shown, arguments) if hidden else changed)
    except _HiddenMovedError:
        raise InvalidInputError(
            {
                _FIELD: translations.gettext(
                    "a hidden value cannot be moved or changed in part: leave it as it stands or "
                    "replace it"
                )
            }
        ) from None
    except (ValueError, InvalidCallError) as error:
        raise InvalidInputError({_FIELD: str(error)}) from None
    if schema is not None and (problem := _misfit(schema, restored, translations)):
        raise InvalidInputError({_FIELD: problem})
    return restored


def check_edited(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> None:
    """See that arguments which nobody wrote into a form fit the tool's schema.

    Raises:
        InvalidInputError: they do not.
    """
    if schema is not None and (problem := _misfit(schema, arguments, ENGLISH)):
        raise InvalidInputError({_FIELD: problem})


def _is_affordable(schema: Mapping[str, Any] | None) -> bool:
    try:
        return schema is None or count_schemas(schema) > 0
    except ValueError:
        return False


def _kept(value: Any, before: Any) -> Any:
    """The value as it was written before where it is the same: 5 does not become 5.0."""
    if is_same_json(value, before):
        return before
    if isinstance(value, dict) and isinstance(before, dict):
        return {name: _kept(item, before.get(name)) for name, item in value.items()}
    return value


def _misfit(
    schema: Mapping[str, Any], arguments: Mapping[str, Any], translations: NullTranslations
) -> str:
    try:
        problem = SchemaValidator(schema).describe_problems(arguments)
    except SchemaError as error:
        place = f"{error.pointer}: " if error.pointer else ""
        reason = f"the schema of the arguments cannot be used: {place}{error.reason}"
        return translations.gettext("nothing can be edited: {problem}").format(problem=reason)
    return (
        translations.gettext("this does not fit the tool: {problem}").format(problem=problem)
        if problem
        else ""
    )


def _as_fields(
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    translations: NullTranslations,
    shown: Redaction,
) -> SchemaForm | None:
    """The schema as a form that begins with the arguments, where it holds all of each of them."""
    if schema is None or shown.hidden:
        return None  # something in them must not be shown as it is
    if visible(written := json.dumps(arguments, ensure_ascii=False)) != written:
        return None
    # Here, because an agent's process must not pay for it: only desks make forms.
    from sayso.forms.json_schema import build_schema_form

    try:
        form = build_schema_form(schema, translations=translations)
        form.check_data(arguments)
        return form.prefill(arguments)
    except (SchemaError, InvalidInputError):
        return None


class _HiddenMovedError(ValueError):
    """A hidden value is where none was, or only a part of one is left."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads what a person wrote. Every ValueError says in words what would fit."""

    translations: NullTranslations

    def read(self, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if not text.startswith("{"):
            return {**redacted(arguments), **self._lines(text, arguments)}
        found: dict[str, Any] = parse_json(text, self.translations)
        return found

    def _lines(self, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        translations, found = self.translations, dict[str, Any]()
        for number, line in enumerate(filter(None, map(str.strip, text.splitlines())), 1):
            name, equals, value = line.partition("=")
            name = name.strip()
            if not equals:
                raise ValueError(
                    translations.gettext("line {line} is neither JSON nor name=value").format(
                        line=number
                    )
                )
            if name not in arguments:
                known = ", ".join(sorted(redacted(arguments)))
                raise ValueError(
                    translations.gettext(
                        "there is no argument {name}, only {known}; use JSON to add one"
                    ).format(name=repr(name), known=known)
                )
            if name in found:
                raise ValueError(
                    translations.gettext("{name} is given twice").format(name=repr(name))
                )
            found[name] = self._value(name, value.strip(), arguments[name])
        return found

    def _value(self, name: str, text: str, before: Any) -> Any:
        """The new value: a string stays a string, everything else is JSON."""
        if isinstance(before, str):
            return text
        try:
            return parse_json(text, self.translations)
        except ValueError:
            raise ValueError(
                self.translations.gettext(
                    "{name} is not a string, so its value must be JSON"
                ).format(name=repr(name))
            ) from None


def _restored(changed: Any, shown: Any, original: Any) -> Any:
    """The changed value with every hidden part that was left alone as it really is."""
    if _spelled(changed) == _spelled(shown):  # to == True is 1
        return original
    if isinstance(changed, dict) and isinstance(shown, dict):
        names = dict(zip(shown, original, strict=True))
        return {
            names[name] if name in names else _plain(name): (
                _restored(item, shown[name], original[names[name]])
                if name in names
                else _plain(item)
            )
            for name, item in changed.items()
        }
    if isinstance(changed, list) and isinstance(shown, list):
        return _restored_list(changed, shown, original)
    return _plain(changed, shown, original)


def _restored_list(changed: list[Any], shown: list[Any], original: Sequence[Any]) -> list[Any]:
    """Each element that is left alone as a whole as it really is.

    An element has no name that would say which one it was: where several look
    alike that are not, it is the one at its place, and only while all of them
    stand where they stood.
    """
    written, before = [list(map(_spelled, one)) for one in (changed, shown)]
    places: dict[str, list[int]] = {}
    for place, text in enumerate(before):
        places.setdefault(text, []).append(place)
    unmoved = {
        text: len(written) == len(before) and all(written[place] == text for place in alike)
        for text, alike in places.items()
    }
    found = []
    for place, (item, text) in enumerate(zip(changed, written, strict=True)):
        alike = places.get(text, [])
        if len({_spelled(original[one]) for one in alike}) == 1:
            found.append(original[alike[0]])
        elif place in alike and unmoved[text]:
            found.append(original[place])
        else:
            found.append(_plain(item, shown, original))
    return found


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _plain(value: Any, shown: Any = None, original: Any = None) -> Any:
    """A new value as it stands, when it holds no mark but those of the original at its place.

    Whoever wrote the arguments may have written what looks like a mark: that may stay where it
    was. One that we put there, or that was not there, would run in place of what it hides.
    """
    literal = marks_in(original)
    ours = marks_in(shown) - literal
    found = marks_in(value)
    if found - literal or found & ours:
        raise _HiddenMovedError
    return value
