"""From a call to its dangers: each argument by what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sayso.calls import ToolCall
from sayso.dangers.danger import Danger, ordered
from sayso.dangers.lines import line_dangers
from sayso.dangers.manifests import manifest_dangers, values_dangers
from sayso.dangers.places import Root, is_outside, is_production, is_run_later
from sayso.dangers.sql import sql_dangers
from sayso.known.secrets import may_show_secrets
from sayso.known.tools import known
from sayso.rules.declarations import Roles
from sayso.sensitive.paths import is_secret, shows_secrets
from sayso.text.lookalikes import lookalike_in, poses, poses_as_account

LONGEST = 12_000
"""How many characters of a call are looked through."""

MOST_VALUES = 500
MOST_LINES = 200
_DEEPEST = 12
_SHORT = 300

_COMMANDS = frozenset(
    re.findall(
        r"\S+",
        """
        command cmd commands script shell line bash sh run argv args code
        """,
    )
)
_PATHS = frozenset(
    re.findall(
        r"\S+",
        """
        path file file_path filepath filename notebook_path destination destination_path dest
        target target_path output output_path directory folder dir to
        """,
    )
)
_TALK = frozenset(
    re.findall(
        r"\S+",
        """
        description justification explanation instruction reason comment message body text subject
        title summary notes note prompt thought
        """,
    )
)
_WRITES = re.compile(
    r"write|edit|create|save|move|copy|replace|append|delete|remove|put|upload|mkdir"
)
_READS = re.compile(r"read|view|open|load|show|get|cat|grep|search|find|glob|list")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = re.compile(r"[A-Za-z0-9]+")
_OF_NAMES: Mapping[str, Danger] = {
    **dict.fromkeys(("delete", "destroy", "purge", "wipe", "erase"), Danger.DELETES),
    **dict.fromkeys(("drop", "truncate"), Danger.DROPS_TABLE),
    **dict.fromkeys(
        ("refund", "payout", "transfer", "charge", "pay", "payment", "invoice", "withdraw", "wire"),
        Danger.MONEY,
    ),
    **dict.fromkeys(("publish", "release"), Danger.PUBLISHES),
    **dict.fromkeys(("grant", "revoke"), Danger.PERMISSIONS),
    **dict.fromkeys(("shutdown", "reboot", "terminate"), Danger.STOPS),
}
_AMOUNT = re.compile(r"(?:^|_)(?:amount|price|total|sum)(?:_|$)|_cents$", re.IGNORECASE)
_EVERYBODY = re.compile(r"<!(?:channel|here|everyone)>|(?<![\w.])@(?:channel|everyone|here|all)\b")
_PEOPLE = frozenset(
    re.findall(
        r"\S+",
        """
        to cc bcc recipients emails users attendees
        """,
    )
)
_MANY = 10
_ACCOUNTS_AND_HOSTS = _PEOPLE | frozenset(
    re.findall(
        r"\S+",
        """
        account account_name actor assignee beneficiary domain email endpoint from handle host
        hostname login mail member owner payee recipient registry remote repo repository reviewer
        sender server site url user user_name username
        """,
    )
)
# Among other words they name no account.
_ALSO_OTHERS = frozenset(["to", "from", "handle"])
_REQUEST = re.compile(r"\s{0,40}DELETE (?:https?://|/)\S")
_LINE_OF_SHELL = re.compile(r"(?:^|\n)[ \t]{0,40}(?:\$ )?(?:sudo )?rm -[a-zA-Z]{0,8}[rf]")


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One value in the arguments: the argument, its own name, and itself."""

    argument: str
    name: str
    value: Any


def dangers_of(
    call: ToolCall,
    root: Root | None = None,
    roles: Roles | None = None,
    *,
    names: Iterable[str] = (),
) -> tuple[Danger, ...]:
    """What a person must see of a call, the gravest first. That it is empty means nothing.

    ``root`` is where it works, ``roles`` what its arguments are for, where that is known,
    ``names`` are more names that the card shows. Takes time in proportion to the call, and never
    more than for ``LONGEST`` characters of it.
    """
    return ordered(dangers_in(call, root, roles) | {*_posing("", names)})


