"""The words about values, in German."""

from __future__ import annotations

from sayso.languages.german.counting import counted
from sayso.values.words import ValueWords

GERMAN = ValueWords(
    lines_changed="{added} hinzugefügt, {removed} entfernt",
    in_string="JSON in einer Zeichenkette",
    change="Änderung",
    unchanged=counted("[{count} unveränderte Zeile]", "[{count} unveränderte Zeilen]"),
    entries=counted("{count} Eintrag", "{count} Einträge"),
)
