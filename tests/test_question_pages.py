"""The pages of docs/questions are true: pictures are there, code runs, answers are as told."""

from __future__ import annotations

import asyncio
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sayso.cards.bundle import MOST_IN_BUNDLE
from sayso.cards.card import LONGEST_LABEL
from sayso.errors import InvalidInputError, SchemaError
from sayso.forms.form import LONGEST_TEXT, MOST_FIELDS, MOST_OPTIONS
from sayso.forms.json_schema import build_schema_form
from sayso.questions.clarification import CONTEXT_LIMIT, MAX_OPTIONS, OPTION_LIMIT, QUESTION_LIMIT
from sayso.questions.refusals import REASON_LIMIT
from sayso.questions.text_approval import TEXT_LIMIT
from sayso.testing import Filled, Prompt, Stage
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_slack.limits import CONTENT_LIMIT as SLACK_SHOWS
from sayso_slack.limits import LIMITS as SLACK_LIMITS
from sayso_slack.modal import REVEAL_LIMIT as SLACK_REVEALS
from sayso_telegram.adapter import LIMITS as TELEGRAM_LIMITS
from sayso_telegram.adapter import REVEAL_LIMIT as TELEGRAM_REVEALS
from sayso_telegram.message_text import CONTENT_LIMIT as TELEGRAM_SHOWS

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "questions"
INDEX = FOLDER / "README.md"
PAGES = sorted(set(FOLDER.glob("*.md")) - {INDEX})
PICTURES = ROOT / "docs" / "images" / "questions"
STORE = '"redis://127.0.0.1:6379/0"'

