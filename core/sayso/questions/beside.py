"""What a card says beside a call: reasons, the words of its tool. All of it is data."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.calls import Folder, Project
from sayso.cards.card import NAME_LIMIT
from sayso.questions.permission import LONGEST_TOLD
from sayso.questions.words import QuestionWords
from sayso.text.agents import from_agent
from sayso.text.secrets import Redaction
from sayso.text.visible import one_line, shortened
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


def said_by_tool(wording: Wording | None, words: QuestionWords) -> Iterator[Fact]:
    """What the tool's maker says of the call; a link is text, and its host stands before it."""
    if wording is None:
        return
    if wording.summary:
        yield words.says, _shown(wording.summary)
    for label, said in wording.facts:
        if said:
            yield words.says_of.format(name=one_line(_shown(label), NAME_LIMIT)), _shown(said)
    if wording.host:
        yield words.says_link, _shown(f"{wording.host} · {wording.link}")


def working_in(
    folder: Folder | None, project: str | Project, words: QuestionWords
) -> Iterator[Fact]:
    """The folder that rules about paths are held to.

    Where that folder is the project, it is said already.
    """
    known = project.folder if isinstance(project, Project) else project
    if folder is not None and folder.root != known:
        yield words.works_in, one_line(folder.root, LONGEST_TOLD)


def because(reason: str, words: QuestionWords) -> Iterator[Fact]:
    """Why a policy wants a person."""
    if told := _shown(reason).strip():
        yield words.asked_because, told


def not_shown(shown: Redaction, words: QuestionWords) -> Iterator[Fact]:
    """How many values are hidden."""
    if shown.hidden:
        yield words.not_shown, words.runs_hidden.of(shown.hidden)


def _shown(text: str) -> str:
    return shortened(from_agent(text, one_line=True), LONGEST_TOLD)
