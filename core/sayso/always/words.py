"""The words for what Always stores. Another language is another table."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.rules.words import GLOB_ENGLISH, GlobWords
from sayso.text.counted import Counted


@dataclass(frozen=True, slots=True)
class AlwaysWords:
    """Labels of the choices, what each would store, and warnings; ``{}`` are its facts in order."""

    always: str
    always_by: str
    always_looks: str
    always_same: str
    always_begins: str
    always_below: str
    always_project: str
    always_any: str
    always_these: str
    always_deny: str
    whole_tool: str
    all_sessions: str

    in_session: str
    in_run: str
    in_agent: str
    in_project_named: str
    in_folder: str
    in_repository: str
    this_session: str
    this_run: str
    this_project: str
    or_longer: str
    either_span: str
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
    looks: str
    same: str
    begins: str
    either: str
    below: str
    is_file: str
    never_meant: str
    page: str
    any_others: str
    no_others: str
    others_as_shown: str
    any_of: str
    and_any_of: str
    both: str

    for_time: str
    stored_for: str
    days: Counted
    hours: Counted
    minutes: Counted
    seconds: Counted

    warns_of_whole_tool: str
    warns_of_files: str
    warns_of_looking: str
    warns_of_beginnings: str
    warns_of_queries: str
    globs: GlobWords = GLOB_ENGLISH


ENGLISH = AlwaysWords(
    always="Always",
    always_by="Always: by {}",
    always_looks="Always: lines that only look",
    always_same="Always: this, however shown",
    always_begins="Always: {} …",
    always_below="Always: below {}/",
    always_project="Always: in this project",
    always_any="Always: any {}",
    always_these="Always: these arguments",
    always_deny="Always deny",
    whole_tool="Whole tool",
    all_sessions="Always, in all sessions",
    in_session="in session {}",
    in_run="in this run",
    in_agent="in all sessions of agent {}",
    in_project_named="in all sessions of agent {} that name their project {}",
    in_folder="in all sessions of agent {} in folder {} on host {}",
    in_repository="in all sessions of agent {} in folder {} on host {}, repository {}",
    this_session="This session, {}",
    this_run="This run, {}",
    this_project="This project, {}",
    or_longer="; or {}, for {}",
    either_span=" or ",
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
    looks="{} being a line whose every part only looks",
    same="{} running exactly {}, its output joined, dropped or piped to what only looks",
    begins="{} being a line whose every part begins with {} or only looks",
    either=" or ",
    below="{} being a file anywhere below {} ({})",
    is_file="{} being the file {} itself, not through a link",
    never_meant="even code that tests run, but nothing hidden, installed, known as secret or "
    "behind links, and no file known to control runs or agents",
    page="{} being a page of https://{}",
    any_others="any other arguments",
    no_others="no other arguments",
    others_as_shown="the others as this card shows them (digest {})",
    any_of="any {}",
    and_any_of="{}, and any {}",
    both=" and ",
    for_time="{} for {}",
    stored_for="{}, for {}",
    days=Counted("{count} day", "{count} days"),
    hours=Counted("{count} hour", "{count} hours"),
    minutes=Counted("{count} minute", "{count} minutes"),
    seconds=Counted("{count} second", "{count} seconds"),
    warns_of_whole_tool="It allows every call of this tool in this session, with any arguments",
    warns_of_files="{} can show every file that the agent's tool may read",
    warns_of_looking="Such a line can show every file that the agent's tool may read, "
    "but for those known to hold secrets",
    warns_of_beginnings="It allows {} with other options, names, files and folders, too, "
    "and joined to what other rules allow",
    warns_of_queries="Every query goes to a search engine, with whatever the agent writes into it",
)
