"""The words for what Always stores. Another language is another table."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.globs.words import ENGLISH as GLOB_ENGLISH
from sayso.globs.words import GlobWords
from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class AlwaysWords:
    """Labels of the choices, what each would store, and warnings; ``{}`` are its facts in order."""

    always: str
    always_by: str
    always_these: str
    always_deny: str
    whole_tool: str
    all_sessions: str

    in_session: str
    in_agent: str
    stored: str
    stored_never: str

    exactly: str
    exactly_as_shown: str
    exactly_no_arguments: str
    value: str
    rule: str
    any_arguments: str
    parameter: str
    program: str
    any_others: str
    no_others: str
    others_as_shown: str
    both: str

    for_time: str
    stored_for: str
    until: str
    days: Counted
    hours: Counted
    minutes: Counted
    seconds: Counted

    warns_of_whole_tool: str
    warns_of_files: str
    globs: GlobWords = GLOB_ENGLISH


ENGLISH = AlwaysWords(
    always="Always",
    always_by="Always: by {}",
    always_these="Always: these arguments",
    always_deny="Always deny",
    whole_tool="Whole tool",
    all_sessions="Always, in all sessions",
    in_session="in session {}",
    in_agent="in all sessions of agent {}",
    stored="{} {}",
    stored_never="never {} {}",
    exactly="{} with exactly these arguments: {} (digest {})",
    exactly_as_shown=(
        "{} with exactly these arguments: all of them as this card shows them (digest {})"
    ),
    exactly_no_arguments="none at all",
    value="{} is {}",
    rule="{} with {}",
    any_arguments="any arguments",
    parameter="{} matching {}",
    program="{} (only {}, alone or with plain words)",
    any_others="any other arguments",
    no_others="no other arguments",
    others_as_shown="the others as this card shows them (digest {})",
    both=" and ",
    for_time="{} for {}",
    stored_for="{}, for {}",
    until="{}, until {}",
    days=Counted("{count} day", "{count} days"),
    hours=Counted("{count} hour", "{count} hours"),
    minutes=Counted("{count} minute", "{count} minutes"),
    seconds=Counted("{count} second", "{count} seconds"),
    warns_of_whole_tool="It allows every call of this tool in this session, with any arguments",
    warns_of_files="{} can show every file that the agent's tool may read",
)
