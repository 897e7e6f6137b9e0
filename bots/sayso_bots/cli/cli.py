"""The command line: ``sayso``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, NoReturn

Env = Mapping[str, str]
Command = Callable[[argparse.Namespace, Env], int]


def main(argv: Sequence[str] | None = None, env: Env = os.environ) -> int:
    """Run one command.

    0: done; 1: an error that can be explained, or *denied*; 2: wrong usage or
    settings; 3: ``ask`` got no answer; 4: the store cannot be reached; 130:
    stopped by Ctrl-C.
    """
    try:
        args = _parser().parse_args(argv)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 2
    return _explained(args.run, args, env)


def _explained(command: Command, args: argparse.Namespace, env: Env) -> int:
    # Imported late: --help and --version should not load a validation library.
    from sayso.errors import ConfigError, InvalidCallError, SaysoError, StoreUnreachableError

    try:
        return _flushed(command(args, env))
    except (ConfigError, InvalidCallError) as error:
        return _fail(error, 2)
    except StoreUnreachableError as error:
        return _fail(error, 4)
    except SaysoError as error:
        return _fail(error, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Who reads our output has gone, as `| head` does; nothing is left to say.
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        return _fail(error, 1)


def _drop_output() -> None:
    # Python would try to write it once more at its end, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flushed(code: int) -> int:
    if sys.stdout is not None:  # closed by whoever started us: only the exit code is wanted
        sys.stdout.flush()
    return code


def _fail(error: Exception, code: int) -> int:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"sayso: {line}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"sayso: {message}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sayso",
        description="An AI agent asks, a person answers in Slack or Telegram, the agent goes on.",
    )
    parser.add_argument("--version", action="version", version=f"sayso {version('sayso')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    _add_demo(commands)
    _add_serve(commands)
    _add_check(commands)
    _add_ask(commands)
    _add_requests(commands)
    _add_memory(commands)
    _add_webhook(commands)
    _add_api(commands)
    return parser


if TYPE_CHECKING:
    # argparse gives the type no public name.
    _Commands = argparse._SubParsersAction[_Parser]  # noqa: SLF001


def _add(
    commands: _Commands, name: str, run: Command, text: str, more: str = ""
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}. {more}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_config(parser: argparse.ArgumentParser, *, store: bool = False) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="settings (default: $SAYSO_CONFIG, else ./sayso.toml)"
    )
    if store:
        parser.add_argument(
            "--store", metavar="URL", help="the store (default: $SAYSO_STORE_URL, else settings)"
        )


def _add_demo(commands: _Commands) -> None:
    parser = _add(
        commands,
        "demo",
        _demo,
        "try everything on this machine, without accounts",
        "An agent asks, and you press the buttons on a page that plays Slack and Telegram.",
    )
    parser.add_argument("--port", type=_port, default=0, help="of the page (default: a free one)")
    parser.add_argument(
        "--headless", action="store_true", help="play it without a person, and check the outcomes"
    )


def _add_serve(commands: _Commands) -> None:
    parser = _add(commands, "serve", _serve, "run the bots")
    _add_config(parser)


def _add_check(commands: _Commands) -> None:
    parser = _add(
        commands,
        "check",
        _check,
        "check settings, store, tokens, webhook, places and approvers",
        "Prints a line for each; exit code 1 if one fails.",
    )
    _add_config(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def _add_ask(commands: _Commands) -> None:
    parser = _add(commands, "ask", _ask, "ask whether a tool may be used, and wait", _ASK_HELP)
    parser.add_argument("tool", metavar="TOOL", help="the tool's name")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the call; NAME:=JSON for a value that is no text",
    )
    parser.add_argument(
        "--arguments", metavar="JSON", help="all arguments as one JSON object; - reads them"
    )
    parser.add_argument("--description", default="", metavar="TEXT", help="why, in your words")
    parser.add_argument("--agent", metavar="NAME", help="who asks (default: $SAYSO_AGENT or cli)")
    parser.add_argument(
        "--session",
        metavar="NAME",
        help="what Always is remembered for (default: $SAYSO_SESSION or user@host)",
    )
    parser.add_argument("--branch", default="main", metavar="NAME", help="a branch of the session")
    parser.add_argument("--source", metavar="NAME", help="the component that asks")
    parser.add_argument(
        "--timeout", metavar="10m", help="how long to wait (default: the route's timeout, or 10m)"
    )
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON object")
    _add_config(parser, store=True)


_ASK_HELP = """

