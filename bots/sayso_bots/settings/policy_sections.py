"""[[policy]] and [always] as they may be written."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sayso.always.terms import LONGEST_WINDOW
from sayso.platforms.section import Section
from sayso.policy.written import PolicyTable
from sayso_bots.settings.durations import Duration


def _short_window(window: timedelta) -> timedelta:
    if window > LONGEST_WINDOW:
        raise ValueError("is too long for a whole tool; write at most 60m")
    return window


class AlwaysSection(Section):
    """[always]: what Always may store, and for how long."""

    remember: Duration = timedelta(hours=24)
    scopes: tuple[Literal["session", "project", "agent", "window"], ...] = ("session", "project")
    project: Duration = timedelta(days=30)
    window: Annotated[Duration, AfterValidator(_short_window)] = timedelta(minutes=15)


class PolicySection(PolicyTable):
    """[[policy]]: a policy for some agents and tools, its rules and its file not looked at yet."""

    agent: str = "*"
    tool: str = "*"
    file: str | None = None
    audit: Annotated[bool, Field(strict=True)] = False


class OnePolicySection(PolicySection, AlwaysSection):
    """[policy]: one for all agents, and the terms of Always besides."""
