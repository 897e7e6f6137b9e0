"""[[policy]] and [always]: what a server says of calls, and on which terms Always is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sayso.always.terms import GrantOptions
from sayso.errors import ConfigError
from sayso.policy.deny_rules import left_behind
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.policy.written import WrittenPolicy, policy_in, read_policy
from sayso.rules.floor import written_floor
from sayso.rules.rule import Scope
from sayso.written.document import SettingsError
from sayso.written.lines import KeyPath
from sayso_bots.settings.policy_sections import AlwaysSection, OnePolicySection, PolicySection
from sayso_bots.settings.source import Source

_TERMS = tuple(AlwaysSection.model_fields)
_SCOPES: Mapping[str, Scope] = {
    "session": "session",
    "project": "project",
    "agent": "agent",
    "window": "tool-window",
}


def read_policies(source: Source) -> ServerPolicy:
    """The sections in their order; what is wrong is among the problems of the source.

    A single table, ``[policy]``, is one section for all agents.
    """
    written = source.written(("policy",), [])
    if isinstance(written, dict):
        sections = [_section(source, ("policy",), OnePolicySection, "")]
    elif isinstance(written, list):
        sections = [
            _section(source, ("policy", number), PolicySection, f"policy {number + 1}")
            for number in range(len(written))
        ]
    else:
        source.problem(("policy",), "must be sections, each of which begins with [[policy]]")
        sections = []
    policy = ServerPolicy(sections)
    try:
        written_floor(policy.floor)
    except ConfigError as error:
        source.problem(("policy",), f"is too large: {error}")
    return policy


def read_always(source: Source) -> GrantOptions:
    """The terms of Always, from [always] or, as it used to be, from a single [policy]."""
    one = source.written(("policy",))
    old = [key for key in _TERMS if isinstance(one, dict) and key in one]
    section: AlwaysSection | None
    if old and "always" not in source.data:
        section = source.section(OnePolicySection, "policy")
    else:
        section = source.section(AlwaysSection, "always")
        for key in old:
            source.problem(("policy", key), "belongs in [always], which is there; move it")
    section = section or AlwaysSection()
    return GrantOptions(
        remember_for=section.remember,
        scopes=frozenset(_SCOPES[word] for word in section.scopes),
        window=section.window,
        project_for=section.project,
    )


def _section(source: Source, path: KeyPath, model: type[PolicySection], called: str) -> Section:
    if model is PolicySection:
        _say_where_terms_belong(source, path)
    table = source.section(model, *path) or model()
    own = policy_in(source, path, table)
    shared = _shared(source, table)
    if shared.default is not None and own.default is not None:
        text = f"is said in {table.file}, too; leave one of them out"
        source.problem((*path, "default"), text)
    if shared.preset and own.preset:
        source.problem((*path, "preset"), f"is said in {table.file}, too; leave one of them out")
    for key, said in (("preset", shared.default), ("default", own.default)):
        if said == "allow" and (own.preset if key == "preset" else shared.preset):
            text = (
                f'does not go with {table.file}: default = "allow" allows every tool, and so '
                "does more than the preset; leave one of them out"
            )
            source.problem((*path, key), text)
    section = Section(
        agent=table.agent,
        tool=table.tool,
        default=own.default or shared.default or "ask",
        allow=own.allow + shared.allow,
        allow_once=own.allow_once + shared.allow_once,
        deny=own.deny + shared.deny,
        looking=own.looking + shared.looking,
        audit=table.audit,
        called=called,
        place=_place(source, path),
    )
    if (rule := left_behind(one.rule for one in section.deny)) is not None:
        # Who asks over HTTP has no gate that would deny what a person edits a call into.
        text = f"has too many rules for {rule.tool!r}; a tool has at most 100, of 16,000 characters"
        source.problem((*path, "deny"), text)
    return section


def _shared(source: Source, table: PolicySection) -> WrittenPolicy:
    """The policy in the file of a section, which is looked for beside the settings."""
    if table.file is None:
        return WrittenPolicy()
    file = Path(source.name).parent / table.file
    source.files.append(file)
    try:
        document, policy = read_policy(str(file))
        document.check()
    except SettingsError as error:
        source.problems += [("policy", problem) for problem in error.problems]
        return WrittenPolicy()
    return policy


def _say_where_terms_belong(source: Source, path: KeyPath) -> None:
    table = source.written(path)
    for key in _TERMS if isinstance(table, dict) else ():
        if key in table:
            source.problem((*path, key), f"belongs in [always], as {key} = …; move it there")
            source.refused.add((*path, key))


def _place(source: Source, path: KeyPath) -> str:
    line = source.line(path)
    return f"{source.name}:{line}" if line else source.name
