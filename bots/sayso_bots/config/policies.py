"""[[policy]] and [always]: the policy of a server, and on which terms Always is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal

from sayso.always.terms import GrantOptions
from sayso.errors import ConfigError
from sayso.platforms.platform import Section as SettingsSection
from sayso.policy.permissions import left_behind
from sayso.policy.policy_file import PolicyTable, WrittenPolicy, policy_in, read_policy
from sayso.policy.server_policy import Section, ServerPolicy
from sayso.rules.floor import written_floor
from sayso.rules.rule import Scope
from sayso.toml_file import KeyPath, SettingsError
from sayso_bots.config.source import Duration, Flag, Source

_SCOPES: Mapping[str, Scope] = {
    "session": "session",
    "project": "project",
    "agent": "agent",
    "window": "tool-window",
}


class AlwaysSection(SettingsSection):
    """[always]: what Always may store, and for how long."""

    remember: Duration = timedelta(hours=24)
    scopes: tuple[Literal["session", "project", "agent", "window"], ...] = ("session", "project")


class PolicySection(PolicyTable):
    """[[policy]]: a policy for some agents and tools, its rules and its file not looked at yet."""

    agent: str = "*"
    tool: str = "*"
    file: str | None = None
    audit: Flag = False


def read_policies(source: Source) -> ServerPolicy:
    """Read the sections in their order, and note what is wrong in the source.

    A single table, ``[policy]``, is one section for all agents.
    """
    written = source.get(("policy",), [])
    if isinstance(written, dict):
        sections = [_read_section(source, ("policy",), "")]
    elif isinstance(written, list):
        sections = [
            _read_section(source, ("policy", number), f"policy {number + 1}")
            for number in range(len(written))
        ]
    else:
        source.add_problem(("policy",), "must be sections, each of which begins with [[policy]]")
        sections = []
    policy = ServerPolicy(sections)
    try:
        written_floor(policy.floor)
    except ConfigError as error:
        source.add_problem(("policy",), f"is too large: {error}")
    return policy


def read_always(source: Source) -> GrantOptions:
    """Read the terms of Always."""
    section = source.read_section(AlwaysSection, "always") or AlwaysSection()
    return GrantOptions(
        remember_for=section.remember,
        scopes=frozenset(_SCOPES[word] for word in section.scopes),
    )


def _read_section(source: Source, path: KeyPath, called: str) -> Section:
    _refuse_terms(source, path)
    table = source.read_section(PolicySection, *path) or PolicySection()
    own = policy_in(source, path, table)
    shared = _read_shared(source, table)
    for key in ("default", "preset"):
        if getattr(shared, key) and getattr(own, key):
            source.add_problem((*path, key), f"is said in {table.file}, too; leave one of them out")
    for key, default, preset in (
        ("preset", shared.default, own.preset),
        ("default", own.default, shared.preset),
    ):
        if default == "allow" and preset:
            text = (
                f'does not go with {table.file}: default = "allow" allows every tool, and so '
                "does more than the preset; leave one of them out"
            )
            source.add_problem((*path, key), text)
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
        place=f"{source.name}:{line}" if (line := source.line(path)) else source.name,
    )
    if (rule := left_behind(one.rule for one in section.deny)) is not None:
        # Who asks over HTTP has no gate that would deny what a person edits a call into.
        text = f"has too many rules for {rule.tool!r}; a tool has at most 100, of 16,000 characters"
        source.add_problem((*path, "deny"), text)
    return section


def _read_shared(source: Source, table: PolicySection) -> WrittenPolicy:
    """Read the policy in the file of a section, which is looked for beside the settings."""
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


def _refuse_terms(source: Source, path: KeyPath) -> None:
    table = source.get(path)
    for key in AlwaysSection.model_fields if isinstance(table, dict) else ():
        if key in table:
            source.add_problem((*path, key), f"belongs in [always], as {key} = …; move it there")
            source.refused.add((*path, key))
