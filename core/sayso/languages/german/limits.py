"""The words for what does not fit a platform, in German."""

from __future__ import annotations

from sayso.chats.words import LimitWords
from sayso.languages.german.counting import counted

GERMAN = LimitWords(
    tag="de",
    not_offered="Hier nicht angeboten",
    left_out="{choice}: {why}",
    not_askable="{choice!r} kann hier nicht gefragt werden: {why}",
    nothing_left="keine der Möglichkeiten passt: {why}",
    long_label="die Beschriftung hat {count} Zeichen, und {fit} passen",
    long_stored=counted(
        "was gemerkt würde, hat {count} Zeichen, und {fit} passen",
        "was gemerkt würde, hat {count} Zeichen, und {fit} passen",
    ),
    many_fields=counted(
        "das Formular hat {count} Feld, und {fit} passen",
        "das Formular hat {count} Felder, und {fit} passen",
    ),
    long_field="die Beschriftung {label!r} hat mehr als {fit} Zeichen",
    many_options="{label!r} hat {count} Möglichkeiten, und {fit} passen",
    long_option="eine Möglichkeit von {label!r} hat mehr als {fit} Zeichen",
    long_text=counted(
        "{label!r} braucht einen Text von mehr als {count} Zeichen",
        "{label!r} braucht einen Text von mehr als {count} Zeichen",
    ),
)
