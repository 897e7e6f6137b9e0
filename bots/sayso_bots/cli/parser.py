"""The parser of ``sayso``, assembled from the commands; it suggests what may have been meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

Run = Callable[[argparse.Namespace, Mapping[str, str]], int]


class CommandModule(Protocol):
    """The file of a command."""

    def add_arguments(self, parser: Parser) -> None:
        """Say what the command takes, and what runs it."""
        ...


COMMANDS = {
    "demo": "try everything on this machine, without accounts",
    "serve": "run the bots",
    "check": "check settings, store, tokens, webhook, places and approvers",
    "ask": "ask whether a tool may be used, and wait",
    "explain": "say which line of the policy would decide on a call, and why",
    "replay": "say how often people would have been asked about calls that were made",
    "pending": "list the requests that wait for an answer",
    "show": "show one request, its cards and how it ended",
    "cancel": "withdraw a request and its cards",
    "rules": "list what Always has stored, and how often it was used",
    "revoke": "take a stored rule back, at once",
    "audit": "list what was asked, decided, stored, used and revoked",
    "webhook": "set, show or delete a platform's webhook",
    "api": "make a token for the hosted API",
    "hook": "answer the hooks of agents that are commands, or write them into their settings",
    "mcp": "serve tools to an MCP client by which an agent asks; none of them can approve",
    "mcp-proxy": "ask in chat before a tool of an MCP server runs, whatever the client",
    "acp": "stand between an editor and its agent: what it asks is asked in chat as well",
}
"""The commands with a line of help; each is the file of its name in this folder, with _ for -."""


def sayso_parser() -> Parser:
    """The whole parser. A command's file is loaded when the command is used."""
    parser = Parser(
        prog="sayso",
        description="An AI agent asks, a person answers in chat, the agent goes on.",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action=_ShowVersion, help="show the version and exit")
    commands = parser.add_group("COMMAND", _Command)
    for name, text in COMMANDS.items():
        _add(commands, name, text)
    return parser


class _Help(argparse.RawDescriptionHelpFormatter):
    """Leaves room for the longest command, whose indentation argparse forgets."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  no public name
            self._action_max_length += 2


class _ShowHelp(argparse.Action):
    """Prints the help, with the exit code that its command has for that."""

    def __init__(self, option_strings: Sequence[str], dest: str, **how: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **how)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.print_help()
        parser.exit(parser.help_code if isinstance(parser, Parser) else 0)


class _ShowVersion(argparse.Action):
    """Prints the version, which takes longer to find than most commands take to parse."""

    def __init__(self, option_strings: Sequence[str], dest: str, **how: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **how)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"sayso {version('sayso')}")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and what may have been meant instead.

    ``instead`` says what to write instead of an argument too many.
    """

    instead: Callable[[argparse.Namespace, str], str] | None = None

    help_code = 0
    """The exit code after ``--help``."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how, add_help=False, allow_abbrev=False)
        self.add_argument("-h", "--help", action=_ShowHelp, help="show this help")

    def error(self, message: str, *, meant: str = "") -> NoReturn:
        """Print the line, with what may have been meant, and exit with 2."""
        from sayso.text.visible import visible

        see = f"; did you mean {meant}? See" if meant else "; see"
        self.exit(2, f"sayso: {visible(message, one_line=True)}{see} `{self.prog} --help`\n")

    def add_group(self, metavar: str, kind: type[Parser] | None = None) -> Commands:
        """Commands below this one; without any of them its help is printed, which is a mistake.

        Not a success: of ``sayso ask`` that means *approved*, and a script may have lost the words.
        """
        self.set_defaults(run=self._help_is_needed)
        return self.add_subparsers(metavar=metavar, parser_class=kind or Parser)

    def add_action(self, actions: Commands, name: str, run: Run, text: str) -> Parser:
        """One of the commands below this one."""
        parser = _add(actions, name, text)
        parser.set_defaults(run=run)
        return parser

    def parse_known_args(  # type: ignore[override]  # the overloads say the same of one parameter
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; what this parser does not know is an error of its own and not of its parents."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse(known, unknown)
        return known, unknown

    def _refuse(self, known: argparse.Namespace, unknown: Sequence[str]) -> NoReturn:
        option = next((argument for argument in unknown if argument.startswith("-")), None)
        if option is None:
            instead = self.instead(known, unknown[0]) if self.instead else ""
            more = f"; write {instead}" if instead else ""
            self.error(f"{unknown[0]!r:.40} is one argument too many{more}")
        # What stands after the = may be anything, also a secret.
        name = option.partition("=")[0]
        meant = _meant(name, self._option_string_actions)
        self.error(f"there is no option {name!r:.40}", meant=meant)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  no public name
            what = str(action.metavar).lower()
            known += self._option_string_actions
            self.error(f"there is no {what} {value!r:.40}", meant=_meant(value, known))
        raise argparse.ArgumentError(action, f"{value!r:.40} is not one of {', '.join(known)}")

    def _help_is_needed(self, args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG002
        self.print_help(sys.stderr)
        return 2


if TYPE_CHECKING:
    # argparse gives the type no public name.
    Commands = argparse._SubParsersAction[Parser]  # noqa: SLF001


class _Command(Parser):
    """A command that loads its file when it is used: `sayso ask` should start quickly."""

    _is_loaded = False

    def load(self) -> None:
        """Take the arguments from the command's file; once."""
        if self._is_loaded:
            return
        self._is_loaded = True
        name = self.prog.rpartition(" ")[2]
        try:
            module = cast(
                "CommandModule", import_module(f"sayso_bots.cli.{name.replace('-', '_')}")
            )
        except ModuleNotFoundError as error:
            package = (error.name or "a package").partition(".")[0]
            if package in sys.stdlib_module_names or package.startswith("sayso"):
                raise
            how = "install Sayso with its extra `bots`, from where you got it"
            self.exit(2, f"sayso: `{self.prog}` needs {package}: {how}\n")
        module.add_arguments(self)

    def parse_known_args(  # type: ignore[override]  # see above
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Load the command, then parse."""
        self.load()
        return super().parse_known_args(args, namespace)


def _add(commands: Commands, name: str, text: str) -> Parser:
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        formatter_class=_Help,
    )


def _meant(written: str, known: Iterable[str]) -> str:
    # The dashes that all options share make none of them alike.
    names = {name.lstrip("-"): name for name in known}
    import difflib  # only for what is mistyped

    near = difflib.get_close_matches(written.lstrip("-"), names, n=1, cutoff=0.6)
    return names[near[0]] if near else ""
