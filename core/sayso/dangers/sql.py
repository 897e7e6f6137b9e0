"""What is dangerous in SQL, wherever a statement begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sayso.dangers.danger import Danger

_MOST_STATEMENTS = 60
_LONGEST_LOOKED_AT = 600

_COMMENTS = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)|--[^\n]*+")
_VERB = re.compile(r"\b(?:drop|truncate|delete|update|grant|revoke|alter)(?=\s)")
_VERBS = ("drop", "truncate", "delete", "update", "grant", "revoke", "alter")
# What a statement stands behind; elsewhere the word is one of prose, or of another statement.
_BEFORE = re.compile(r"(?:\A|[;'\"(=\n]|\banalyze|\bthen|\bexecute|\bbegin)[ \t]*\Z")
_NAME = r"[\w.\"`\[\]$-]+"
_DROPS = re.compile(
    r"drop\s+(?:temp\s+|temporary\s+|materialized\s+|foreign\s+|external\s+)?(?:table|database|schema"
    r"|view|collection|keyspace|tablespace|role|user|owned)\b"
)
_TRUNCATES = re.compile(
    rf"truncate\s+(?:table\s+\S|(?:only\s+)?{_NAME}\s*(?:[,;'\"]|\Z|cascade|restart))"
)
_DROPS_PART = re.compile(r"alter\s+table\s[^;]{0,200}?\bdrop\s+(?:column|partition)\b")
_GRANTS = re.compile(r"(?:grant|revoke)\s+[\w ,()*]{1,120}\s(?:on|to|from)\s")
_DELETES = re.compile(
    rf"delete\s+from\s+(?:only\s+)?{_NAME}"
    r"(?=\s*(?:\Z|[;'\")]|(?:where|using|returning|limit|order)\b|(?:as\s+)?\w{1,30}\s*(?:\Z|[;'\")]|where\b)))"
)
_UPDATES = re.compile(
    rf"update\s+(?:only\s+)?{_NAME}(?:\s+(?:as\s+)?\w+)?\s+set\s+[\w.\"`\[\]]+\s*="
)
_WHERE = re.compile(r"\bwhere\b")
_IS_TRUE = r"(?:true\b|not\s+false\b|(?P<{0}>[0-9]+|'[^']{{0,40}}')\s*=\s*(?P={0})(?![\w.]))"
_ALWAYS = re.compile(
    rf"\s*\(?\s*(?:{_IS_TRUE.format('a')}|1\s*(?:[);]|\Z))|[^;]*?\bor\s+\(?\s*{_IS_TRUE.format('b')}"
)


def sql_dangers(text: str) -> Iterator[Danger]:
    """The dangers of the statements in a text; in prose there is none."""
    lowered = text.lower()
    if not any(verb in lowered for verb in _VERBS):
        return
    plain = _COMMENTS.sub(" ", lowered)
    for number, found in enumerate(_VERB.finditer(plain)):
        if number == _MOST_STATEMENTS:
            yield Danger.UNREAD
            return
        if _BEFORE.search(plain[max(found.start() - 40, 0) : found.start()]):
            rest = plain[found.start() : found.start() + _LONGEST_LOOKED_AT]
            yield from _of(rest.partition(";")[0])


def _of(statement: str) -> Iterator[Danger]:
    if any(form.match(statement) for form in (_DROPS, _TRUNCATES, _DROPS_PART)):
        yield Danger.DROPS_TABLE
    elif _GRANTS.match(statement):
        yield Danger.PERMISSIONS
    elif (_DELETES.match(statement) or _UPDATES.match(statement)) and _is_of_all(statement):
        yield Danger.ALL_ROWS


def _is_of_all(statement: str) -> bool:
    where = _WHERE.search(statement)
    return where is None or _ALWAYS.match(statement, where.end()) is not None