def dangers_in(call: ToolCall, root: Root | None = None, roles: Roles | None = None) -> set[Danger]:
    """The same in no order, for whoever looks at one part of a call after another."""
    if roles is None:
        tool = known(call)
        roles = Roles() if tool is None else tool.roles
    found = {*_of_name(call.name, call.arguments), *_posing(call.name, call.arguments)}
    leaves, whole = _leaves(call.arguments)
    left = LONGEST
    for leaf in leaves:
        found.update(values_dangers(leaf.name, leaf.value))
        if isinstance(leaf.value, str):
            if len(leaf.value) > left:
                whole = False
            found |= _of_text(call.name, leaf, leaf.value[:left], roles, root or Root())
            left = max(left - len(leaf.value), 0)
    found |= _of_lists(call.arguments, roles, root or Root())
    if may_show_secrets(call):
        found = {Danger.READS_SECRETS, *found} - {Danger.SECRETS}
    if not whole:
        found.add(Danger.UNREAD)
    return found


def text_dangers(tool: str, name: str, text: str, root: Root, roles: Roles) -> set[Danger]:
    """The same of a call of a tool with this text as its only argument."""
    found = {*_of_name(tool, (name,)), *_posing(tool, (name,)), *values_dangers(name, text)}
    found |= _of_text(tool, _Leaf(name, name, text), text[:LONGEST], roles, root)
    if len(text) > LONGEST:
        found.add(Danger.UNREAD)
    return found


def dangerous_lines(call: ToolCall, argument: str, text: str) -> tuple[int, ...]:
    """Which lines of an argument's text are dangerous by themselves, as far as they are looked at.

    For what to show first where there is no room for all; a dangerous text may have none.
    """
    tool = known(call)
    roles = Roles() if tool is None else tool.roles
    lines = text[:LONGEST].split("\n")[:MOST_LINES]
    return tuple(
        number
        for number, line in enumerate(lines)
        if line.strip()
        and _of_text(call.name, _Leaf(argument, argument, line), line, roles, Root())
    )


def _of_name(tool: str, arguments: Iterable[str]) -> Iterator[Danger]:
    """What the words of a tool's name say, money only where an amount is named as well."""
    for danger in _named(tool[:_SHORT]):
        if danger is not Danger.MONEY or any(_AMOUNT.search(str(one)) for one in arguments):
            yield danger


def _posing(tool: str, arguments: Iterable[str]) -> Iterator[Danger]:
    """Yield a danger if the name of a tool or of an argument only seems to be ASCII."""
    if any(poses(str(name)[:_SHORT]) for name in (tool, *arguments)):
        yield Danger.LOOKALIKES


def _poses_as_account(text: str) -> bool:
    # Within an address the domain decides, which is looked at with the rest of the text.
    return "://" not in text and "@" not in text and bool(poses_as_account(text[:_SHORT]))


def _names_account(name: str) -> bool:
    if name.lower() in _ACCOUNTS_AND_HOSTS:
        return True
    words = _words(name[:_SHORT])
    return _TALK.isdisjoint(words) and not words.isdisjoint(_ACCOUNTS_AND_HOSTS - _ALSO_OTHERS)


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(_CAMEL.sub(" ", name))}


@lru_cache(maxsize=1_024)
def _named(name: str) -> tuple[Danger, ...]:
    words = _words(name)
    return tuple(_OF_NAMES[word] for word in words & _OF_NAMES.keys())


