"""The words of forms that are asked question by question, in German."""

from __future__ import annotations

from sayso.languages.german.cards import GERMAN as CARDS
from sayso.platforms.words import ConversationWords

GERMAN = ConversationWords(
    for_person="Für {person}",
    step="{at} von {count}",
    optional="(freiwillig)",
    so_far="Bisher:",
    summary="Stimmt das alles?",
    reply_here="{person}, bitte auf diese Nachricht antworten: {label}",
    user="Konto {number}",
    your_answer="Ihre Antwort",
    reply_with="Bitte auf die Nachricht antworten: {what}.",
    reply_or_press="Bitte auf die Nachricht antworten ({what}) oder eine Schaltfläche drücken.",
    press_a_button="Hier kann niemand eine Antwort tippen: bitte eine Schaltfläche drücken.",
    keep="Behalten: {answer}",
    keep_it="So lassen",
    back="« {back}",
    done="{done} ({count})",
    done_with_none="{done}: nichts davon",
    sent="Gesendet.",
    cancelled="Abgebrochen: nichts wurde entschieden.",
    begun_anew="Weiter unten wurde neu begonnen.",
    could_not_ask="Die Frage ließ sich nicht zeigen: bitte auf der Karte noch einmal drücken.",
    nobody_can_type="dort kann niemand eine Antwort tippen: es braucht eine Gruppe oder Person",
    no_form="{label} hat kein Formular",
    unfit_together="diese Antworten passen nicht zusammen",
    over="Die Zeit dafür ist vorbei: bitte auf der Karte noch einmal drücken.",
    answered="Das ist schon beantwortet: oben im Formular steht, wo es weitergeht.",
    changed="Das Formular hat sich inzwischen geändert.",
    not_text="Hier zählt nur Text: bitte mit Text auf die Frage antworten.",
    nobodys=(
        "Das wurde im Namen eines Chats oder anonym gesendet, niemand kann also wissen, von wem "
        "es ist. Es entscheidet nichts: bitte unter eigenem Namen antworten."
    ),
    not_their_question=(
        "Diese Frage gilt {name}: Ihre Antwort entscheidet nichts. "
        "Um selbst zu antworten, auf der Karte {label} drücken."
    ),
    not_their_form="Dieses Formular gilt {name}: auf der Karte {label} drücken.",
    seen_before="Das ist schon angekommen.",
    cards=CARDS,
)
