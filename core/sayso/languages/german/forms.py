"""The words of forms, in German. What people type is read in one way in every language."""

from __future__ import annotations

from sayso.forms.words import FormWords
from sayso.languages.german.counting import counted

GERMAN = FormWords(
    fill_in="Ausfüllen",
    send="Senden",
    cancel="Abbrechen",
    leave_out="Weglassen",
    back="Zurück",
    skip="Überspringen",
    done="Fertig",
    yes="Ja",
    no="Nein",
    said_yes="ja",
    said_no="nein",
    none="nichts davon",
    needed="Hier wird eine Antwort gebraucht",
    unfit="Das passt hier nicht",
    must_be="Erwartet wird: {what}",
    whole_number="eine ganze Zahl, etwa 3",
    number="eine Zahl mit Punkt statt Komma, etwa 2.5",
    finite="eine endliche Zahl",
    yes_or_no="Ja oder Nein",
    text="Text",
    date="ein Datum in der Form 2026-11-21",
    moment="Datum, Uhrzeit und Zeitzone in der Form 2026-11-21 14:30 UTC",
    email="eine Adresse wie ana@example.com",
    url="eine Adresse wie https://example.com",
    pattern="Text nach dem Muster {pattern}",
    least="mindestens {number}",
    most="höchstens {number}",
    least_characters=counted("mindestens {count} Zeichen", "mindestens {count} Zeichen"),
    most_characters=counted("höchstens {count} Zeichen", "höchstens {count} Zeichen"),
    least_options=counted(
        "mindestens {count} der Möglichkeiten", "mindestens {count} der Möglichkeiten"
    ),
    most_options=counted(
        "höchstens {count} der Möglichkeiten", "höchstens {count} der Möglichkeiten"
    ),
    several_options="eine oder mehrere der Möglichkeiten",
    one_option="Bitte eine der Möglichkeiten wählen",
    each_once="Bitte jede Möglichkeit nur einmal wählen",
    lines="je Zeile eins",
    on_line="Zeile {number}: {problem}",
    least_items=counted("eine Liste mit mindestens {count}", "eine Liste mit mindestens {count}"),
    most_items=counted("eine Liste mit höchstens {count}", "eine Liste mit höchstens {count}"),
    item_once="Bitte jeden Eintrag nur einmal schreiben",
    too_deep="Das ist zu tief verschachtelt",
    curly_quotes='Bitte gerade Anführungszeichen ("): Zeile {line}, Spalte {column}',
    not_json="Das ist kein JSON ({problem}): Zeile {line}, Spalte {column}",
    no_such_constant="{name} ist kein JSON",
    name_twice="Ein Name kommt in demselben Objekt zweimal vor",
    json="Text in JSON",
    json_such_as="JSON, etwa {example}",
    unfit_for_schema="Das passt nicht: {problem}",
)
