"""Where a question comes from, as its card says it."""

from __future__ import annotations

import re
from gettext import NullTranslations
from typing import Protocol

from sayso.calls import Project, RunRef
from sayso.cards.card import NAME_LIMIT
from sayso.locales import ENGLISH
from sayso.text.agents import from_agent
from sayso.text.visible import one_line
from sayso.where import Where

_PART = 60
_HOME = re.compile(r"/(?:home|Users)/[^/]+(?=/|\Z)|/root(?=/|\Z)")


class Asked(Protocol):
    """What a card says of whoever asks: every request has it."""

    @property
    def question_id(self) -> str:
        """The id that comes back with the answer."""
        ...

    @property
    def source_name(self) -> str:
        """The name that the asker gave itself."""
        ...

    @property
    def run(self) -> RunRef:
        """The run that waits for an answer."""
        ...

    @property
    def path(self) -> tuple[str, ...]:
        """The chain of calls that led here."""
        ...

    @property
    def where(self) -> Where | None:
        """Where it works, as it says."""
        ...

    @property
    def requested_by(self) -> str | None:
        """Who wants it, where somebody does."""
        ...

    @property
    def filed_by(self) -> str | None:
        """The token it was asked with, where there is one."""
        ...


def asker(asked: Asked) -> str:
    """Who asks, outermost first: the agent, then the chain of calls that led here."""
    return " › ".join(_name(part) for part in (asked.run.agent_id, *asked.path))


def origin(asked: Asked, translations: NullTranslations = ENGLISH) -> tuple[tuple[str, str], ...]:
    """Where the question comes from besides the agent, as facts of its card: project, who."""
    facts = []
    project = asked.run.project
    if isinstance(project, Project):
        facts.append((translations.gettext("Project"), _place_of(project)))
    elif project:
        facts.append((translations.gettext("Agent's project name"), _name(project)))
    if asked.requested_by:
        facts.append((translations.gettext("Requested by"), _name(asked.requested_by)))
    if asked.filed_by and asked.filed_by != asked.requested_by:
        facts.append((translations.gettext("Asked through"), _name(asked.filed_by)))
    if asked.where is not None and (place := place_text(asked.where, within=project)):
        facts.append((translations.gettext("Claims to work in"), _name(place)))
    return tuple(facts)


def details(asked: Asked, translations: NullTranslations = ENGLISH) -> tuple[tuple[str, str], ...]:
    """What tells the question from others, for whoever looks for it: source, session, id."""
    run = asked.run
    branch = "" if run.branch_id == "main" else f" / {run.branch_id}"
    facts = [
        (translations.gettext("Session"), run.session_id + branch),
        (translations.gettext("Request"), asked.question_id),
    ]
    if asked.source_name != run.agent_id:
        facts.insert(0, (translations.gettext("Source"), asked.source_name))
    return tuple((label, _name(value)) for label, value in facts)


def place_text(where: Where, *, within: str | Project = "") -> str:
    """A place on one line, home folders without the name of who lives there.

    Of a place ``within`` a project that is said already only what that does not say.
    """
    known = within if isinstance(within, Project) else Project("", within)
    folder = _HOME.sub("~", _below(where.folder, known.folder.rstrip("/")))
    host = "" if where.host == known.host else where.host
    repository = "" if where.repository == known.origin else where.repository
    parts = (host, folder, repository, where.branch)
    return " · ".join(one_line(from_agent(part), _PART) for part in parts if part.strip())


def _place_of(project: Project) -> str:
    """All that identifies a project, each part of it in full unless it is very long."""
    parts = (project.host, project.folder, project.origin)
    return " · ".join(_name(part) for part in parts if part)


def _below(folder: str, known: str) -> str:
    if not known or not (folder + "/").startswith(f"{known}/"):
        return folder
    return folder[len(known) :].strip("/")


def _name(text: str) -> str:
    return one_line(text, NAME_LIMIT, otherwise="")
