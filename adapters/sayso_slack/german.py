"""The words of Slack's dialogs, in German; see ``sayso.languages.german``."""

from __future__ import annotations

from sayso.languages.german.calls import GERMAN as CALLS
from sayso.languages.german.cards import GERMAN as CARDS
from sayso.languages.german.counting import counted
from sayso_slack.words import SlackWords

GERMAN = SlackWords(
    counts_at_once="Ohne Antwort geschlossen, gilt es sofort.",
    copied="Außerdem vorgeschlagen, zum Kopieren:",
    ready_made="{label}: fertige Antworten",
    one_of_two="Eins von beiden wird gebraucht.",
    instead="Was Sie hier schreiben, gilt statt einer fertigen Antwort.",
    each_line="Bitte {lines}.",
    left_empty="Leer gelassen, wird es entfernt.",
    too_late="Zu spät",
    not_taken="Nicht angenommen",
    was_not_taken="Das wurde nicht angenommen.",
    entered="Ihre Eingaben",
    answer="Antwort",
    too_long="Es ist zu lang, um noch einmal gezeigt zu werden.",
    too_large="es ist zu groß für einen Dialog in Slack",
    press_again="der Klick kam ohne trigger_id an: bitte noch einmal drücken",
    cannot_ask="Slacks Dialog kann nicht nach „{label}“ fragen: {reason}",
    name_too_long="der Name ist zu lang für Slack",
    initial_too_long=counted(
        "der Text hat {count} Zeichen, mehr als {most}",
        "der Text hat {count} Zeichen, mehr als {most}",
    ),
    too_many_options="es hat {count} Möglichkeiten, mehr als {most}",
    no_text_fits="kein Text kann zugleich lang genug und kurz genug sein",
    no_number_fits="keine Zahl kann zugleich groß genug und klein genug sein",
    half_a_pair="das Formular enthält ein halbes Zeichen (surrogate), das Slack nicht überträgt",
    too_many_blocks=counted(
        "das Formular ist zu groß für einen Dialog in Slack: es braucht {count} Block von "
        "höchstens {most}, und {size} Bytes von höchstens {most_size}",
        "das Formular ist zu groß für einen Dialog in Slack: es braucht {count} Blöcke von "
        "höchstens {most}, und {size} Bytes von höchstens {most_size}",
    ),
    needs_more_blocks=counted(
        "ein Dialog in Slack hat {count} Block, und es braucht mehr",
        "ein Dialog in Slack hat {count} Blöcke, und es braucht mehr",
    ),
    needs_more_bytes=counted(
        "ein Dialog in Slack hat {count} Byte, und es braucht mehr",
        "ein Dialog in Slack hat {count} Bytes, und es braucht mehr",
    ),
    handle_too_long="das Kennzeichen der Karte ist zu lang für einen Dialog",
    calls=CALLS,
    cards=CARDS,
)
