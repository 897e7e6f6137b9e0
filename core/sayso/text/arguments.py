"""Arguments as people read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sayso.text.agents import shown_as_agents
from sayso.text.blanks import folded_json, unmarked
from sayso.text.secrets import redacted
from sayso.text.visible import visible


def shown_arguments(arguments: Mapping[str, Any]) -> str:
    """The arguments as people read them, without secrets, long texts with their lines.

    Of none it says nothing.
    """
    return written_arguments(redacted(dict(arguments)))


def written_arguments(arguments: Mapping[str, Any]) -> str:
    """The same of arguments whose secrets are hidden already."""
    return "\n".join(
        f"{shown_as_agents(str(name), one_line=True)}: {_value(value)}"
        for name, value in arguments.items()
    )


def _value(value: Any) -> str:
    if not isinstance(value, str):
        return _json(value, indent=None if isinstance(value, int | float) else 2)
    # "5" and 5, "" and nothing must not look alike on a card.
    if _looks_like_json(value) and "\n" not in value:
        return _json(visible(value))
    text = shown_as_agents(value)
    if "\n" in text:
        return "\n" + "\n".join(f"  | {line}" for line in text.split("\n"))
    return text


def _json(value: Any, indent: int | None = None) -> str:
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return folded_json(visible(unmarked(written)))


def _looks_like_json(text: str) -> bool:
    if text != text.strip() or not text:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
