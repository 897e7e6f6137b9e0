"""The words of the kinds of question, in German."""

from __future__ import annotations

from sayso.languages.german.always import GERMAN as ALWAYS
from sayso.languages.german.cards import GERMAN as CARDS
from sayso.languages.german.counting import counted
from sayso.languages.german.dangers import GERMAN as DANGERS
from sayso.languages.german.limits import GERMAN as LIMITS
from sayso.languages.german.wordings import GERMAN as WORDINGS
from sayso.questions.words import QuestionWords

GERMAN = QuestionWords(
    allow="Erlauben",
    deny="Ablehnen",
    may_run="Darf das laufen?",
    asked_because="Gefragt, weil",
    works_in="Ordner",
    says="Das Tool sagt",
    says_of="Das Tool sagt: {name}",
    says_link="Das Tool verweist auf",
    not_shown="Nicht zu sehen",
    runs_hidden=counted(
        "{count} Wert, der wie ein Geheimnis aussieht; er läuft so, wie er ist",
        "{count} Werte, die wie Geheimnisse aussehen; sie laufen so, wie sie sind",
    ),
    runs_with="Läuft mit",
    no_arguments="(keine Argumente)",
    new_digest="Prüfsumme davon",
    edit="Argumente ändern…",
    edit_title="Argumente ändern",
    edit_note=(
        "Ändern Sie das JSON, oder schreiben Sie nur, was sich ändert: name=wert, je Zeile eins. "
        "Lassen Sie einen verborgenen Wert, wie er ist, um ihn zu behalten."
    ),
    allow_these="Damit erlauben",
    arguments="Argumente",
    hidden_moved=(
        "Ein verborgener Wert kann nicht verschoben oder teilweise geändert werden: "
        "lassen Sie ihn stehen oder ersetzen Sie ihn"
    ),
    neither="Zeile {line} ist weder JSON noch name=wert",
    no_such_argument="Ein Argument {name} gibt es nicht, nur {known}; neue gehen nur als JSON",
    given_twice="{name} ist zweimal angegeben",
    value_not_json="{name} ist keine Zeichenkette, der Wert muss also JSON sein",
    unfit_for_tool="Das passt nicht zum Tool: {problem}",
    not_editable="Hier kann nichts geändert werden: {problem}",
    deny_with_reason="Mit Grund ablehnen…",
    denial="Mit Grund ablehnen",
    reason="Grund",
    agent_is_told="Der Agent erfährt das.",
    without_reason=counted(
        "Ohne Grund gilt es in {count} Sekunde als abgelehnt.",
        "Ohne Grund gilt es in {count} Sekunden als abgelehnt.",
    ),
    leave_reason_out="Ohne Grund",
    closed_without_reason="Wenn Sie das schließen, gilt die Ablehnung sofort, ohne Grund.",
    reason_is_written="{who} lehnt das ab; der Grund wird gerade geschrieben.",
    ask_for_changes="Änderungen verlangen…",
    changes_title="Änderungen verlangen",
    what_should_change="Was soll anders sein?",
    agent_can_ask_again="Der Agent erfährt das und kann noch einmal fragen.",
    asked_for="Verlangt",
    changes="Änderungen",
    context="Genannter Zusammenhang",
    question="Frage",
    answer="Antwort",
    your_answer="Ihre Antwort",
    answer_it="Antworten…",
    answer_otherwise="Andere…",
    decline="Nicht antworten",
    answered="beantwortet",
    may_be_used="Darf dieser Text so verwendet werden?",
    approve="Freigeben",
    approved="freigegeben",
    approves_hidden=counted(
        "{count} Wert, der wie ein Geheimnis aussieht; er wird so freigegeben, wie er ist",
        "{count} Werte, die wie Geheimnisse aussehen; sie werden so freigegeben, wie sie sind",
    ),
    input_needed="Eingabe nötig",
    fields="Felder",
    fill_in="Ausfüllen…",
    filled_in="ausgefüllt",
    unfit_answer="sie passt nicht zu dem, was gefragt war",
    may_continue="Weitermachen?",
    used="Der Lauf hat {used} von {most} Durchgängen verbraucht.",
    go_on="Weiter (+{count})",
    stop="Anhalten",
    more_iterations=counted("{count} weiterer Durchgang", "{count} weitere Durchgänge"),
    cards=CARDS,
    always=ALWAYS,
    dangers=DANGERS,
    limits=LIMITS,
    known=WORDINGS,
)
