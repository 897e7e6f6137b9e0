"""From a call to rules worth storing, narrow to wide, and what each of them allows in words."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping

from assent.calls import ToolCall, as_json
from assent.errors import ConfigError
from assent.globs import escape
from assent.requirements import Declaration, DerivePermission
from assent.rules import Rule, literal_rule
from assent.text import redacted, visible

_log = logging.getLogger(__name__)

COMMAND_PARAMETERS = ("command", "cmd", "command_line", "shell_command")
"""Parameters whose text is taken for a command line."""

# Words without any character that means something to a shell, not even a comma: a list of
# texts is compared with commas between them, and `git status,rm` must not look like one text.
_PLAIN = "a-zA-Z0-9 _./:=@%+-"
_COMMAND = re.compile(rf"([a-zA-Z0-9][a-zA-Z0-9_.+-]*)(?: [{_PLAIN}]*)?")
_PROGRAM = re.compile(rf"(?P<escaped>.+)\?\( \+\(\[{re.escape(_PLAIN)}\]\)\)")

# Programs that run other programs or a text as one: "this program" would be nearly everything.
_RUNNERS = re.compile(
    r"(?:sudo|doas|su|runuser|pkexec|env|sh|bash|dash|zsh|ksh|ash|fish|csh|tcsh|pwsh|powershell|cmd|"
    r"xargs|parallel|nohup|setsid|stdbuf|time|timeout|nice|ionice|chroot|unshare|nsenter|flock|watch|"
    r"eval|exec|command|builtin|source|\.|trap|busybox|toybox|script|screen|tmux|ssh|rsh|"
    r"python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|awk|gawk|mawk|nawk|tclsh|expect|"
    r"osascript|wscript|cscript|java|npx|uvx|pipx|find|fd|entr|make)(?:[0-9.]*)(?:\.exe)?",
    re.IGNORECASE,
)


def derive(
    call: ToolCall, *, declared: Declaration | DerivePermission | None = None
) -> tuple[Rule, ...]:
    """Rules to offer with Always, from narrow to wide; each is about this call at least.

    First exactly this call. Then what the tool declares, else, for a command
    line of plain words, this program. Last the tool, whatever its arguments.

    Raises:
        InvalidCallError: the arguments cannot be written as JSON.
    """
    literal = literal_rule(call)
    whole = Rule(call.name)
    function = declared.derive if isinstance(declared, Declaration) else declared
    middle = _program(call) if function is None else _declared(call, function)
    rules = [literal]
    for rule in middle:
        if rule not in rules and rule != whole:
            rules.append(rule)
    return (*rules, whole)


def describe(rule: Rule) -> str:
    """In words exactly which calls a rule is about, without secrets and complete."""
    tool = visible(rule.tool, one_line=True)
    if rule.arguments_digest is not None:
        digest = f"(digest {rule.arguments_digest[:12]})"
        if not rule.params:
            return f"{tool} with exactly these arguments {digest} and no others"
        fits = "; ".join(_fit(name, pattern) for name, pattern in sorted(rule.params.items()))
        return f"{tool} with exactly these arguments {digest} and no others: {fits}"
    if not rule.params:
        return f"every call of {tool}, whatever its arguments"
    fits = "; ".join(_fit(name, pattern) for name, pattern in sorted(rule.params.items()))
    return f"{tool} where {fits}; any other arguments may be anything"


def _program(call: ToolCall) -> Iterator[Rule]:
    arguments = as_json(call.arguments)
    commands = [name for name in COMMAND_PARAMETERS if name in arguments]
    # With two of them it is not clear which one runs.
    if len(commands) != 1 or not isinstance(line := arguments[commands[0]], str):
        return
    found = _COMMAND.fullmatch(line)
    if found is None or _RUNNERS.fullmatch(found[1]):
        return
    try:
        params = {name: escape(_text(value)) for name, value in _pinned(arguments, commands[0])}
        params[commands[0]] = f"{escape(found[1])}?( +([{_PLAIN}]))"
        rule = Rule(call.name, params)
    except (ConfigError, TypeError):
        return  # something beside the command cannot be pinned
    if rule.matches(call):
        yield rule


def _pinned(arguments: Mapping[str, object], command: str) -> Iterator[tuple[str, object]]:
    return ((name, value) for name, value in arguments.items() if name != command)


def _text(value: object) -> str:
    """A value whose text says all of it; lists and objects as JavaScript writes them do not."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    raise TypeError


def _declared(call: ToolCall, function: DerivePermission) -> Iterator[Rule]:
    """What the tool suggests, as far as it is about this call; nothing where it fails."""
    try:
        said = function(as_json(call.arguments))
        rules: Iterable[object] = (said,) if isinstance(said, Rule) else tuple(said)
    except Exception as error:  # the question must be asked all the same
        kind = type(error).__name__
        _log.error("derive_permission of %s raised %s: ignored", call.name, kind)
        return
    for rule in rules:
        if isinstance(rule, Rule) and rule.matches(call):
            yield rule
        else:
            _log.error("derive_permission of %s gave what is not about the call", call.name)


def _fit(name: str, pattern: str) -> str:
    shown = visible(name, one_line=True)
    exact = _literal(pattern)
    if exact is not None:
        # By its name or its shape: a secret is never shown, the digest still tells calls apart.
        return f"{shown} is {_quoted(str(redacted({name: exact})[name]))}"
    program = _PROGRAM.fullmatch(pattern)
    if program is not None and (word := _literal(program["escaped"])) is not None:
        return (
            f"{shown} is {word}, alone or followed by any plain words "
            "(letters, digits, spaces and _ . / : = @ % + -; no other character)"
        )
    return f"{shown} fits the pattern {_quoted(str(redacted({name: pattern})[name]))}"


def _quoted(text: str) -> str:
    return json.dumps(visible(text, one_line=True), ensure_ascii=False)


def _literal(pattern: str) -> str | None:
    """The one text that the pattern means, where it was made by escaping it."""
    text = "" if pattern == escape("") else re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)
    try:
        return text if escape(text) == pattern else None
    except ConfigError:
        return None
