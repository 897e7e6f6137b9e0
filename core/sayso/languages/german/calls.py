"""The words by which people are called, and of lists, in German."""

from __future__ import annotations

from sayso.calling.words import CallWords
from sayso.languages.german.counting import counted

GERMAN = CallWords(
    for_whom="Für",
    quiet="Ruhezeit bis {until}: niemand wird gerufen. Die Anfrage wartet und läuft ab wie sonst.",
    still_waiting=counted("Wartet noch auf eine Antwort", "{count} Fragen warten noch"),
    waits_for_you=counted("Eine Frage wartet auf Sie", "{count} Fragen warten auf Sie"),
    nothing_waits="Nichts wartet auf Sie.",
    asked_by="gefragt von",
    expires="offen bis",
    open_card="Zur Karte",
    more_waiting=counted("{count} weitere Frage wartet", "{count} weitere Fragen warten"),
    ask_privately=("Was auf Sie wartet, erfahren nur Sie: schreiben Sie dem Bot selbst /pending."),
    waiting="Wartet auf Sie",
    your_rules="Ihre Regeln",
    no_rules="Keine Regel von Ihnen ist gemerkt.",
    allows="Erlaubt",
    denies="Verbietet",
    any_arguments="mit beliebigen Argumenten",
    of_agent="von Agent",
    stored_by="gemerkt von",
    until="bis",
    revoke="Widerrufen",
    revoke_really="Ab dann wird bei solchen Aufrufen wieder gefragt.",
    keep="Behalten",
    more_rules=counted("{count} weitere Regel ist gemerkt", "{count} weitere Regeln sind gemerkt"),
    decisions="Letzte Entscheidungen",
    no_decisions="Noch wurde nichts entschieden.",
    unavailable="Das lässt sich gerade nicht sagen. Bitte gleich noch einmal versuchen.",
)
