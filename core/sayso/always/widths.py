"""From a call to rules worth storing, narrow to wide."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from sayso.always.programs import program_pattern
from sayso.always.widths_by_role import by_roles
from sayso.calls import ToolCall
from sayso.digests import arguments_digest, as_json
from sayso.errors import InvalidCallError
from sayso.known.tools import alike, known, roles_in
from sayso.rules.declarations import DerivePermission, Roles, ToolAnnotations
from sayso.rules.glob import escape_glob
from sayso.rules.javascript import as_text
from sayso.rules.rule import PatternRule, Rule, literal_rule

_log = logging.getLogger(__name__)

MOST_SUGGESTED = 2
"""How many rules whoever asks suggests at most; exactly this call is offered before them."""

_NOT_ABOUT = "not about this call: its params are literal, unless it is a PatternRule"

COMMAND_PARAMETERS = ("command", "cmd", "command_line", "shell_command")
"""Parameters whose text is taken for a command line."""


def derive(
    call: ToolCall,
    *,
    declared: ToolAnnotations | DerivePermission | None = None,
    digest: str | None = None,
    suggest: Sequence[Rule] = (),
) -> tuple[Rule, ...]:
    """Rules to offer with Always, from narrow to wide; each covers at least this call.

    First exactly this call, but for its talk. Then what is suggested, see ``suggested``, as
    far as it is about this call. Then what the tool derives, and what follows from the roles
    of its arguments, declared or well known: see ``sayso.always.widths_by_role``. For a command
    line of an unknown tool that is plain words of a program that can only look, this program
    with the other arguments as they are. Last the tool, whatever its arguments. ``digest`` is
    that of the arguments, where it is known already.

    Raises:
        InvalidCallError: the arguments cannot be written as JSON.
    """
    declaration = declared if isinstance(declared, ToolAnnotations) else None
    function = declaration.derive if declaration else cast("DerivePermission | None", declared)
    roles = roles_in(call, declaration)
    literal = literal_rule(call, digest, talk=roles.talk)
    whole = Rule(call.name)
    middle = [one for one in suggest if one.matches(call)]
    middle += [] if function is None else _declared(call, function)
    if roles.names:
        same = () if declaration is not None and declaration.roles.names else alike(call)
        middle += by_roles(call, roles, same)
    elif function is None:
        middle += (*_program(call), *_any_query(call, roles))
    rules = [literal]
    for rule in middle:
        if rule not in rules and rule != whole:
            rules.append(rule)
    return (*rules, whole)


def suggested(call: ToolCall, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that whoever asks about a call wants offered with Always, as they are meant.

    Their params are literal, unless a ``PatternRule`` says that they are patterns.

    Raises:
        InvalidCallError: one is not about this call.
    """
    meant = tuple(rule for one in rules if (rule := _about(call, one)) is not None)
    if len(meant) < len(rules):
        raise InvalidCallError(f"a rule suggested for {call.name!r:.80} is {_NOT_ABOUT}")
    return meant


def shared_out(calls: Sequence[ToolCall], rules: Sequence[Rule]) -> list[tuple[Rule, ...]]:
    """For each of the calls, those of the suggested rules that are about it.

    Raises:
        InvalidCallError: one is about none of them.
    """
    shared = [tuple(rule for rule in rules if _about(call, rule) is not None) for call in calls]
    if calls and any(all(rule not in one for one in shared) for rule in rules):
        raise InvalidCallError(f"a rule suggested for a batch is {_NOT_ABOUT}")
    return shared


def _about(call: ToolCall, rule: Rule) -> Rule | None:
    """What a suggested rule means, if it is about the call."""
    meant = _meant(call, rule)
    return meant if meant is not None and meant.matches(call) else None


def _program(call: ToolCall) -> Iterator[Rule]:
    commands = [name for name in COMMAND_PARAMETERS if name in call.arguments]
    # With two of them it is not clear which one runs.
    if len(commands) != 1 or not isinstance(line := call.arguments[commands[0]], str):
        return
    arguments = {name: call.arguments[name] for name in call.arguments if name != commands[0]}
    if (pattern := program_pattern(line)) is not None:
        # The others are held as they are: an environment or a shell of one's own starts anything.
        yield Rule(call.name, {commands[0]: pattern}, others_digest=arguments_digest(arguments))


def _any_query(call: ToolCall, roles: Roles) -> Iterator[Rule]:
    """A search for whatever the agent looks for; the other arguments are held as they are."""
    tool = known(call)
    if tool is None or roles != tool.roles or not set(tool.queries).intersection(call.arguments):
        return
    others = {n: value for n, value in call.arguments.items() if n not in tool.queries}
    yield Rule(call.name, others_digest=arguments_digest(others), talk=tool.queries)


def _declared(call: ToolCall, function: DerivePermission) -> Iterator[Rule]:
    """What the tool suggests, as far as it is about this call; nothing where it fails."""
    try:
        said = function(as_json(call.arguments))
        rules: Iterable[object] = (said,) if isinstance(said, Rule | Mapping) else tuple(said)
        meant = [_meant(call, one) for one in rules]
    except Exception as error:  # the question must be asked all the same
        kind = type(error).__name__
        _log.error("derive_permission of %s raised %s: ignored", call.name, kind)
        return
    for rule in meant:
        if rule is not None and rule.matches(call):
            yield rule
        else:
            _log.error(
                "derive_permission of %s returned no rule about the call: ignored",
                call.name,
            )


def _meant(call: ToolCall, said: object) -> Rule | None:
    """The rule that a tool means: its params are literal, unless it marks them as patterns."""
    if isinstance(said, Mapping):
        return Rule(call.name, {name: escape_glob(as_text(value)) for name, value in said.items()})
    if not isinstance(said, Rule):
        return None
    params = said.params
    if not isinstance(said, PatternRule):
        params = {name: escape_glob(text) for name, text in params.items()}
    digests = said.arguments_digest, said.others_digest
    return Rule(said.tool, params, *digests, said.talk, said.matchers, said.also)
