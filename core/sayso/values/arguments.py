"""The arguments of a call as the values of its card."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from gettext import NullTranslations
from typing import Any

from sayso.locales import ENGLISH
from sayso.text.agents import shown_as_agents
from sayso.text.kind import Kind
from sayso.text.secrets import redacted
from sayso.text.visible import folded, folded_json, format_count, unmarked, visible
from sayso.values.edits import PATHS, Edits, differences, edits_in, shown_line
from sayso.values.kinds import kind_of, kind_of_file
from sayso.values.layout import laid_out
from sayso.values.value import Value, is_name, plain_text

_LONGEST_LIST = 400
_LONGEST_ITEM = 60
_FEW = 4
_AS_IT_IS = (None, "json", "text", "list")
_FIRST = ("diff", "shell", "sql", "http")
_OF_FILES = ("content", "contents", "file_text", "new_source", "text", "code")


def values_of(
    arguments: Mapping[str, Any],
    kinds: Mapping[str, Kind] | None = None,
    *,
    talk: Collection[str] = (),
    lines: Sequence[int] = (),
    translations: NullTranslations = ENGLISH,
) -> tuple[Value, ...]:
    """The arguments, whose secrets are hidden already, as people read them: the thing itself first.

    ``kinds`` says which kind an argument is of, by its name; of the others the value says it.
    An edit is the difference that it makes, at its line of ``lines`` where that is known. What
    is ``talk`` stands last.
    """
    edits = edits_in(arguments)
    made = tuple(_values(arguments, kinds or {}, edits, lines, translations))
    return tuple(sorted(made, key=lambda value: value.name in talk))


def raw_values(arguments: Mapping[str, Any]) -> tuple[Value, ...]:
    """The arguments that ``values_of`` tells as differences, as they are written in the call."""
    edits = edits_in(arguments)
    if edits is None:
        return ()
    return tuple(
        _value(name, arguments[name], None, "", ENGLISH)
        for name in arguments
        if name in edits.names
    )


def shown_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments as one plain text, without secrets. Of none it says nothing."""
    plain = redacted(dict(arguments))
    return plain_text(_value(name, item, None, "", ENGLISH) for name, item in plain.items())


def _values(
    arguments: Mapping[str, Any],
    kinds: Mapping[str, Kind],
    edits: Edits | None,
    lines: Sequence[int],
    translations: NullTranslations,
) -> Iterator[Value]:
    path = next((arguments[name] for name in PATHS if isinstance(arguments.get(name), str)), "")
    rest = {
        name: item for name, item in arguments.items() if edits is None or name not in edits.names
    }
    made = [_value(name, item, kinds.get(name), path, translations) for name, item in rest.items()]
    if len(arguments) == 1 and isinstance(next(iter(arguments.values())), str):
        yield from (_without_name(value) for value in made)
        return
    if edits is not None:
        # The file first: it is what the difference is of.
        yield from (value for value in made if value.name == edits.path)
        yield from differences(edits, translations, lines)
        made = [value for value in made if not edits.path or value.name != edits.path]
    yield from (value for value in made if value.kind in _FIRST)
    yield from (value for value in made if value.kind not in _FIRST)


def _without_name(value: Value) -> Value:
    return Value("", value.text, value.kind, value.language, value.note) if value.name else value


def _value(
    name: str, item: Any, kind: Kind | None, path: str, translations: NullTranslations
) -> Value:
    if isinstance(item, str):
        made = _of_string(name, item, kind, path, translations)
    else:
        made = _of_json(item, translations)
    if is_name(name):
        return Value(name, made.text, made.kind, made.language, made.note)
    # What is no name could say anything: it stands with its value, where all is the agent's.
    quoted = folded_json(visible(unmarked(json.dumps(name, ensure_ascii=False)), one_line=True))
    gap = "\n" if "\n" in made.text else " "
    return Value("", f"{quoted}:{gap}{made.text}")


def _of_string(
    name: str, text: str, kind: Kind | None, path: str, translations: NullTranslations
) -> Value:
    if kind in _AS_IT_IS and "\n" not in text and _looks_like_json(text):
        if len(text) > _LONGEST_ITEM and (written := laid_out(text)) is not None:
            return Value(
                "", _json_text(written), "json", note=translations.gettext("JSON in a string")
            )
        return Value("", _json_text(json.dumps(visible(text), ensure_ascii=False)))
    if kind in (None, "json") and (written := laid_out(text)) is not None:
        return Value("", _json_text(written), "json", note=translations.gettext("JSON in a string"))
    language = kind_of_file(path)[1] if kind == "code" and path else ""
    if kind is None and (kind := kind_of(text)) == "text" and name in _OF_FILES and path:
        kind, language = kind_of_file(path) if "\n" in text else ("text", "")
    if kind == "diff":
        lines = (shown_line(line) if line.strip() else line for line in text.split("\n"))
        return Value("", folded("\n".join(lines)), kind)
    return Value("", shown_as_agents(text), kind or "text", language)


def _of_json(item: Any, translations: NullTranslations) -> Value:
    if isinstance(item, list | tuple) and item and all(map(_is_short, item)):
        line = json.dumps(item, ensure_ascii=False)
        if len(line) <= _LONGEST_LIST:
            note = (
                format_count(translations, "{count} entry", "{count} entries", len(item))
                if len(item) > _FEW
                else ""
            )
            return Value("", _json_text(line), "list", note=note)
    if isinstance(item, int | float | None) or item in ([], {}):
        return Value("", _json_text(json.dumps(item, ensure_ascii=False)))
    return Value("", _json_text(json.dumps(item, ensure_ascii=False, indent=2)), "json")


def _is_short(item: Any) -> bool:
    if isinstance(item, str):
        return len(item) <= _LONGEST_ITEM
    return item is None or isinstance(item, int | float)


def _json_text(written: str) -> str:
    return folded_json(visible(unmarked(written)))


def _looks_like_json(text: str) -> bool:
    # "5" and 5, "" and nothing must not look alike on a card.
    if text != text.strip() or not text:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
