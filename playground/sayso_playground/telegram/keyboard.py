"""Inline keyboards and other reply markup, as strict as the Bot API server."""

from typing import Any

Json = dict[str, Any]

_ACTIONS = (
    "callback_data",
    "url",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
)
_STYLES = ("danger", "success", "primary")  # Bot API 9.4
_MOST_DATA_BYTES = 64  # core.telegram.org, InlineKeyboardButton: callback_data 1-64 bytes
_MOST_A_ROW = 8  # undocumented; what the servers take
_MOST_BUTTONS = 100  # undocumented; what the servers take
_MOST_PLACEHOLDER = 64  # core.telegram.org, ForceReply: input_field_placeholder
_PARSE = "can't parse inline keyboard button: "


class KeyboardError(ValueError):
    """Telegram refuses a keyboard; the text is its description."""


def checked_markup(markup: Any) -> Json | None:
    """The reply markup as it is kept with the message; an empty keyboard is none.

    Raises:
        KeyboardError: a button or the whole breaks a rule.
    """
    if markup in (None, ""):
        return None
    if not isinstance(markup, dict):
        raise KeyboardError("object expected as reply markup")
    if "inline_keyboard" not in markup:
        _check_force_reply(markup)
        return markup
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise KeyboardError("inline_keyboard must be an Array of Arrays of InlineKeyboardButton")
    rows = [[_checked_button(button) for button in row] for row in rows if row]
    if any(len(row) > _MOST_A_ROW for row in rows) or sum(map(len, rows)) > _MOST_BUTTONS:
        raise KeyboardError("reply markup is too long")
    return {"inline_keyboard": rows} if rows else None


def _checked_button(button: Any) -> Json:
    if not isinstance(button, dict):
        raise KeyboardError(_PARSE + "expected an Object")
    text = button.get("text")
    if not isinstance(text, str) or not text.strip():
        raise KeyboardError(_PARSE + "Text buttons must have a non-empty text")
    actions = [name for name in _ACTIONS if name in button]
    if not actions:
        raise KeyboardError(_PARSE + "Text buttons are unallowed in the inline keyboard")
    if len(actions) > 1:
        raise KeyboardError(_PARSE + f"only one of {actions} is allowed")
    if "callback_data" in button:
        data = button["callback_data"]
        if not isinstance(data, str) or not 0 < len(data.encode()) <= _MOST_DATA_BYTES:
            raise KeyboardError("BUTTON_DATA_INVALID")
    if "url" in button and not str(button["url"]).startswith(("http://", "https://", "tg://")):
        raise KeyboardError(
            f"inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL"
        )
    if button.get("style", "primary") not in _STYLES:
        raise KeyboardError(_PARSE + "invalid button style specified")
    if "copy_text" in button:
        copied = button["copy_text"].get("text") if isinstance(button["copy_text"], dict) else ""
        if not isinstance(copied, str) or not 0 < len(copied) <= 256:
            raise KeyboardError("BUTTON_COPY_TEXT_INVALID")
    return button


def _check_force_reply(markup: Json) -> None:
    """core.telegram.org, ForceReply: a placeholder of 1-64 characters, selective or not."""
    known = ("force_reply", "keyboard", "remove_keyboard")
    if not any(name in markup for name in known):
        raise KeyboardError("can't parse reply keyboard markup JSON object")
    if "force_reply" in markup and markup["force_reply"] is not True:
        raise KeyboardError("can't parse reply keyboard markup: field force_reply must be True")
    if not isinstance(markup.get("selective", False), bool):
        raise KeyboardError("can't parse reply keyboard markup: selective must be a Boolean")
    placeholder = markup.get("input_field_placeholder", "-")
    if not isinstance(placeholder, str) or not 1 <= len(placeholder) <= _MOST_PLACEHOLDER:
        raise KeyboardError("the input field placeholder has 1-64 characters")