Exit codes: 0 approved, 1 denied, 3 expired, cancelled or undeliverable,
2 wrong usage or settings, 4 the store cannot be reached, 130 Ctrl-C,
which withdraws the question.

Values of --arg are text; NAME:=JSON gives other values:
  sayso ask deploy --arg service=api --arg replicas:=3 --timeout 5m
"""


def _add_requests(commands: _Commands) -> None:
    pending = _add(commands, "pending", _pending, "list the requests that wait for an answer")
    show = _add(commands, "show", _show, "show one request, its cards and how it ended")
    cancel = _add(commands, "cancel", _cancel, "withdraw a request and its cards")
    for parser in (show, cancel):
        parser.add_argument("id", metavar="ID", help="the request's id; `sayso pending` lists it")
    cancel.add_argument("--reason", default="", metavar="TEXT", help="why; stands on the cards")
    for parser in (pending, show, cancel):
        parser.add_argument("--json", action="store_true", help="JSON instead of text")
        _add_config(parser, store=True)


def _add_memory(commands: _Commands) -> None:
    rules = _add(
        commands, "rules", _rules, "list what Always has stored, and how often it was used"
    )
    revoke = _add(commands, "revoke", _revoke, "take a stored rule back, at once")
    revoke.add_argument("rule", metavar="RULE", help="the rule's id; `sayso rules` lists it")
    audit = _add(
        commands,
        "audit",
        _audit,
        "list what was asked, decided, stored, used and revoked",
        "Arguments are never in it, only their digests.",
    )
    audit.add_argument(
        "--last", type=_count, default=50, metavar="N", help="how many entries (default: 50)"
    )
    for parser in (rules, revoke, audit):
        parser.add_argument("--json", action="store_true", help="JSON instead of text")
        _add_config(parser, store=True)


def _add_webhook(commands: _Commands) -> None:
    webhook = commands.add_parser("webhook", help="set, show or delete Telegram's webhook")
    actions = webhook.add_subparsers(metavar="ACTION", required=True, parser_class=_Parser)
    register = _add(
        actions, "set", _webhook_set, "register the webhook, its secret and the wanted updates"
    )
    register.add_argument(
        "url", metavar="URL", help="such as https://sayso.example.com/telegram/webhook"
    )
    show = _add(actions, "show", _webhook_show, "show what is registered")
    delete = _add(actions, "delete", _webhook_delete, "delete the webhook; waiting updates stay")
    for parser in (register, show, delete):
        parser.add_argument("--json", action="store_true", help="JSON instead of text")
        _add_config(parser)


def _add_api(commands: _Commands) -> None:
    api = commands.add_parser("api", help="make a token for the hosted API")
    actions = api.add_subparsers(metavar="ACTION", required=True, parser_class=_Parser)
    token = _add(
        actions,
        "token",
        _api_token,
        "make a bearer token and the settings for it",
        "The token is printed once and stored nowhere; the settings hold its hash.",
    )
    token.add_argument("name", metavar="NAME", help="of who will use it; its actor is api:NAME")
    token.add_argument(
        "--agent",
        action="append",
        metavar="PATTERN",
        help="an agent it speaks for, such as deploy-* (default: all of them)",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100000")
    return int(text)


# Each command loads only what it needs: `sayso ask` should start quickly.


def _demo(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.demo import run_demo

    return run_demo(args, env)


def _serve(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.serve import serve_command

    return serve_command(args, env)


def _check(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.check import check_command

    return check_command(args, env)


def _ask(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.ask import ask_command

    return ask_command(args, env)


def _pending(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.requests import pending_command

    return pending_command(args, env)


def _show(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.requests import show_command

    return show_command(args, env)


def _cancel(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.requests import cancel_command

    return cancel_command(args, env)


def _rules(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.memory import rules_command

    return rules_command(args, env)


def _revoke(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.memory import revoke_command

    return revoke_command(args, env)


def _audit(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.memory import audit_command

    return audit_command(args, env)


def _api_token(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.api import token_command

    return token_command(args, env)


def _webhook_set(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.webhook import set_command

    return set_command(args, env)


def _webhook_show(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.webhook import show_command

    return show_command(args, env)


def _webhook_delete(args: argparse.Namespace, env: Env) -> int:
    from sayso_bots.cli.webhook import delete_command

    return delete_command(args, env)
