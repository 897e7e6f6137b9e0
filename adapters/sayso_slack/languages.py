"""What Slack's adapter says besides cards, in each language that Sayso speaks."""

from __future__ import annotations

from collections.abc import Mapping

from sayso_slack.german import GERMAN
from sayso_slack.words import ENGLISH, SlackWords

LANGUAGES: Mapping[str, SlackWords] = {words.cards.tag: words for words in (ENGLISH, GERMAN)}
"""By their tags; see ``sayso.languages``."""
