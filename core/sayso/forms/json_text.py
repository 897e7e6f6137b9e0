"""JSON that people write: read strictly, shown visibly, checked against a JSON Schema.

The checks need jsonschema-rs, of the extra ``schema``, which the bots have. It is imported
with the first check, because most agents never make one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from gettext import NullTranslations
from typing import Any
from urllib.parse import unquote

from sayso.errors import SchemaError
from sayso.text.visible import is_mark, visible

MAX_SCHEMA_BYTES = 64 * 1024
MAX_REFERENCES = 1_000
MAX_WORK = 50_000
"""How many parts a schema has at most, and how many pairs of a schema and a value are compared."""

_MAX_PROBLEMS = 3
# Phones replace the quotes of JSON with these.
_CURLY = ("“", "”", "„", "‟", "«", "»")
_STRAIGHT = str.maketrans(dict.fromkeys(_CURLY, '"'))
# These words move the place that a reference starts from, or lead where only the data decides.
_UNTRACEABLE = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef")


def parse_json(text: str, translations: NullTranslations) -> Any:
    """Read JSON, without duplicate names and with finite numbers only.

    Raises:
        ValueError: the text is no such JSON; the message says where and why.
    """

    def refuse_constant(name: str) -> Any:
        raise ValueError(translations.gettext("{name} is not JSON").format(name=name))

    def read_float(text: str) -> float:
        if not math.isfinite(number := float(text)):
            what = translations.gettext("a finite number")
            raise ValueError(translations.gettext("this must be {what}").format(what=what))
        return number

    def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            raise ValueError(translations.gettext("a name appears twice in the same object"))
        return built

    try:
        return json.loads(
            text,
            object_pairs_hook=build_object,
            parse_float=read_float,
            parse_constant=refuse_constant,
        )
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        if _is_json(text.translate(_STRAIGHT)) or text[error.pos : error.pos + 1] in _CURLY:
            raise ValueError(
                translations.gettext(
                    'write straight quotes ("), not curly ones: line {line}, column {column}'
                ).format(**place)
            ) from None
        raise ValueError(
            translations.gettext(
                "this is not JSON: {problem} at line {line}, column {column}"
            ).format(problem=error.msg, **place)
        ) from None
    except RecursionError:
        raise ValueError(translations.gettext("this is nested too deeply")) from None


def format_json(value: Any) -> str:
    """Write JSON on several lines in which nothing is invisible."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if visible(text) == text:
        return text
    return "".join(c if visible(c) == c and not is_mark(c) else json.dumps(c)[1:-1] for c in text)


class SchemaValidator:
    """A JSON Schema that data is checked against.

    Patterns are matched in linear time, and nothing is fetched: a ``$ref``
    leads inside the schema or nowhere. With ``formats`` the formats are checked, and
    an unknown one is refused.

    Raises:
        SchemaError: the schema cannot be used.
    """

    def __init__(self, schema: Mapping[str, Any], *, formats: bool = False) -> None:
        try:
            self._size = count_schemas(schema)
        except ValueError as error:
            raise SchemaError("", str(error)) from None
        try:
            import jsonschema_rs
        except ImportError:
            reason = "it needs jsonschema-rs: install Sayso with its extra `schema`"
            raise SchemaError("", reason) from None
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema),
                pattern_options=jsonschema_rs.RegexOptions(),
                validate_formats=formats or None,
                ignore_unknown_formats=not formats,
                offline=True,
                mask="this",
            )
        except jsonschema_rs.ValidationError as error:
            place = _pointer(error.instance_path) if error.instance_path else ""
            raise SchemaError(place, _explain(error)) from None
        except (jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaError("", _explain(error)) from None

    def find_problems(self, value: Any) -> Iterator[tuple[list[str | int], str, str]]:
        """Yield the place, the keyword and the message of at most three problems.

        No message repeats the value.

        Raises:
            SchemaError: the check would take too long.
        """
        if self._size * count_values(value) > MAX_WORK:
            raise SchemaError("", "it is too large for so many values")
        errors = self._validator.iter_errors(value)
        for error, _ in zip(errors, range(_MAX_PROBLEMS), strict=False):
            yield error.instance_path, error.kind.name, error.message.splitlines()[0]

    def describe_problems(self, value: Any) -> str:
        """Return the problems as one text; empty where the value fits.

        Raises:
            SchemaError: the check would take too long.
        """
        problems = self.find_problems(value)
        return "; ".join(f"{_pointer(place)}: {message}" for place, _, message in problems)


def count_values(data: Any) -> int:
    """Count the values in JSON data."""
    if isinstance(data, Mapping):
        return 1 + sum(map(count_values, data.values()))
    return 1 + sum(map(count_values, data)) if isinstance(data, list | tuple) else 1


def count_schemas(schema: Mapping[str, Any]) -> int:
    """Count the schemas in a schema, with every reference replaced by its target.

    Raises:
        ValueError: the schema follows more than 1,000 references, has more than 50,000
            parts once they are followed, is nested too deeply, or a reference leads to
            itself or out of the schema.
    """
    count = references = visited = 0
    # Draft 4 calls its $id id, which is a name like any other later.
    is_old = "draft-04" in str(schema.get("$schema", ""))
    untraceable = (*_UNTRACEABLE, "id") if is_old else _UNTRACEABLE

    def visit(node: Any, followed: frozenset[str]) -> None:
        nonlocal count, references, visited
        visited += 1
        if visited > MAX_WORK:
            raise ValueError(f"its parts written out are over {MAX_WORK:,}")
        if isinstance(node, Mapping):
            if any(isinstance(node.get(word), str) for word in untraceable):
                raise ValueError("it has references that are not JSON Pointers into it")
            count += 1
            if isinstance(ref := node.get("$ref"), str):
                references += 1
                if ref in followed:
                    raise ValueError("it contains itself")
                if references > MAX_REFERENCES:
                    raise ValueError(f"its references written out are over {MAX_REFERENCES:,}")
                visit(find_target(schema, ref), followed | {ref})
        parts = node.values() if isinstance(node, Mapping) else node
        for part in parts if isinstance(node, Mapping | list | tuple) else ():
            visit(part, followed)

    # Definitions count where they are referred to.
    apart = {"$defs", "definitions", "$id", "id"}
    try:
        visit({word: part for word, part in schema.items() if word not in apart}, frozenset())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return count


def find_target(schema: Any, ref: str) -> Any:
    """Return the part of the schema that a reference leads to.

    Raises:
        ValueError: the reference leads elsewhere or nowhere.
    """
    if not ref.startswith("#") or ref[1:2] not in ("", "/"):
        raise ValueError("it has references that are not JSON Pointers into it")
    target = schema
    for part in unquote(ref[1:]).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and name in target:
            target = target[name]
        elif isinstance(target, list) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            raise ValueError(f"the reference {ref!r:.80} leads nowhere")
    return target


def _explain(error: Exception) -> str:
    kind = getattr(error, "kind", None)
    if getattr(kind, "format", "") == "regex":
        return "this is no regular expression, or one with look-around or back-references"
    return str(getattr(error, "message", error)).splitlines()[0]


def _pointer(path: list[str | int]) -> str:
    """RFC 6901."""
    return "".join(f"/{str(p).replace('~', '~0').replace('/', '~1')}" for p in path) or "/"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
