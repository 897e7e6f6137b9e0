"""Text as Telegram counts and parses it: UTF-16 offsets and its subset of HTML."""

import html
import re
from typing import Any

Json = dict[str, Any]

_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}
_KINDS = {*_TAGS.values(), "expandable_blockquote", "text_mention", "mention", "hashtag"}
_KINDS |= {"cashtag", "bot_command", "url", "email", "phone_number", "date_time"}
_REFERENCE = re.compile(r"&(#x[0-9a-fA-F]+|#[0-9]+|lt|gt|amp|quot);?")
_ATTRIBUTE = re.compile(r"""\s+([a-zA-Z0-9-]+)(?:=("[^"]*"|'[^']*'|[^\s>"']+))?""")


class EntityError(ValueError):
    """Telegram cannot parse entities; the text says why, in its words."""


def utf16(text: str) -> int:
    """The length Telegram counts: UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_html(source: str) -> tuple[str, list[Json]]:
    """Plain text and its entities.

    Raises:
        EntityError: an unknown tag, a tag that is not closed, an end without a start.
    """
    return _HtmlReader(source).read()


class _HtmlReader:
    """core.telegram.org/bots/api, HTML style; messages as in tdlib's parse_html."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._text = ""
        self._open: list[tuple[str, Json]] = []
        self._entities: list[Json] = []

    def read(self) -> tuple[str, list[Json]]:
        while self._at < len(self._source):
            character = self._source[self._at]
            if self._source.startswith("</", self._at):
                self._end_tag()
            elif character == "<":
                self._start_tag()
            elif character == "&" and (match := _REFERENCE.match(self._source, self._at)):
                self._text += html.unescape(match[0].rstrip(";") + ";")
                self._at = match.end()
            else:
                self._text += character
                self._at += 1
        if self._open:
            raise EntityError(
                f'Can\'t find end tag corresponding to start tag "{self._open[-1][0]}"'
            )
        return self._text, _ordered(self._entities)

    def _offset(self, at: int) -> int:
        return len(self._source[:at].encode())

    def _start_tag(self) -> None:
        began = self._at
        at = began + 1
        while self._source[at : at + 1] not in ("", ">", "/") and not self._source[at].isspace():
            at += 1
        name = self._source[began + 1 : at].lower()
        if name not in _TAGS:
            raise EntityError(
                f'Unsupported start tag "{name}" at byte offset {self._offset(began)}'
            )
        attributes = {}
        while found := _ATTRIBUTE.match(self._source, at):
            attributes[found[1].lower()] = html.unescape((found[2] or "").strip("\"'"))
            at = found.end()
        while self._source[at : at + 1].isspace():
            at += 1
        if self._source[at : at + 1] != ">":
            raise EntityError(f"Unclosed start tag at byte offset {self._offset(began)}")
        self._at = at + 1
        entity = _entity(name, attributes, self._offset(began))
        self._open.append((name, {**entity, "offset": utf16(self._text)}))

    def _end_tag(self) -> None:
        began = self._at
        end = self._source.find(">", began)
        if end < 0:
            raise EntityError(f"Unclosed end tag at byte offset {self._offset(began)}")
        name = self._source[began + 2 : end].strip().lower()
        self._at = end + 1
        if not self._open:
            raise EntityError(f"Unexpected end tag at byte offset {self._offset(began)}")
        expected, entity = self._open.pop()
        if name not in ("", expected):
            raise EntityError(
                f"Unmatched end tag at byte offset {self._offset(began)}, "
                f'expected "</{expected}>", found "</{name}>"'
            )
        length = utf16(self._text) - entity["offset"]
        if length and entity["type"]:
            self._close({**entity, "length": length})

    def _close(self, entity: Json) -> None:
        """``<pre><code class="language-x">`` is one entity with a language."""
        language = entity.pop("language", None)
        inner = self._entities[-1] if self._entities else None
        same = inner and all(inner[name] == entity[name] for name in ("offset", "length"))
        if inner and same and entity["type"] == "pre" and inner["type"] == "code":
            self._entities.pop()
            language = inner.get("language")
        if language and entity["type"] in ("pre", "code"):
            entity["language"] = language
        self._entities.append(entity)


