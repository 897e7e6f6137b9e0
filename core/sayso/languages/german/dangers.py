"""The words for dangers, in German."""

from __future__ import annotations

from sayso.dangers.danger import Danger
from sayso.dangers.words import DangerWords

GERMAN = DangerWords(
    said={
        Danger.DISK: "schreibt direkt auf einen Datenträger",
        Danger.DROPS_TABLE: "löscht eine Tabelle oder Datenbank",
        Danger.ALL_ROWS: "ändert Zeilen ohne WHERE",
        Danger.DELETES_FILES: "löscht Dateien",
        Danger.DESTROYS: "zerstört Ressourcen",
        Danger.FORCE_PUSH: "erzwungener Push",
        Danger.DISCARDS: "verwirft Arbeit",
        Danger.DELETES: "löscht Daten",
        Danger.MONEY: "bewegt Geld",
        Danger.LOOKALIKES: "täuschend ähnliche Buchstaben",
        Danger.PRODUCTION: "Produktion",
        Danger.NETWORK: "führt Code aus dem Netz aus",
        Danger.HIDDEN_CODE: "führt Code aus, der nicht zu sehen ist",
        Danger.PRIVILEGED: "privilegierter Container",
        Danger.ROOT: "läuft als root",
        Danger.OUTSIDE: "schreibt außerhalb des Projekts",
        Danger.READS_SECRETS: "liest Geheimnisse",
        Danger.SECRETS: "rührt an Schlüssel oder Passwörter",
        Danger.SENDS_FILES: "schickt Dateien woandershin",
        Danger.PERMISSIONS: "ändert Berechtigungen",
        Danger.PUBLISHES: "veröffentlicht",
        Danger.HISTORY: "schreibt die Historie um",
        Danger.STOPS: "hält etwas an, das läuft",
        Danger.RUNS_LATER: "läuft später von selbst",
        Danger.SKIPS_CHECKS: "überspringt Prüfungen",
        Danger.MANY_PEOPLE: "spricht viele Leute an",
        Danger.UNREAD: "zu lang, um es durchzusehen",
    },
    high_risk="laut Hersteller des Tools hohes Risiko",
)
