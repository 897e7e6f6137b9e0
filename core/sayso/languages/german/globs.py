"""The words for what is unexpected of a glob, in German."""

from __future__ import annotations

from sayso.globs.notes import DangerKind, MissKind
from sayso.globs.words import GlobWords

GERMAN = GlobWords(
    dangers={
        DangerKind.MATCHES_NOTHING: "Das Muster passt auf nichts als seine eigene Schreibweise",
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
        DangerKind.NO_CLASS: (
            "{} ist keine Zeichenklasse, sondern eine Auswahl einzelner Zeichen; "
            "eine Klasse schreibt man wie [[:alpha:]]"
        ),
        DangerKind.OPEN_BRACKET: "{} wird nie geschlossen und steht für sich selbst",
        DangerKind.RANGE_AS_SET: "{} ist ein Zeichen aus mehreren, keine Zahl aus einem Bereich",
        DangerKind.ANYTHING_BUT: (
            "{} passt auf alles außer dem Genannten, auch auf das, woran niemand gedacht hat"
        ),
        DangerKind.WHOLE_BRANCHES: "Das | trennt: jede Seite ist ein ganzes Muster für sich",
        DangerKind.ESCAPE: "{} hat eine eigene Bedeutung, wie in einem regulären Ausdruck",
        DangerKind.QUOTES: (
            "{} meint, was zwischen den Anführungszeichen steht: im Wert selbst stehen dort keine"
        ),
        DangerKind.TEXT_AFTER_ALL: "{} wiederholt eine Wiederholung und gilt deshalb als Text",
        DangerKind.LOOKS_AHEAD: "{}...) schaut nur voraus und verbraucht keine Zeichen",
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
