"""The structure of rich_text blocks: literal text that nothing parses."""

from typing import Any

from sayso_playground.slack.shapes import (
    Findings,
    Json,
    check_choice,
    check_flag,
    check_items,
    check_object,
    check_string,
)

_TEXT_STYLES = ("bold", "italic", "strike", "code", "underline", "unlink")
_MENTION_STYLES = (*_TEXT_STYLES, "highlight", "client_highlight")
_MOST = 10_000  # nothing is documented; the total of the message is the real limit
_LEAVES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "text": (("text",), ("style",)),
    "link": (("url",), ("text", "unsafe", "style")),
    "emoji": (("name",), ("unicode", "skin_tone")),
    "user": (("user_id",), ("style",)),
    "usergroup": (("usergroup_id",), ("style",)),
    "channel": (("channel_id",), ("style",)),
    "broadcast": (("range",), ("style",)),
    "color": (("value",), ()),
    "date": (("timestamp", "format"), ("url", "fallback")),
}
_PARTS: dict[str, tuple[str, ...]] = {
    "rich_text_section": (),
    "rich_text_preformatted": ("border",),
    "rich_text_quote": ("border",),
    "rich_text_list": ("style", "indent", "offset", "border"),
}


def check_rich_text(block: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, rich text block: sections, lists, quotes and preformatted parts."""
    check_object(block, path, found, ("elements",), ("block_id",))
    for number, part in enumerate(check_items(block, "elements", path, found, _MOST)):
        _check_part(part, f"{path}/elements/{number}", found)


def _check_part(part: Any, path: str, found: Findings) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _PARTS:
        found.add(f"unsupported type: {kind}", f"{path}/type")
        return
    check_object(part, path, found, ("elements",), _PARTS[kind])
    if kind == "rich_text_list":
        if "style" not in part:
            found.add("missing required field: style", path)
        check_choice(part, "style", path, found, ("bullet", "ordered"))
    for number, item in enumerate(check_items(part, "elements", path, found, _MOST, least=0)):
        place = f"{path}/elements/{number}"
        if kind == "rich_text_list":
            _check_list_item(item, place, found)
        else:
            allowed = ("text", "link") if kind == "rich_text_preformatted" else tuple(_LEAVES)
            _check_leaf(item, place, found, allowed)


def _check_list_item(item: Any, path: str, found: Findings) -> None:
    if isinstance(item, dict) and item.get("type") == "rich_text_section":
        _check_part(item, path, found)
    else:
        found.add("unsupported type in a list", f"{path}/type")


def _check_leaf(leaf: Any, path: str, found: Findings, allowed: tuple[str, ...]) -> None:
    kind = leaf.get("type") if isinstance(leaf, dict) else None
    if kind not in allowed:
        found.add(f"unsupported type: {kind}", f"{path}/type")
        return
    required, optional = _LEAVES[kind]
    check_object(leaf, path, found, required, optional)
    for name in required:
        if name != "timestamp":
            check_string(leaf, name, path, found, _MOST * 4)
    if kind == "broadcast":
        check_choice(leaf, "range", path, found, ("here", "channel", "everyone"))
    if "style" in leaf:
        styles = _TEXT_STYLES if kind in ("text", "link") else _MENTION_STYLES
        if check_object(leaf["style"], f"{path}/style", found, (), styles):
            for name in leaf["style"]:
                check_flag(leaf["style"], name, f"{path}/style", found)
