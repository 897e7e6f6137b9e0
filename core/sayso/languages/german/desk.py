"""The words of the desk, in German."""

from __future__ import annotations

from sayso.desk.words import DeskWords
from sayso.languages.german.calls import GERMAN as CALLS
from sayso.languages.german.counting import counted
from sayso.languages.german.questions import GERMAN as QUESTIONS

GERMAN = DeskWords(
    questions=QUESTIONS,
    calls=CALLS,
    unknown="Diese Karte ist nicht mehr bekannt. Nichts wurde entschieden.",
    not_allowed="Das dürfen Sie nicht entscheiden. Es bleibt offen.",
    own_request="Das war Ihre Anfrage: jemand anderes muss sie genehmigen. Sie bleibt offen.",
    second_press="{choice} braucht einen zweiten Klick: siehe Karte.",
    would_allow="Es hätte {count} der letzten {all} Aufrufe dieser Sitzung erlaubt",
    would_deny="Es hätte {count} der letzten {all} Aufrufe dieser Sitzung abgelehnt",
    not_yet="Noch nicht: {why}",
    no_such_button="Diese Karte hat keine solche Schaltfläche.",
    recorded="{outcome}.",
    unheard="{outcome} und gespeichert, aber gerade wartet niemand darauf.",
    not_approved="Nicht genehmigt: {reason}.",
    rule_revoked="Widerrufen. Bei solchen Aufrufen wird wieder gefragt.",
    not_in_force="Das gilt nicht mehr: es ist abgelaufen oder wurde schon widerrufen.",
    may_not_revoke="Das dürfen Sie nicht widerrufen.",
    invalid="Einige Antworten passen nicht.",
    not_asked="Danach konnte nicht gefragt werden: {problem}.",
    no_reason_asked="{outcome}; nach dem Grund konnte nicht gefragt werden: {problem}.",
    nobody_waits="{said} Gerade wartet niemand darauf.",
    not_shown="Es konnte nicht ganz gezeigt werden: {problem}.",
    none_allowed="Diese dürfen Sie nicht entscheiden. Sie bleiben offen.",
    own_requests="Das waren Ihre Anfragen: jemand anderes muss sie genehmigen. Sie bleiben offen.",
    unseen=counted(
        "Noch nicht: {count} Aufruf ist gekürzt. Erst dort {show_all} drücken.",
        "Noch nicht: {count} Aufrufe sind gekürzt. Erst dort {show_all} drücken.",
    ),
    decided="{count} {outcome}",
    already=counted("{count} war schon {how}", "{count} waren schon {how}"),
    gone=counted("{count} war nicht mehr bekannt", "{count} waren nicht mehr bekannt"),
    by_rule=counted("{count} lehnt eine Regel ab", "{count} lehnt eine Regel ab"),
    forbidden="{count} dürfen Sie nicht entscheiden",
    own="{count} sind Ihre eigenen Anfragen, die jemand anderes genehmigen muss",
    for_nobody="auf {count} davon wartet gerade niemand",
    listed="{parts}.",
)
