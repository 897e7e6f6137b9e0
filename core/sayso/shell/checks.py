"""Rows of the tables of programs: options, and checks by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from sayso.shell.options import Given

# Either side of a substitution. What stands in brackets may hold no slash: not every sed takes
# it for the end. Nor may it hold a bracket but for the name of a class: what begins with `[.`
# goes on after the next that closes.
_CLASS = r"\[:[a-z]+:\]"
_SIDE = rf"(?:[^/\\\n\[]|\\[^\n]|\[\^?(?:{_CLASS}|[^\[\]^/\\\n])(?:{_CLASS}|[^\[\]/\\\n])*+\])*+"
_ADDRESS = rf"(?:[0-9]+|\$|/{_SIDE}/)"
_RANGE = rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|\+[0-9]+))?+)?+"
# Of the flags, `e` runs what was found and `w` writes it.
_SED = rf"{_RANGE}(?:[pdq=]|s/{_SIDE}/{_SIDE}/[gpiI0-9]*+)"
_SED_SCRIPT = re.compile(rf"{_SED}(?:; ?{_SED})*+")

_FIELDS = r"(?:\$(?:[0-9]+|NF)|NR|NF)"
_LINES = r"NR *(?:==|[<>]=?) *[0-9]+"
_AWK_SCRIPT = re.compile(
    rf"(?:{_LINES}(?: *&& *{_LINES})?+)? *(?:\{{ *print(?: +{_FIELDS}(?: *, *{_FIELDS})*+)? *\}})?"
)

# Of the letters that stand without a dash `e` shows the variables of processes, and so does -E.
# With a dash it is all that runs, unless another option is wrong: `ps -auxe` is read as `ps auxe`
# where nobody is called x, and `ps -ex` as `ps ex`.
_PS_LETTERS = re.compile(r"[aAfjlmrTuvwxX]+o?")
_PS_AS_LETTERS = re.compile(r"x[A-Za-z]*[eE][A-Za-z]*")
_PS_WITH_ALL = frozenset(
    re.findall(
        r"\S+", "-e -A -f -F -L -l -j -H -w -o --format --sort --forest --headers --no-headers"
    )
)
_PS_COLUMNS = re.compile(r"(?!.*environ)[a-zA-Z0-9%_,=:]+", re.DOTALL | re.IGNORECASE)

# `env` and `$ENV` are the variables of the process; what repeats may never end, nor what is large.
_JQ_REFUSED = re.compile(
    r"(?<![.\w$])(?:repeat|range|until|while|recurse|combinations|def|import|include)\b"
    r"|(?<![.\w$])env\b(?!\s*:)|(?<![.\w])ENV\b"
    r"|\"\s*\*\s*[$(0-9]|\*\s*(?:\(|[0-9]{5})|[0-9]{6}\s*\]|[0-9]\.?[eE]\+?[0-9]"
)
_SHORT_TIME = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?s?")
_SMALL_NUMBER = re.compile(r"-?[0-9]{1,6}")
_TOKENS = re.compile(
    r"token|secret|pass|oauth|\.pat$|header|credential|key|insteadof|proxy", re.IGNORECASE
)
_HASH = re.compile(r"[0-9a-f]{4,}", re.IGNORECASE)
_NAMED_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_OF_OWN_HOST = re.compile(r"[\w.#-]+(?:/[\w.-]+)?", re.ASCII)
_REPORT = re.compile(r"term(?:-missing)?(?::skip-covered)?")
_PLAIN_CHOICE = re.compile(r"[\w(][\w() -]*")
_ONE_KIND = re.compile(r"wide|yaml|json|name")


def _sed_prints(given: Given) -> bool:
    """Return True if each script of sed only prints, deletes from its output, or substitutes."""
    scripts = given.values("-e", "--expression") or list(given.operands[:1])
    return bool(scripts) and all(_SED_SCRIPT.fullmatch(script) for script in scripts)


def _awk_prints(given: Given) -> bool:
    """Return True if the script of awk only prints fields of lines."""
    script, *files = given.operands or ("",)
    # A file of the form name=value is none: it sets a variable. gawk connects to /inet.
    plain = not any("=" in name or "/inet" in name for name in files)
    return plain and bool(script) and bool(_AWK_SCRIPT.fullmatch(script))


def _shows_date(given: Given) -> bool:
    return all(one.startswith("+") for one in given.operands)  # any other sets the clock


def _compares_words(given: Given) -> bool:
    return all(one not in ("(", ")") for one in given.operands)


def _shows_no_variables(given: Given) -> bool:
    first, *others = given.operands or ("",)
    named = first.endswith("o") and len(others) == 1
    columns = [*given.values("-o", "--format"), *(others if named else ())]
    numbers = [*(() if _PS_LETTERS.fullmatch(first) else (first,)), *(() if named else others)]
    plain = not first or all(one.replace(",", "").isdigit() for one in numbers)
    shows = any(map(_PS_AS_LETTERS.fullmatch, given.values("-u")))
    names = {name for name, _ in given.options}
    shows = shows or ("-e" in names and not names <= _PS_WITH_ALL)
    return plain and not shows and all(map(_PS_COLUMNS.fullmatch, columns))


def _reads_only_input(given: Given) -> bool:
    return not any(map(_JQ_REFUSED.search, given.operands))


def _ends_soon(given: Given) -> bool:
    return bool(given.operands) and all(map(_SHORT_TIME.fullmatch, given.operands))


def _counts_few(given: Given) -> bool:
    """Return True if the numbers are not too many, and the step between them is whole."""
    numbers = [*given.operands, *(name for name, value in given.options if name[1:].isdigit())]
    steps = numbers[1:] if len(numbers) > 2 else []
    return all(map(_SMALL_NUMBER.fullmatch, numbers)) and all(int(one) for one in steps)


def _lists_refs(given: Given) -> bool:
    """An operand is the name of a branch or tag to make, unless it is said to be a pattern."""
    listing = {"--list", "-l"}
    return not given.operands or any(name in listing for name, _ in given.options)


def _reads_one_setting(given: Given) -> bool:
    """Return True if it reads one setting, which is no token; any of several may be one."""
    reading = any(name in ("--get", "--get-all") for name, _ in given.options)
    return reading and not any(map(_TOKENS.search, given.operands))


def _names_shown_file(given: Given) -> bool:
    """Return True if it names the file that it shows; a bare hash may be that of any."""
    numbers = any(name in ("-t", "-s", "-e") for name, _ in given.options)
    return numbers or not any(map(_HASH.fullmatch, given.operands))


def _stays_on_own_host(given: Given) -> bool:
    """Return True if all that is named is on the host that gh is signed in to."""
    repositories = given.values("-R", "--repo")
    named = all(map(_NAMED_REPOSITORY.fullmatch, repositories))
    return named and all(map(_OF_OWN_HOST.fullmatch, given.operands))


def _runs_plain_tests(given: Given) -> bool:
    """Return True if no report is a file, which may be anywhere, and tests are chosen by words.

    Versions of pytest before 5.4 run ``-k`` and ``-m`` as Python, where names are harmless.
    """
    return all(map(_REPORT.fullmatch, given.values("--cov-report"))) and all(
        map(_PLAIN_CHOICE.fullmatch, given.values("-k", "-m"))
    )


def _stays_in_module(given: Given) -> bool:
    return all(one.startswith(".") for one in given.operands)


def _shows_one_kind(given: Given) -> bool:
    """Return True if one kind of things is shown, as words."""
    return bool(given.operands) and all(map(_ONE_KIND.fullmatch, given.values("-o", "--output")))


def _names_one_branch(given: Given) -> bool:
    """Return True if a branch begins at the current commit: a second name is another place."""
    return len(given.operands) <= 1


_CHECKS: Mapping[str, Callable[[Given], bool]] = {
    check.__name__.lstrip("_"): check
    for check in (
        _awk_prints,
        _compares_words,
        _counts_few,
        _ends_soon,
        _lists_refs,
        _names_one_branch,
        _names_shown_file,
        _reads_one_setting,
        _reads_only_input,
        _runs_plain_tests,
        _sed_prints,
        _shows_date,
        _shows_no_variables,
        _shows_one_kind,
        _stays_in_module,
        _stays_on_own_host,
    )
}


def _require_check(name: str) -> str:
    if name and name not in _CHECKS:
        raise ValueError(f"check = {name!r} is none of {', '.join(_CHECKS)}")
    return name


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class ProgramRow:
    """Options of a program, those of ``shared`` lists among them, and a check of its arguments.

    See ``Options`` for the form of ``options`` and for ``one_dash``.
    """

    options: str = ""
    shared: tuple[str, ...] = ()
    check: Annotated[str, AfterValidator(_require_check)] = ""
    one_dash: bool = False

    def passes(self, given: Given) -> bool:
        """Return True if the row has no check, or the arguments pass it."""
        return not self.check or _CHECKS[self.check](given)


_Row = TypeVar("_Row", bound=ProgramRow)


def rows_by_words(
    rows: Mapping[str, _Row], shared: Mapping[str, str]
) -> Mapping[tuple[str, ...], _Row]:
    """Return the rows by the words of their commands, each with all of its options.

    Raises:
        ValueError: a row names a list of options that is not there.
    """
    if unknown := {name for row in rows.values() for name in row.shared} - shared.keys():
        raise ValueError(f"shared = {sorted(unknown)}: no such lists")
    return {
        tuple(words.split()): replace(
            row, options=" ".join((row.options, *(shared[name] for name in row.shared)))
        )
        for words, row in rows.items()
    }
