"""Arguments as people read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sayso.text.secrets import redacted
from sayso.text.visible import visible


def shown_arguments(arguments: Mapping[str, Any]) -> str:
    """The arguments as people read them, without secrets, long texts with their lines.

    Of none it says nothing.
    """
    return "\n".join(
        f"{visible(str(name), one_line=True)}: {_value(value)}"
        for name, value in redacted(dict(arguments)).items()
    )


def _value(value: Any) -> str:
    if not isinstance(value, str):
        return visible(json.dumps(value, ensure_ascii=False, indent=2))
    text = visible(value)
    if "\n" in text:
        return "\n" + "\n".join(f"  | {line}" for line in text.split("\n"))
    return json.dumps(text, ensure_ascii=False) if _looks_like_json(text) else text


def _looks_like_json(text: str) -> bool:
    # "5" and 5, "" and nothing must not look alike on a card.
    if text != text.strip() or not text:
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
