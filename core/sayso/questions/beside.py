"""What a card says beside a call: reasons, the words of its tool. All of it is data."""

from __future__ import annotations

from collections.abc import Iterator
from gettext import NullTranslations

from sayso.calls import Folder, Project
from sayso.cards.card import NAME_LIMIT
from sayso.questions.permission import LONGEST_TOLD
from sayso.text.agents import from_agent
from sayso.text.secrets import Redaction
from sayso.text.visible import format_count, one_line, shortened
from sayso.wording.wording import Wording

_TITLE = 70

Fact = tuple[str, str]


def titled(tool: str, wording: Wording | None) -> str:
    """The tool's name, behind what the call is in words where there are some."""
    name = one_line(tool, NAME_LIMIT)
    said = "" if wording is None else one_line(_shown(wording.title), _TITLE, otherwise="")
    return (
        shortened(f"{said} ({name})", NAME_LIMIT) if said and len(name) < _TITLE // 2 + 10 else name
    )


def said_by_tool(wording: Wording | None, translations: NullTranslations) -> Iterator[Fact]:
    """What the tool's maker says of the call; a link is text, and its host stands before it."""
    if wording is None:
        return
    claims = (wording.summary, *(f"{label}: {said}" for label, said in wording.facts if said))
    for claim in filter(None, claims):
        # The label of a claim is the tool's word as well: as ours, it could begin a line.
        yield translations.gettext("The tool says"), _shown(claim)
    if wording.host:
        yield translations.gettext("The tool links to"), _shown(f"{wording.host} · {wording.link}")


def working_in(
    folder: Folder | None, project: str | Project, translations: NullTranslations
) -> Iterator[Fact]:
    """The folder that rules about paths are held to.

    Where that folder is the project, it is said already.
    """
    known = project.folder if isinstance(project, Project) else project
    if folder is not None and folder.root != known:
        yield translations.gettext("Folder"), one_line(folder.root, LONGEST_TOLD)


def because(reason: str, translations: NullTranslations) -> Iterator[Fact]:
    """Why a policy wants a person."""
    if told := _shown(reason).strip():
        yield translations.gettext("Asked because"), told


def not_shown(shown: Redaction, translations: NullTranslations) -> Iterator[Fact]:
    """How many values are hidden."""
    if shown.hidden:
        yield (
            translations.gettext("Not shown"),
            format_count(
                translations,
                "{count} value that looks like a secret; it runs as it is",
                "{count} values that look like secrets; they run as they are",
                shown.hidden,
            ),
        )


def _shown(text: str) -> str:
    return shortened(from_agent(text, one_line=True), LONGEST_TOLD)
