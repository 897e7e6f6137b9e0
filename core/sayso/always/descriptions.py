"""What a rule is about, in words that are exact and never cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from gettext import NullTranslations
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
from sayso.calls import RunRef, ToolCall
from sayso.digests import short_digest
from sayso.rules.glob_warnings import explain_danger
from sayso.rules.matchers import HostMatcher, Matcher, ShellMatcher, said_as_line
from sayso.rules.rule import Rule, Scope
from sayso.text.secrets import redacted
from sayso.text.visible import folded_json, shortened, unmarked, visible

_SIMPLE = re.compile(r"[A-Za-z0-9_.:/@+-]+")


def meanings(rule: Rule, call: ToolCall, translations: NullTranslations) -> Iterator[str]:
    """Words for a rule on the card of a call that it is about, the most telling ones first.

    All of them are exact. The shorter ones point at the arguments, which the
    card shows completely, instead of repeating them.
    """
    tool = _names(rule.tools, translations)
    if rule.arguments_digest is not None:
        digest = short_digest(rule.arguments_digest)
        held = {name: call.arguments[name] for name in call.arguments if name not in rule.talk}
        text = translations.gettext(
            "{} with exactly these arguments: all of them as this card shows them (digest {})"
        )
        told = [text.format(tool, digest)]
        if rule.params or not held:  # without them they are longer than a screen
            text = translations.gettext("{} with exactly these arguments: {} (digest {})")
            told.insert(0, text.format(tool, _values(held, translations), digest))
        names = _names(rule.talk, translations)
        yield from (
            translations.gettext("{}, and any {}").format(one, names) if names else one
            for one in told
        )
        return
    patterns = [_parameter(name, text, translations) for name, text in sorted(rule.params.items())]
    matchers = [_fit(name, fit, translations) for name, fit in sorted(rule.matchers.items())]
    names = _names(rule.talk, translations)
    talk = [translations.gettext("any {}").format(names)] if names else []
    parts = (*patterns, *matchers, *talk, *_others(rule, call, translations))
    about = translations.gettext(" and ").join(parts) or translations.gettext("any arguments")
    yield translations.gettext("{} with {}").format(tool, about)


def where(scope: Scope, run: RunRef, translations: NullTranslations) -> str:
    """How far what is stored reaches."""
    if scope == "agent":
        return translations.gettext("in all sessions of agent {}").format(
            name_in_words(run.agent_id)
        )
    if scope == "project":
        return _in_project(run, translations)
    if not run.is_named:
        return translations.gettext("in this run")
    return translations.gettext("in session {}").format(name_in_words(run.session_id))


def _in_project(run: RunRef, translations: NullTranslations) -> str:
    agent, project = name_in_words(run.agent_id), run.project
    if isinstance(project, str):
        return translations.gettext(
            "in all sessions of agent {} that name their project {}"
        ).format(agent, name_in_words(project))
    place = (name_in_words(project.folder), name_in_words(project.host))
    if not project.origin:
        return translations.gettext("in all sessions of agent {} in folder {} on host {}").format(
            agent, *place
        )
    return translations.gettext(
        "in all sessions of agent {} in folder {} on host {}, repository {}"
    ).format(agent, *place, name_in_words(project.origin))


def button_label(rule: Rule, translations: NullTranslations, limit: int) -> str:
    """A few words on a button; what is stored is said in full before it is."""
    patterns = [*rule.params.values()]
    if rule.matchers and not patterns:
        said = _fit_label(next(iter(rule.matchers.values())), translations)
    elif len(patterns) == 1:
        always = translations.gettext("Always")
        said = f"{always}: {program_of(patterns[0]) or visible(patterns[0], one_line=True)}"
    elif patterns:
        said = translations.gettext("Always: by {}").format(
            translations.gettext(" and ").join(map(name_in_words, sorted(rule.params)))
        )
    elif rule.talk and rule.arguments_digest is None:
        said = translations.gettext("Always: any {}").format(_names(rule.talk, translations))
    else:
        said = translations.gettext("Always: these arguments")
    return shortened(said, limit)


def warning(dangers: Iterable[RuleDanger], translations: NullTranslations) -> str:
    """What a person is warned of before the rule is stored; empty without dangers."""
    sentences = dict.fromkeys(_warning(danger, translations) for danger in dangers)
    return visible(". ".join(sentences), one_line=True)


def name_in_words(name: str) -> str:
    """A name that cannot pass for other words of the sentence that it stands in."""
    return name if _SIMPLE.fullmatch(name) else _json(name)


def _warning(danger: RuleDanger, translations: NullTranslations) -> str:
    match danger:
        case WholeTool():
            return translations.gettext(
                "It allows every call of this tool in this session, with any arguments"
            )
        case ShowsFiles(program):
            return translations.gettext(
                "{} can show every file that the agent's tool may read"
            ).format(program)
        case Looks():
            return translations.gettext(
                "Such a line can show every file that the agent's tool may read, but for those "
                "known to hold secrets"
            )
        case Begins(beginnings):
            return translations.gettext(
                "It allows {} with other options, names, files and folders, too, and joined to "
                "what other rules allow"
            ).format(_beginnings(beginnings, translations.gettext(" and ")))
        case Sends():
            return translations.gettext(
                "Every query goes to a search engine, with whatever the agent writes into it"
            )
    return explain_danger(danger.danger, translations)


def _values(arguments: Mapping[str, Any], translations: NullTranslations) -> str:
    """The arguments as they are, a string never like a number; secrets only by their length."""
    values = sorted(redacted(dict(arguments)).items())
    shown = (
        translations.gettext("{} is {}").format(name_in_words(name), _json(value))
        for name, value in values
    )
    return translations.gettext(" and ").join(shown) or translations.gettext("none at all")


def _parameter(name: str, pattern: str, translations: NullTranslations) -> str:
    said = translations.gettext("{} matching {}").format(name_in_words(name), _json(pattern))
    program = program_of(pattern)
    return (
        said
        if program is None
        else translations.gettext("{} (only {}, alone or with plain words)").format(said, program)
    )


def _fit(name: str, fit: Matcher, translations: NullTranslations) -> str:
    """What an argument may be, said without a word of an agent's own beside the value itself."""
    named = name_in_words(name)
    match fit:
        case ShellMatcher(same=(_, *_)):
            return translations.gettext(
                "{} running exactly {}, its output joined, dropped or piped to what only looks"
            ).format(named, _json(said_as_line(fit.same)))
        case ShellMatcher(begins=()):
            return translations.gettext("{} being a line whose every part only looks").format(named)
        case ShellMatcher():
            return translations.gettext(
                "{} being a line whose every part begins with {} or only looks"
            ).format(named, _beginnings(fit.begins, translations.gettext(" or ")))
        case HostMatcher():
            return translations.gettext("{} being a page of https://{}").format(named, fit.host)
    place = _json(fit.place)
    if fit.file:
        return translations.gettext("{} being the file {} itself, not through a link").format(
            named, place
        )
    return translations.gettext("{} being a file anywhere below {} ({})").format(
        named,
        place,
        translations.gettext(
            "even code that tests run, but nothing hidden, installed, known as secret or behind "
            "links, and no file known to control runs or agents"
        ),
    )


