"""From a call to rules worth storing, narrow to wide."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping

from sayso.always.programs import program_pattern
from sayso.calls import ToolCall
from sayso.digests import arguments_digest, as_json
from sayso.globs.glob import escape
from sayso.rules.declarations import Declaration, DerivePermission
from sayso.rules.javascript import as_text
from sayso.rules.rule import PatternRule, Rule, literal_rule

_log = logging.getLogger(__name__)

COMMAND_PARAMETERS = ("command", "cmd", "command_line", "shell_command")
"""Parameters whose text is taken for a command line."""


def derive(
    call: ToolCall,
    *,
    declared: Declaration | DerivePermission | None = None,
    digest: str | None = None,
) -> tuple[Rule, ...]:
    """Rules to offer with Always, from narrow to wide; each covers at least this call.

    First exactly this call. Then what the tool declares, else, for a command
    line of plain words whose program can only look, this program with the
    other arguments as they are. Last the tool, whatever its arguments. ``digest`` is that
    of the arguments, where it is known already.

    Raises:
        InvalidCallError: the arguments cannot be written as JSON.
    """
    literal = literal_rule(call, digest)
    whole = Rule(call.name)
    function = declared.derive if isinstance(declared, Declaration) else declared
    middle = _program(call) if function is None else _declared(call, function)
    rules = [literal]
    for rule in middle:
        if rule not in rules and rule != whole:
            rules.append(rule)
    return (*rules, whole)


def _program(call: ToolCall) -> Iterator[Rule]:
    commands = [name for name in COMMAND_PARAMETERS if name in call.arguments]
    # With two of them it is not clear which one runs.
    if len(commands) != 1 or not isinstance(line := call.arguments[commands[0]], str):
        return
    arguments = {name: call.arguments[name] for name in call.arguments if name != commands[0]}
    if (pattern := program_pattern(line)) is not None:
        # The others are held as they are: an environment or a shell of one's own starts anything.
        yield Rule(call.name, {commands[0]: pattern}, others_digest=arguments_digest(arguments))


def _declared(call: ToolCall, function: DerivePermission) -> Iterator[Rule]:
    """What the tool suggests, as far as it is about this call; nothing where it fails."""
    try:
        said = function(as_json(call.arguments))
        rules: Iterable[object] = (said,) if isinstance(said, Rule | Mapping) else tuple(said)
        suggested = [_suggested(call, one) for one in rules]
    except Exception as error:  # the question must be asked all the same
        kind = type(error).__name__
        _log.error("derive_permission of %s raised %s: ignored", call.name, kind)
        return
    for rule in suggested:
        if rule is not None and rule.matches(call):
            yield rule
        else:
            _log.error(
                "derive_permission of %s returned no rule about the call: ignored",
                call.name,
            )


def _suggested(call: ToolCall, said: object) -> Rule | None:
    """The rule that a tool means: its params are literal, unless it marks them as patterns."""
    if isinstance(said, Mapping):
        return Rule(call.name, {name: escape(as_text(value)) for name, value in said.items()})
    if not isinstance(said, Rule):
        return None
    params = said.params
    if not isinstance(said, PatternRule):
        params = {name: escape(text) for name, text in params.items()}
    return Rule(said.tool, params, said.arguments_digest, said.others_digest)
