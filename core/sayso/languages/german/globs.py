"""The words for what is unexpected of a glob, in German."""

from __future__ import annotations

from sayso.rules.glob_warnings import DangerKind, MissKind
from sayso.rules.words import GlobWords

GERMAN = GlobWords(
    dangers={
        DangerKind.MATCHES_EVERYTHING: "Das Muster passt auf fast alles",
        DangerKind.COMMAND_AFTER: "Als Befehl erlaubt es auch einen weiteren dahinter",
        DangerKind.COMMAND_BEFORE: "Als Befehl erlaubt es jeden anderen vor seinem Text",
        DangerKind.LEAVES_FOLDER: "Es bleibt nicht im Ordner",
        DangerKind.OTHER_FOLDERS: "Als Pfad erlaubt es auch solche in anderen Ordnern",
        DangerKind.LEAVES_HOST: "Es bleibt nicht beim Host",
        DangerKind.NEGATED: "Das ! am Anfang erlaubt fast alles, was nicht genannt ist",
        DangerKind.BANG_IN_SET: (
            "{} ist keine Verneinung: es passt auf das ! und die Zeichen danach; "
            "verneint wird mit [^"
        ),
        DangerKind.RANGE_AS_SET: "{} ist ein Zeichen aus mehreren, keine Zahl aus einem Bereich",
        DangerKind.ANYTHING_BUT: (
            "{} passt auf alles außer dem Genannten, auch auf das, woran niemand gedacht hat"
        ),
        DangerKind.WHOLE_BRANCHES: "Das | trennt: jede Seite ist ein ganzes Muster für sich",
        DangerKind.DROPPED_START: "Das ./ am Anfang fällt weg: gemeint ist der Wert ohne das",
    },
    misses={
        MissKind.LINE_BREAK: "Zeilenumbrüchen",
        MissKind.HIDDEN_NAME: "versteckten Namen",
        MissKind.LEADING_SPACE: "einem Leerzeichen am Anfang",
    },
    example="{}: zum Beispiel {}",
    missing="Es passt nicht auf Werte mit {}",
    last_of_several=" oder ",
)