def _fit_label(fit: Matcher, translations: NullTranslations) -> str:
    match fit:
        case ShellMatcher(same=(_, *_)):
            return translations.gettext("Always: this, however shown")
        case ShellMatcher(begins=()):
            return translations.gettext("Always: lines that only look")
        case ShellMatcher():
            return translations.gettext("Always: {} …").format(" ".join(fit.begins[0]))
        case HostMatcher():
            always = translations.gettext("Always")
            return f"{always}: {fit.host}"
    if fit.file:
        always = translations.gettext("Always")
        return f"{always}: {visible(fit.file, one_line=True)}"
    folder = visible(fit.folder, one_line=True)
    return (
        translations.gettext("Always: below {}/").format(folder)
        if folder
        else translations.gettext("Always: in this project")
    )


def _beginnings(beginnings: Iterable[tuple[str, ...]], joined: str) -> str:
    return joined.join(_json(" ".join(words)) for words in beginnings)


def _names(names: Iterable[str], translations: NullTranslations) -> str:
    *most, last = [*map(name_in_words, sorted(names))] or [""]
    return translations.gettext(" and ").join(filter(None, (", ".join(most), last)))


def _others(rule: Rule, call: ToolCall, translations: NullTranslations) -> Iterator[str]:
    if rule.others_digest is None:
        if rule.params or rule.matchers:
            yield translations.gettext("any other arguments")
    elif set(call.arguments) <= {*rule.params, *rule.matchers, *rule.talk}:
        yield translations.gettext("no other arguments")
    else:
        yield translations.gettext("the others as this card shows them (digest {})").format(
            short_digest(rule.others_digest)
        )


def _json(value: object) -> str:
    return folded_json(visible(unmarked(json.dumps(value, ensure_ascii=False)), one_line=True))