def _entity(name: str, attributes: dict[str, str], at: int) -> Json:
    if name == "span" and attributes.get("class") != "tg-spoiler":
        raise EntityError(f'Tag "span" must have class "tg-spoiler" at byte offset {at}')
    if name == "a":
        return {"type": "text_link" if "href" in attributes else "", "url": attributes.get("href")}
    if name == "tg-emoji":
        return {"type": "custom_emoji", "custom_emoji_id": attributes.get("emoji-id", "")}
    if name == "blockquote" and "expandable" in attributes:
        return {"type": "expandable_blockquote"}
    language = attributes.get("class", "").removeprefix("language-")
    return {"type": _TAGS[name], "language": language} if language else {"type": _TAGS[name]}


def _ordered(entities: list[Json]) -> list[Json]:
    for entity in entities:
        if entity["type"] != "pre":
            entity.pop("language", None)
    return sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def checked_entities(text: str, entities: Any) -> list[Json]:
    """Entities given as offsets, if they fit the text.

    Refusing one that reaches beyond the text is stricter than Telegram, which cuts it.

    Raises:
        EntityError: an unknown type, an offset outside or in the middle of a character.
    """
    if not isinstance(entities, list) or not all(isinstance(item, dict) for item in entities):
        raise EntityError("expected an Array of MessageEntity")
    units, boundaries = 0, {0}
    for character in text:
        units += utf16(character)
        boundaries.add(units)
    for entity in entities:
        offset, length = entity.get("offset"), entity.get("length")
        if entity.get("type") not in _KINDS:
            raise EntityError(f"unsupported entity type {entity.get('type')!r}")
        if entity["type"] == "text_mention" and not _names_a_user(entity):
            raise EntityError("a text_mention says which user it mentions")
        if entity["type"] == "date_time" and not isinstance(entity.get("unix_time"), int):
            raise EntityError("a date_time says which moment it shows")
        if not isinstance(offset, int) or not isinstance(length, int) or length <= 0:
            raise EntityError("entity has no valid offset and length")
        if offset < 0 or offset + length > units:
            raise EntityError(f"entity at offset {offset} reaches beyond the text")
        if offset not in boundaries or offset + length not in boundaries:
            raise EntityError(
                f"entity begins or ends in a middle of a UTF-16 symbol at offset {offset}"
            )
    return _ordered([dict(entity) for entity in entities])


def _names_a_user(entity: Json) -> bool:
    user = entity.get("user")
    return isinstance(user, dict) and isinstance(user.get("id"), int)


def trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Text without white space at its ends, as Telegram stores it; entities moved along."""
    cut = utf16(text) - utf16(text.lstrip())
    text = text.strip()
    units, kept = utf16(text), []
    for entity in entities:
        begin = max(entity["offset"] - cut, 0)
        end = min(entity["offset"] - cut + entity["length"], units)
        if end > begin:
            kept.append({**entity, "offset": begin, "length": end - begin})
    return text, kept


_LIVE = (
    ("url", re.compile(r"(?:https?://|tg://|www\.)[^\s<>\"']+|\b[\w-]+\.(?:com|org|net|io|me)\b")),
    ("mention", re.compile(r"(?<![\w@])@[A-Za-z]\w{3,31}\b")),
    ("hashtag", re.compile(r"(?<![\w#])#[^\W\d]\w*")),
    ("bot_command", re.compile(r"(?<![\w/])/[A-Za-z]\w{0,63}\b")),
)
_LITERAL = ("code", "pre", "text_link")


def with_live_parts(text: str, entities: list[Json]) -> list[Json]:
    """The entities, and those Telegram finds by itself outside code: links, mentions, tags."""
    taken = [(e["offset"], e["offset"] + e["length"]) for e in entities if e["type"] in _LITERAL]
    found = list(entities)
    for kind, pattern in _LIVE:
        for match in pattern.finditer(text):
            begin = utf16(text[: match.start()])
            end = begin + utf16(match[0])
            if all(end <= first or begin >= last for first, last in taken):
                taken.append((begin, end))
                found.append({"type": kind, "offset": begin, "length": end - begin})
    return _ordered(found)
