"""The words for what *Always* stores, in German."""

from __future__ import annotations

from sayso.always.words import AlwaysWords
from sayso.languages.german.counting import counted
from sayso.languages.german.globs import GERMAN as GLOBS

GERMAN = AlwaysWords(
    always="Immer",
    always_by="Immer: nach {}",
    always_looks="Immer: was nur liest",
    always_same="Immer: dies, Ausgabe beliebig",
    always_begins="Immer: {}…",
    always_below="Immer: unterhalb von {}/",
    always_project="Immer: in diesem Projekt",
    always_any="Immer: {} beliebig",
    always_these="Immer: diese Argumente",
    always_deny="Immer ablehnen",
    whole_tool="Ganzes Tool",
    all_sessions="Immer, in allen Sitzungen",
    in_session="in Sitzung {}",
    in_run="in diesem Lauf",
    in_agent="in allen Sitzungen von Agent {}",
    in_project_named="in allen Sitzungen von Agent {}, die ihr Projekt {} nennen",
    in_folder="in allen Sitzungen von Agent {} im Ordner {} auf dem Rechner {}",
    in_repository="in allen Sitzungen von Agent {} im Ordner {} auf dem Rechner {}, Repository {}",
    this_session="Diese Sitzung, {}",
    this_run="Dieser Lauf, {}",
    this_project="Dieses Projekt, {}",
    or_longer="; oder {}, für {}",
    either_span=" oder ",
    stored="{} {}",
    stored_never="nie {} {}",
    exactly="{} mit genau diesen Argumenten: {} (Prüfsumme {})",
    exactly_as_shown=(
        "{} mit genau diesen Argumenten: allen, wie diese Karte sie zeigt (Prüfsumme {})"
    ),
    exactly_no_arguments="gar keinen",
    value="{} ist {}",
    rule="{} mit {}",
    any_arguments="beliebigen Argumenten",
    parameter="{} nach dem Muster {}",
    program="{} (nur {}, allein oder mit einfachen Wörtern)",
    looks="{} als Zeile, deren Teile alle nur lesen",
    same=(
        "{}, wo genau {} läuft und die Ausgabe zusammengelegt, verworfen oder an etwas "
        "weitergegeben wird, das nur liest"
    ),
    begins="{} als Zeile, deren Teile alle mit {} beginnen oder nur lesen",
    either=" oder ",
    below="{} als Datei irgendwo unterhalb von {} ({})",
    is_file="{} als die Datei {} selbst, nicht über einen Link",
    never_meant="auch Code, den Tests ausführen, aber nichts Verstecktes, Installiertes, als "
    "geheim Bekanntes oder hinter Links und keine Datei, die bekanntlich Abläufe oder Agenten "
    "steuert",
    page="{} als Seite von https://{}",
    any_others="beliebigen anderen Argumenten",
    no_others="keinen anderen Argumenten",
    others_as_shown="den anderen, wie diese Karte sie zeigt (Prüfsumme {})",
    any_of="beliebigen Werten für {}",
    and_any_of="{}, und mit beliebigen Werten für {}",
    both=" und ",
    for_time="{} für {}",
    stored_for="{}, für {}",
    days=counted("{count} Tag", "{count} Tage"),
    hours=counted("{count} Stunde", "{count} Stunden"),
    minutes=counted("{count} Minute", "{count} Minuten"),
    seconds=counted("{count} Sekunde", "{count} Sekunden"),
    warns_of_whole_tool=(
        "Es erlaubt jeden Aufruf dieses Tools in dieser Sitzung, mit beliebigen Argumenten"
    ),
    warns_of_files="{} kann jede Datei zeigen, die das Tool des Agenten lesen darf",
    warns_of_looking="So eine Zeile kann jede Datei zeigen, die das Tool des Agenten lesen darf, "
    "außer denen, die bekanntlich Geheimnisse enthalten",
    warns_of_beginnings=(
        "Es erlaubt {} auch mit anderen Optionen, Namen, Dateien und Ordnern, und verbunden mit "
        "dem, was andere Regeln erlauben"
    ),
    warns_of_queries=(
        "Jede Suche geht an eine Suchmaschine, mit allem, was der Agent hineinschreibt"
    ),
    globs=GLOBS,
)