_CODE = re.compile(
    r"(?:^<!-- from (?P<file>[\w/.]+) -->\n)?^```python\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_OUTCOME = re.compile(r"^\|.*<!-- (?P<answer>.+?) --> \| `(?P<told>.+?)` \|", re.MULTILINE)
_SCHEMA = re.compile(
    r"^\|.*`(?P<schema>\{.+?\})` <!-- (?P<how>\w+) --> \| (?P<told>.+?) \|", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class _Case:
    """What a person does, and what the code of a page prints or the person is told."""

    page: Path
    code: str
    answer: str
    told: str

    def __str__(self) -> str:
        return f"{self.page.stem}: {self.answer[:60]}"


def _sections(page: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Each code of a page with the words up to the next one."""
    text = page.read_text()
    found = list(_CODE.finditer(text))
    ends = [code.start() for code in found[1:]] + [len(text)]
    for code, end in zip(found, ends, strict=True):
        yield code, text[code.end() : end]


def _cases() -> Iterator[_Case]:
    for page in PAGES:
        for code, words in _sections(page):
            for row in _OUTCOME.finditer(words):
                if row["answer"] != "refused":
                    yield _Case(page, code["text"], row["answer"], row["told"])


CASES = list(_cases())
RUN = [case for case in CASES if not case.answer.startswith("refused ")]
REFUSED = [case for case in CASES if case.answer.startswith("refused ")]
SCHEMAS = [
    (page, json.loads(row["schema"]), row["how"], row["told"])
    for page in PAGES
    for row in _SCHEMA.finditer(page.read_text())
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_pictures_of_both_chats_and_stands_in_the_list(page: Path) -> None:
    shown = set(re.findall(r"\]\(\.\./images/questions/([\w-]+\.png)\)", page.read_text()))

    assert any(name.endswith("-slack.png") for name in shown)
    assert any(name.endswith("-telegram.png") for name in shown)
    assert {name for name in shown if not (PICTURES / name).is_file()} == set()
    assert f"]({page.name})" in INDEX.read_text()
    assert f"](docs/questions/{page.name})" in (ROOT / "README.md").read_text()


def test_every_picture_is_shown_on_the_page_of_its_kind() -> None:
    for picture in PICTURES.glob("*.png"):
        page = next(page for page in PAGES if picture.name.startswith(page.stem))
        assert picture.name in page.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_code_is_run_or_stands_in_the_file_it_names(page: Path) -> None:
    sections = list(_sections(page))

    assert sections
    for code, words in sections:
        if code["file"]:
            written = (ROOT / code["file"]).read_text()
            assert code["text"] in written or textwrap.indent(code["text"], " " * 4) in written
        else:
            assert _OUTCOME.search(words), f"nothing says what comes of:\n{code['text']}"


@pytest.mark.parametrize("case", RUN, ids=str)
async def test_the_code_prints_what_the_page_says(
    case: _Case, capsys: pytest.CaptureFixture[str]
) -> None:
    await _play(case.code, json.loads(case.answer))

    assert capsys.readouterr().out.rstrip("\n").replace("\n", " ") == case.told


@pytest.mark.parametrize("case", REFUSED, ids=str)
async def test_wrong_input_is_told_as_the_page_says(case: _Case) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await _play(case.code, json.loads(case.answer.removeprefix("refused ")))

    assert case.told in raised.value.problems.values()


@pytest.mark.parametrize(("page", "schema", "how", "told"), SCHEMAS, ids=str)
def test_schemas_are_asked_or_refused_as_the_page_says(
    page: Path, schema: dict[str, Any], how: str, told: str
) -> None:
    del page
    whole = {"type": "object", "properties": {"it": schema}}
    if how == "refused":
        with pytest.raises(SchemaError) as raised:
            build_schema_form(whole)
        assert f"`{raised.value}`" == told
    else:
        assert build_schema_form(whole).form.fields[0].kind == how


LIMITS = (
    ("clarification", MAX_OPTIONS, "Ten options"),
    ("clarification", OPTION_LIMIT, "at most 200 characters"),
    ("clarification", QUESTION_LIMIT, "at most 20,000 characters"),
    ("clarification", CONTEXT_LIMIT, "at most 20,000 characters"),
    ("clarification", LONGEST_TEXT, "More than 4,000 characters"),
    ("deny-with-reason", REASON_LIMIT, "More than 1,000 characters"),
    ("edit-arguments", LONGEST_TEXT, "more than 4,000 characters"),
    ("edit-arguments", SLACK_LIMITS.text, "in Slack more than 3,000 characters"),
    ("edit-arguments", TELEGRAM_LIMITS.text, "in Telegram more than 3,000 characters"),
    ("permission", SLACK_LIMITS.stores, "In Slack at most 600 characters"),
    ("permission", TELEGRAM_LIMITS.stores, "In Telegram at most 600 characters"),
    ("structured-input", LONGEST_TEXT, "text, at most 4,000 characters"),
    ("structured-input", SLACK_LIMITS.text, "Slack's inputs hold 3,000 characters"),
    ("structured-input", SLACK_LIMITS.options, "its menus 100 options"),
    ("your-own-kind", LONGEST_LABEL, "label 80"),
    ("your-own-kind", LONGEST_TEXT, "a text 4,000\ncharacters"),
    ("your-own-kind", SLACK_LIMITS.button, "70 characters on a button"),
    ("see-everything", SLACK_SHOWS, "| Slack | 20 lines, 2,900 characters |"),
    ("see-everything", SLACK_REVEALS, "up to 150,000 |"),
    ("see-everything", TELEGRAM_SHOWS, "| Telegram | 20 lines, 1,000 characters |"),
    ("see-everything", TELEGRAM_REVEALS, "up to 1,000,000 |"),
    ("structured-input", MOST_FIELDS, "1 to 40 values"),
    ("structured-input", MOST_OPTIONS, "at most 250 options"),
    ("text-approval", TEXT_LIMIT, "at most 200,000 characters"),
    ("batch", MOST_IN_BUNDLE, "At most eight calls"),
)
_IN_WORDS = {8: "eight", 10: "Ten"}


@pytest.mark.parametrize(("page", "limit", "words"), LIMITS, ids=str)
def test_the_limits_on_the_pages_are_those_of_the_code(page: str, limit: int, words: str) -> None:
    assert re.search(rf"\b({limit:,}|{_IN_WORDS.get(limit, limit)})\b", words)
    assert words in (FOLDER / f"{page}.md").read_text()


async def _play(code: str, answer: Any) -> None:
    """Run the code of a page with a person who answers every question like this."""
    assert STORE in code
    assert code.endswith("asyncio.run(main())\n")
    text = code.replace(STORE, "STORE, clock=CLOCK").removesuffix("asyncio.run(main())\n")
    async with Stage(answers=_person(answer), by="slack:U0ALICE") as stage:
        names: dict[str, Any] = {"STORE": stage.backend, "CLOCK": stage.clock, "__name__": "page"}
        exec(compile(text, "a page", "exec", dont_inherit=True), names)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await names["main"]()


def _person(answer: Any) -> Callable[[Prompt], str | Filled | None]:
    """Somebody who says the same to all, or by the name of the tool."""

    def says(prompt: Prompt) -> str | Filled | None:
        said = answer[prompt.tool] if isinstance(answer, dict) else answer
        return Filled(*said) if isinstance(said, list) else said

    return says
