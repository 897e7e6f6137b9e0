"""Texts that go through Slack and come back the same, whatever it escapes on the way."""

from __future__ import annotations

import re

# Slack echoes & < > of blocks as HTML entities (slackapi/bolt-python issue 513) and does not say
# where else it does.
_HELD_BACK = re.compile(r"[%&<>]")
_HELD = re.compile(r"%(25|26|3C|3E)")


def carried(text: str) -> str:
    """The text for a value or an id, without a character that Slack may escape."""
    return _HELD_BACK.sub(lambda found: f"%{ord(found[0]):02X}", text)


def brought_back(text: str) -> str:
    """The text that was carried."""
    return _HELD.sub(lambda found: chr(int(found[1], 16)), text)


def echoed(text: str) -> str:
    """A text of one of our blocks as it was, once Slack has echoed it."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
