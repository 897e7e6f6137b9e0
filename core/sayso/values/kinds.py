"""Which kind of text a value is, seen from the value alone: in doubt it is plain text."""

from __future__ import annotations

import re

from sayso.text.kind import Kind

_LONGEST = 20_000

_SQL = re.compile(
    r"\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*"
    r"(?:SELECT\s.*?\sFROM\s+[\w.\"`\[]+|INSERT\s+INTO\s+[\w.\"`\[]+\s*(?:\(|VALUES|SELECT)"
    r"|UPDATE\s+[\w.\"`\[\]]+\s+SET\s+[\w.\"`\[\]]+\s*=|DELETE\s+FROM\s+[\w.\"`\[\]]+\s*(?:;|WHERE|\Z)"
    r"|(?:CREATE|DROP|ALTER)\s+(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?[\w.\"`\[]+"
    r"|TRUNCATE\s+TABLE\s+[\w.\"`\[]+|WITH\s+\w+\s+AS\s*\()",
    re.IGNORECASE | re.DOTALL,
)
_SURELY_SQL = re.compile(
    r"[;=*()]|\A\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|TRUNCATE)\b"
)
_HTTP = re.compile(
    r"(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (?:https?://|/)\S*(?: HTTP/[0-9.]+)?\r?(?:\n|\Z)"
    r"(?:[A-Za-z0-9-]+: [^\n]*(?:\n|\Z))*"
)
_SHEBANG = re.compile(r"#!\s*/(?:usr/)?bin/(?:env\s+)?(?P<program>[a-z]+)")
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_PATCH = re.compile(r"\A\*\*\*[ ]Begin[ ]Patch\n(?:.*\n)*?\*\*\*[ ]End[ ]Patch\s*\Z")
_KEY = re.compile(r"(?P<indent> *)(?:- )*(?P<key>[\w./-]+|\"[^\"]+\"):(?: +\S.*| *)\Z")
_ITEM = re.compile(r" *- +\S")
_LEAST_KEYS = 3


def kind_of(text: str) -> Kind:
    """The kind that the text surely is of, ``text`` where it is not sure.

    JSON is not looked for: whoever lays it out finds it.
    """
    if len(text) > _LONGEST:
        return "text"
    if is_diff(text):
        return "diff"
    if (shebang := _SHEBANG.match(text)) is not None:
        return "shell" if shebang["program"] in _SHELLS else "code"
    if _HTTP.match(text) is not None:
        return "http"
    if _SQL.match(text) is not None and _SURELY_SQL.search(text) is not None:
        return "sql"
    return "yaml" if _is_yaml(text) else "text"


def is_diff(text: str) -> bool:
    """Whether each hunk has the lines that its heading counts, or it is a patch from end to end."""
    if _PATCH.match(text) is not None:
        return True
    hunks = list(_HUNK.finditer(text))
    if not hunks:
        return False
    ends = [*(hunk.start() for hunk in hunks[1:]), len(text)]
    return all(
        _counts(text[hunk.end() : end]) >= (int(hunk[2] or 1), int(hunk[4] or 1))
        for hunk, end in zip(hunks, ends, strict=True)
    )


def _counts(hunk: str) -> tuple[int, int]:
    lines = hunk.removesuffix("\n").split("\n")[1:]
    old = sum(line[:1] in ("-", " ", "") for line in lines)
    new = sum(line[:1] in ("+", " ", "") for line in lines)
    return old, new


def _is_yaml(text: str) -> bool:
    lines = [
        line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < _LEAST_KEYS:
        return False
    keys = [_KEY.match(line) for line in lines if line != "---"]
    nested = any(match is not None and match["indent"] for match in keys)
    known = sum(match is not None for match in keys)
    items = sum(_ITEM.match(line) is not None for line in lines)
    return nested and known >= _LEAST_KEYS and known + items >= len(keys)


_LANGUAGES = {
    "py": "python", "js": "javascript", "mjs": "javascript", "ts": "typescript", "tsx": "tsx",
    "jsx": "jsx", "go": "go", "rs": "rust", "rb": "ruby", "java": "java", "kt": "kotlin",
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "php": "php",
    "swift": "swift", "css": "css", "html": "html", "xml": "xml", "lua": "lua",
    "toml": "toml", "tf": "hcl", "ini": "ini",
}  # fmt: skip
_KINDS: dict[str, Kind] = {
    "sh": "shell", "bash": "shell", "zsh": "shell", "sql": "sql", "json": "json",
    "yaml": "yaml", "yml": "yaml", "diff": "diff", "patch": "diff",
}  # fmt: skip


def kind_of_file(path: str) -> tuple[Kind, str]:
    """What the file's name says of what is in it, and the language of code."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""
    if ending in _LANGUAGES:
        return "code", _LANGUAGES[ending]
    return _KINDS.get(ending, "text"), ""
