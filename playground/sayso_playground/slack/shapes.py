"""Checks that all of Block Kit is built from: objects, strings and text objects."""

from collections.abc import Collection
from typing import Any

Json = dict[str, Any]

TEXT_KINDS = ("plain_text", "mrkdwn")


class Findings:
    """Complaints in Slack's own words, each with a JSON pointer."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def add(self, problem: str, path: str) -> None:
        """Note one problem at one place."""
        self.errors.append(f"{problem} [json-pointer:{path}]")

    @property
    def messages(self) -> list[str]:
        """The problems as ``response_metadata.messages`` has them."""
        return [f"[ERROR] {error}" for error in self.errors]


def check_object(
    value: Any, path: str, found: Findings, required: Collection[str], optional: Collection[str]
) -> bool:
    """Return whether the value is an object to look into; unknown and missing fields are noted."""
    if not isinstance(value, dict):
        found.add("must be an object", path)
        return False
    for name in required:
        if name not in value:
            found.add(f"missing required field: {name}", path)
    for name in value:
        if name != "type" and name not in required and name not in optional:
            found.add(f"invalid additional property: {name}", path)
    return True


def check_string(
    holder: Json, name: str, path: str, found: Findings, most: int, least: int = 1
) -> None:
    """A string of ``least`` to ``most`` characters, if it is there at all."""
    if name not in holder:
        return
    value, place = holder[name], f"{path}/{name}"
    if not isinstance(value, str):
        found.add("must be a string", place)
    elif len(value) < least:
        found.add(f"must be more than {least - 1} characters", place)
    elif len(value) > most:
        found.add(f"must be less than {most + 1} characters", place)


def check_choice(
    holder: Json, name: str, path: str, found: Findings, choices: Collection[str]
) -> None:
    """One of a few words, if it is there at all."""
    if name in holder and holder[name] not in choices:
        found.add(f"must be a valid enum value: {', '.join(sorted(choices))}", f"{path}/{name}")


def check_flag(holder: Json, name: str, path: str, found: Findings) -> None:
    """True or false, if it is there at all."""
    if name in holder and not isinstance(holder[name], bool):
        found.add("must be a boolean", f"{path}/{name}")


def check_text(
    holder: Json,
    name: str,
    path: str,
    found: Findings,
    most: int,
    kinds: Collection[str] = ("plain_text",),
) -> None:
    """A text object of 1 to ``most`` characters (docs.slack.dev, text object: at most 3000)."""
    if name not in holder:
        return
    text, place = holder[name], f"{path}/{name}"
    if not check_object(text, place, found, ("type", "text"), ("emoji", "verbatim")):
        return
    if text.get("type") not in kinds:
        found.add(f"unsupported type: {text.get('type')}", f"{place}/type")
    if "emoji" in text and text.get("type") != "plain_text":
        found.add("invalid additional property: emoji", place)
    if "verbatim" in text and text.get("type") != "mrkdwn":
        found.add("invalid additional property: verbatim", place)
    check_flag(text, "emoji", place, found)
    check_flag(text, "verbatim", place, found)
    check_string(text, "text", place, found, most)


def check_items(
    holder: Json, name: str, path: str, found: Findings, most: int, least: int = 1
) -> list[Any]:
    """The items of a list of ``least`` to ``most``; nothing when there is no such list."""
    if name not in holder:
        return []
    items, place = holder[name], f"{path}/{name}"
    if not isinstance(items, list):
        found.add("must be an array", place)
        return []
    if len(items) < least:
        found.add(f"no less than {least} items allowed", place)
    if len(items) > most:
        found.add(f"no more than {most} items allowed", place)
    return items


def check_unique(items: list[Any], name: str, path: str, found: Findings) -> None:
    """No two items with the same id."""
    seen: set[str] = set()
    for number, item in enumerate(items):
        value = item.get(name) if isinstance(item, dict) else None
        if not isinstance(value, str):
            continue
        if value in seen:
            found.add(f"{name} already exists: {value}", f"{path}/{number}/{name}")
        seen.add(value)


def echoed(value: Any) -> Any:
    """Blocks as Slack sends them back: ``& < >`` of plain text are HTML entities.

    slackapi/bolt-python, issue 513; undocumented.
    """
    if isinstance(value, (list, tuple)):
        return [echoed(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: echoed(item) for name, item in value.items()}
    if found.get("type") == "plain_text" and isinstance(found.get("text"), str):
        found["text"] = (
            found["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        )
    return found
