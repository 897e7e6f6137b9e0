"""All tables there are, in all languages there are."""

from __future__ import annotations

from sayso.languages import NAMES
from sayso.languages.tables import DESK, DIALOGUES
from sayso_slack.languages import LANGUAGES as SLACK
from sayso_telegram.languages import LANGUAGES as TELEGRAM


def test_every_language_has_every_table_and_its_tag() -> None:
    for tables in (DESK, DIALOGUES, SLACK, TELEGRAM):
        assert tables.keys() == NAMES.keys()
    for tag in NAMES:
        words = DESK[tag]
        assert words.tag == tag
        assert DIALOGUES[tag].cards is words.cards
        assert SLACK[tag].cards is words.cards
        assert SLACK[tag].calls is words.calls
        assert TELEGRAM[tag].dialogues is DIALOGUES[tag]
        assert TELEGRAM[tag].calls is words.calls
