"""The pages about the protocol are true: one for agents, one for whoever runs the bots."""

from __future__ import annotations

import re
from pathlib import Path

from sayso_bots.settings.aap import AapSection

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "agents" / "aap.md").read_text()
SERVERS = (ROOT / "docs" / "aap.md").read_text()
AGENTS = "".join(path.read_text() for path in (ROOT / "tests" / "agents" / "aap").glob("*.py"))


def test_every_line_to_paste_stands_in_an_agent_that_the_tests_run() -> None:
    _, _, rest = PAGE.partition("paste the line here")
    rows = rest.partition("\n\n")[0]
    named = re.findall(r"`([A-Za-z]+)\(", rows)

    assert len(named) == 9
    assert [name for name in named if f"{name}(" not in AGENTS] == []


def test_every_setting_of_the_section_is_on_the_page_of_the_server() -> None:
    names = set(AapSection.model_fields) - {"provisioner"}

    assert [name for name in names if f"`{name}`" not in SERVERS] == []


def test_no_row_and_no_sentence_stands_on_both_pages() -> None:
    def said(page: str) -> set[str]:
        text = re.sub(r"```.*?```", "", page, flags=re.DOTALL).replace("\n", " ")
        parts = re.split(r"(?<=[.:?|])\s+", text)
        return {part for part in parts if len(part) > 40}

    assert said(PAGE) & said(SERVERS) == set()
