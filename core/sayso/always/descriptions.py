"""What a rule is about, in words that are exact and never cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sayso.always.dangers import (
    Begins,
    Looks,
    RuleDanger,
    Sends,
    ShowsFiles,
    WholeTool,
)
from sayso.always.programs import program_of
from sayso.always.words import AlwaysWords
from sayso.calls import RunRef, ToolCall
from sayso.digests import short_digest
from sayso.rules.matchers import HostMatcher, Matcher, ShellMatcher, said_as_line
from sayso.rules.rule import Rule, Scope
from sayso.rules.words import danger_in_words
from sayso.text.blanks import folded_json, unmarked
from sayso.text.secrets import redacted
from sayso.text.visible import shortened, visible

_SIMPLE = re.compile(r"[A-Za-z0-9_.:/@+-]+")


def meanings(rule: Rule, call: ToolCall, words: AlwaysWords) -> Iterator[str]:
    """Words for a rule on the card of a call that it is about, the most telling ones first.

    All of them are exact. The shorter ones point at the arguments, which the
    card shows completely, instead of repeating them.
    """
    tool = _names(rule.tools, words)
    if rule.arguments_digest is not None:
        digest = short_digest(rule.arguments_digest)
        held = {name: call.arguments[name] for name in call.arguments if name not in rule.talk}
        told = [words.exactly_as_shown.format(tool, digest)]
        if rule.params or not held:  # without them they are longer than a screen
            told.insert(0, words.exactly.format(tool, _values(held, words), digest))
        names = _names(rule.talk, words)
        yield from (words.and_any_of.format(one, names) if names else one for one in told)
        return
    patterns = [_parameter(name, text, words) for name, text in sorted(rule.params.items())]
    matchers = [_fit(name, fit, words) for name, fit in sorted(rule.matchers.items())]
    talk = [words.any_of.format(_names(rule.talk, words))] if rule.talk else []
    about = words.both.join((*patterns, *matchers, *talk, *_others(rule, call, words)))
    yield words.rule.format(tool, about or words.any_arguments)


def where(scope: Scope, run: RunRef, words: AlwaysWords) -> str:
    """How far what is stored reaches."""
    if scope == "agent":
        return words.in_agent.format(name_in_words(run.agent_id))
    if scope == "project":
        return _in_project(run, words)
    if not run.is_named:
        return words.in_run
    return words.in_session.format(name_in_words(run.session_id))


def _in_project(run: RunRef, words: AlwaysWords) -> str:
    agent, project = name_in_words(run.agent_id), run.project
    if isinstance(project, str):
        return words.in_project_named.format(agent, name_in_words(project))
    place = (name_in_words(project.folder), name_in_words(project.host))
    if not project.origin:
        return words.in_folder.format(agent, *place)
    return words.in_repository.format(agent, *place, name_in_words(project.origin))


def button_label(rule: Rule, words: AlwaysWords, limit: int) -> str:
    """A few words on a button; what is stored is said in full before it is."""
    patterns = [*rule.params.values()]
    if rule.matchers and not patterns:
        said = _fit_label(next(iter(rule.matchers.values())), words)
    elif len(patterns) == 1:
        said = f"{words.always}: {program_of(patterns[0]) or visible(patterns[0], one_line=True)}"
    elif patterns:
        said = words.always_by.format(words.both.join(map(name_in_words, sorted(rule.params))))
    elif rule.talk and rule.arguments_digest is None:
        said = words.always_any.format(_names(rule.talk, words))
    else:
        said = words.always_these
    return shortened(said, limit)


def warning(dangers: Iterable[RuleDanger], words: AlwaysWords) -> str:
    """What a person is warned of before the rule is stored; empty without dangers."""
    sentences = dict.fromkeys(_warning(danger, words) for danger in dangers)
    return visible(". ".join(sentences), one_line=True)


def name_in_words(name: str) -> str:
    """A name that cannot pass for other words of the sentence that it stands in."""
    return name if _SIMPLE.fullmatch(name) else _json(name)


def _warning(danger: RuleDanger, words: AlwaysWords) -> str:
    match danger:
        case WholeTool():
            return words.warns_of_whole_tool
        case ShowsFiles(program):
            return words.warns_of_files.format(program)
        case Looks():
            return words.warns_of_looking
        case Begins(beginnings):
            return words.warns_of_beginnings.format(_beginnings(beginnings, words.both))
        case Sends():
            return words.warns_of_queries
    return danger_in_words(danger.danger, words.globs)


def _values(arguments: Mapping[str, Any], words: AlwaysWords) -> str:
    """The arguments as they are, a string never like a number; secrets only by their length."""
    values = sorted(redacted(dict(arguments)).items())
    shown = (words.value.format(name_in_words(name), _json(value)) for name, value in values)
    return words.both.join(shown) or words.exactly_no_arguments


def _parameter(name: str, pattern: str, words: AlwaysWords) -> str:
    said = words.parameter.format(name_in_words(name), _json(pattern))
    program = program_of(pattern)
    return said if program is None else words.program.format(said, program)


def _fit(name: str, fit: Matcher, words: AlwaysWords) -> str:
    """What an argument may be, said without a word of an agent's own beside the value itself."""
    named = name_in_words(name)
    match fit:
        case ShellMatcher(same=(_, *_)):
            return words.same.format(named, _json(said_as_line(fit.same)))
        case ShellMatcher(begins=()):
            return words.looks.format(named)
        case ShellMatcher():
            return words.begins.format(named, _beginnings(fit.begins, words.either))
        case HostMatcher():
            return words.page.format(named, fit.host)
    place = _json(fit.place)
    if fit.file:
        return words.is_file.format(named, place)
    return words.below.format(named, place, words.never_meant)


def _fit_label(fit: Matcher, words: AlwaysWords) -> str:
    match fit:
        case ShellMatcher(same=(_, *_)):
            return words.always_same
        case ShellMatcher(begins=()):
            return words.always_looks
        case ShellMatcher():
            return words.always_begins.format(" ".join(fit.begins[0]))
        case HostMatcher():
            return f"{words.always}: {fit.host}"
    if fit.file:
        return f"{words.always}: {visible(fit.file, one_line=True)}"
    folder = visible(fit.folder, one_line=True)
    return words.always_below.format(folder) if folder else words.always_project


def _beginnings(beginnings: Iterable[tuple[str, ...]], joined: str) -> str:
    return joined.join(_json(" ".join(words)) for words in beginnings)


def _names(names: Iterable[str], words: AlwaysWords) -> str:
    *most, last = [*map(name_in_words, sorted(names))] or [""]
    return words.both.join(filter(None, (", ".join(most), last)))


def _others(rule: Rule, call: ToolCall, words: AlwaysWords) -> Iterator[str]:
    if rule.others_digest is None:
        if rule.params or rule.matchers:
            yield words.any_others
    elif set(call.arguments) <= {*rule.params, *rule.matchers, *rule.talk}:
        yield words.no_others
    else:
        yield words.others_as_shown.format(short_digest(rule.others_digest))


def _json(value: object) -> str:
    return folded_json(visible(unmarked(json.dumps(value, ensure_ascii=False)), one_line=True))