def _leaves(arguments: Mapping[str, Any]) -> tuple[list[_Leaf], bool]:
    """The values that hold no others, as many as are looked at, and whether these are all."""
    found: list[_Leaf] = []
    waiting: list[tuple[str, str, Any, int]] = [
        (str(name), str(name), value, 0) for name, value in arguments.items()
    ][::-1]
    whole = True
    steps = 0
    while waiting:
        argument, name, value, depth = waiting.pop()
        steps += 1
        if steps > MOST_VALUES or depth > _DEEPEST:
            whole = False
            if steps > MOST_VALUES:
                break
        elif isinstance(value, Mapping):
            inner = [(argument, str(key), one, depth + 1) for key, one in _some(value.items())]
            waiting += inner[::-1]
            whole = whole and len(value) <= MOST_VALUES
        elif isinstance(value, list | tuple):
            waiting += [(argument, name, one, depth + 1) for one in _some(value)][::-1]
            whole = whole and len(value) <= MOST_VALUES
        else:
            found.append(_Leaf(argument, name, value))
    return found, whole


def _some(values: Any) -> Iterator[Any]:
    for number, one in enumerate(values):
        if number == MOST_VALUES:
            return
        yield one


def _of_text(tool: str, leaf: _Leaf, text: str, roles: Roles, root: Root) -> set[Danger]:
    found: set[Danger] = set()
    name = leaf.name.lower()
    if lookalike_in(text) or (_poses_as_account(text) and _names_account(leaf.name)):
        found.add(Danger.LOOKALIKES)
    if leaf.argument in roles.talk:
        return found
    is_talk = name in _TALK
    if (
        ("@" in text or "<!" in text)
        and _EVERYBODY.search(text)
        and (is_talk or len(text) < _SHORT)
    ):
        found.add(Danger.MANY_PEOPLE)
    if leaf.argument == roles.command or (not roles.command and name in _COMMANDS):
        return found | line_dangers(text, root)
    if leaf.argument in roles.writes:
        return found | set(manifest_dangers(text))
    if is_talk:
        return found
    found.update(sql_dangers(text))
    found.update(manifest_dangers(text))
    if leaf.argument in roles.paths or (not roles.paths and name in _PATHS):
        found |= _of_path(tool, text, roles, root)
    if len(text) <= _SHORT and is_production(text):
        found.add(Danger.PRODUCTION)
    if _REQUEST.match(text):
        found.add(Danger.DELETES)
    if ("rm -" in text and _LINE_OF_SHELL.search(text)) or text.startswith("#!"):
        found |= line_dangers(text, root)
    return found


def _of_path(tool: str, path: str, roles: Roles, root: Root) -> set[Danger]:
    reads = _READS.search(tool.lower()) is not None and not _WRITES.search(tool.lower())
    if reads:
        found = {Danger.READS_SECRETS} if shows_secrets(path) else set()
    else:
        found = {Danger.SECRETS} if is_secret(path) else set()
    if (roles.writes and not _looks(tool)) or _WRITES.search(tool.lower()):
        if is_outside(path, root):
            found.add(Danger.OUTSIDE)
        if is_run_later(path):
            found.add(Danger.RUNS_LATER)
    return found


def _looks(tool: str) -> bool:
    return tool.lower() in ("read", "read_file", "view")


def _of_lists(arguments: Mapping[str, Any], roles: Roles, root: Root) -> set[Danger]:
    """What lists say as a whole: a program with its arguments, many people."""
    found: set[Danger] = set()
    for name, value in list(arguments.items())[:MOST_VALUES]:
        if not isinstance(value, list | tuple):
            continue
        if str(name).lower() in _PEOPLE and len(value) > _MANY:
            found.add(Danger.MANY_PEOPLE)
        is_command = name == roles.command or str(name).lower() in _COMMANDS
        if is_command and value and all(isinstance(one, str) for one in value[:MOST_VALUES]):
            # One line a word would be read as many commands.
            line = " ".join(_as_word(one) for one in value[:MOST_VALUES])
            found |= line_dangers(line[:LONGEST], root)
    return found


def _as_word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'" if re.search(r"[^\w./:=@%+,-]", text) else text
