"""Block Kit as Slack checks it: blocks, and rich text that nothing parses."""

from collections.abc import Callable, Iterator
from typing import Any

from sayso_playground.slack.elements import INPUT_CHECKS, check_element
from sayso_playground.slack.shapes import (
    TEXT_KINDS,
    Findings,
    Json,
    check_choice,
    check_flag,
    check_items,
    check_object,
    check_string,
    check_text,
    check_unique,
)

MOST_BLOCKS_IN_A_MESSAGE = 50
MOST_BLOCKS_IN_A_VIEW = 100
MOST_CHARACTERS_IN_ALL_BLOCKS = 12_000
"""Undocumented: slackapi/bolt-js issues 2509 and 2867 report msg_blocks_too_long from here on."""

_ACTIONS = (
    "button",
    "checkboxes",
    "datepicker",
    "multi_static_select",
    "overflow",
    "radio_buttons",
    "static_select",
)
_ACCESSORIES = (*_ACTIONS, "image")
_INPUTS = tuple(INPUT_CHECKS)


def check_blocks(blocks: list[Any], *, in_view: bool = False, path: str = "/blocks") -> Findings:
    """Everything Slack would complain about in these blocks."""
    found = Findings()
    most = MOST_BLOCKS_IN_A_VIEW if in_view else MOST_BLOCKS_IN_A_MESSAGE
    if len(blocks) > most:
        found.add(f"no more than {most} items allowed", path)
    for number, block in enumerate(blocks):
        _check_block(block, f"{path}/{number}", found)
    check_unique(blocks, "block_id", path, found)
    markdown = sum(len(str(b.get("text"))) for b in blocks if _kind(b) == "markdown")
    if markdown > 12_000:  # docs.slack.dev, markdown block: 12,000 characters in all of a payload
        found.add("must be less than 12001 characters", path)
    return found


def characters(value: Any) -> int:
    """Count the text that blocks carry in all."""
    return sum(len(text) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == "text" and isinstance(item, str):
                yield item
            else:
                yield from _texts(item)


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None


def _check_block(block: Any, path: str, found: Findings) -> None:
    kind = _kind(block)
    if kind not in _CHECKS:
        found.add(f"unsupported type: {kind}", f"{path}/type")
        return
    check_string(block, "block_id", path, found, 255)
    _CHECKS[kind](block, path, found)


def _check_section(block: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, section: text 3000 characters, 10 fields of 2000."""
    check_object(block, path, found, (), ("block_id", "text", "fields", "accessory", "expand"))
    if "text" not in block and "fields" not in block:
        found.add("missing required field: text", path)
    check_text(block, "text", path, found, 3000, TEXT_KINDS)
    check_flag(block, "expand", path, found)
    fields = check_items(block, "fields", path, found, 10)
    for number in range(len(fields)):
        place = {str(number): fields[number]}
        check_text(place, str(number), f"{path}/fields", found, 2000, TEXT_KINDS)
    if "accessory" in block:
        check_element(block["accessory"], f"{path}/accessory", found, _ACCESSORIES)


def _check_header(block: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, header: plain_text of at most 150 characters."""
    check_object(block, path, found, ("text",), ("block_id",))
    check_text(block, "text", path, found, 150)


def _check_divider(block: Json, path: str, found: Findings) -> None:
    check_object(block, path, found, (), ("block_id",))


def _check_image(block: Json, path: str, found: Findings) -> None:
    check_object(block, path, found, ("image_url", "alt_text"), ("block_id", "title"))
    check_string(block, "image_url", path, found, 3000)
    check_string(block, "alt_text", path, found, 2000)
    check_text(block, "title", path, found, 2000)


def _check_context(block: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, context: at most 10 elements, text objects or images."""
    check_object(block, path, found, ("elements",), ("block_id",))
    for number, element in enumerate(check_items(block, "elements", path, found, 10)):
        if _kind(element) == "image":
            check_element(element, f"{path}/elements/{number}", found, ("image",))
        else:
            place = {str(number): element}
            check_text(place, str(number), f"{path}/elements", found, 3000, TEXT_KINDS)


def _check_actions(block: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, actions: at most 25 elements, each action_id once."""
    check_object(block, path, found, ("elements",), ("block_id",))
    elements = check_items(block, "elements", path, found, 25)
    for number, element in enumerate(elements):
        check_element(element, f"{path}/elements/{number}", found, _ACTIONS)
    check_unique(elements, "action_id", f"{path}/elements", found)


def _check_input(block: Json, path: str, found: Findings) -> None:
    """docs.slack.dev, input: label and hint of at most 2000 characters."""
    optional = ("block_id", "hint", "optional", "dispatch_action")
    check_object(block, path, found, ("label", "element"), optional)
    check_text(block, "label", path, found, 2000)
    check_text(block, "hint", path, found, 2000)
    check_flag(block, "optional", path, found)
    check_flag(block, "dispatch_action", path, found)
    if "element" in block:
        check_element(block["element"], f"{path}/element", found, _INPUTS)


def _check_markdown(block: Json, path: str, found: Findings) -> None:
    check_object(block, path, found, ("text",), ("block_id",))
    check_string(block, "text", path, found, 12_000)


def check_home(view: Any) -> Findings:
    """docs.slack.dev, views: a home tab has blocks and neither a title nor inputs to send."""
    found = Findings()
    optional = ("callback_id", "external_id", "private_metadata")
    if not check_object(view, "/view", found, ("type", "blocks"), optional):
        return found
    if view.get("type") != "home":
        found.add(f"unsupported type: {view.get('type')}", "/view/type")
    check_string(view, "callback_id", "/view", found, 255, least=0)
    check_string(view, "private_metadata", "/view", found, 3000, least=0)
    blocks = view.get("blocks", [])
    if not isinstance(blocks, list):
        found.add("must be an array", "/view/blocks")
        return found
    found.errors += check_blocks(blocks, in_view=True, path="/view/blocks").errors
    return found


def check_view(view: Any) -> Findings:
    """docs.slack.dev, views: title, submit and close 24, callback_id 255, metadata 3000."""
    found = Findings()
    optional = (
        "callback_id",
        "clear_on_close",
        "close",
        "external_id",
        "notify_on_close",
        "private_metadata",
        "submit",
    )
    if not check_object(view, "/view", found, ("type", "title", "blocks"), optional):
        return found
    if view.get("type") != "modal":
        found.add(f"unsupported type: {view.get('type')}", "/view/type")
    for name in ("title", "submit", "close"):
        check_text(view, name, "/view", found, 24)
    check_string(view, "callback_id", "/view", found, 255, least=0)
    check_string(view, "private_metadata", "/view", found, 3000, least=0)
    blocks = view.get("blocks", [])
    if not isinstance(blocks, list):
        found.add("must be an array", "/view/blocks")
        return found
    if any(_kind(block) == "input" for block in blocks) and "submit" not in view:
        found.add("missing required field: submit", "/view")
    elements = [block.get("element") for block in blocks if isinstance(block, dict)]
    if sum(isinstance(e, dict) and e.get("focus_on_load") is True for e in elements) > 1:
        found.add("only one element may have focus_on_load", "/view/blocks")
    found.errors += check_blocks(blocks, in_view=True, path="/view/blocks").errors
    return found


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


_CHECKS: dict[Any, Callable[[Json, str, Findings], None]] = {
    "section": _check_section,
    "header": _check_header,
    "divider": _check_divider,
    "image": _check_image,
    "context": _check_context,
    "actions": _check_actions,
    "input": _check_input,
    "markdown": _check_markdown,
    "rich_text": check_rich_text,
}
