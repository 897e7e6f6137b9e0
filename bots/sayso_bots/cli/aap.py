"""``sayso aap``: credentials for clients of the Agent Approval Protocol."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from sayso.clock import utc_now
from sayso.errors import ConfigError
from sayso.stores.backend import Backend
from sayso.text.printable import shown
from sayso_bots.aap.credentials import Vault
from sayso_bots.aap.instances import Instance, Instances
from sayso_bots.aap.provider import BASE
from sayso_bots.aap.revoking import revoke
from sayso_bots.cli.arguments import add_json, add_store
from sayso_bots.cli.ids import instance_id
from sayso_bots.cli.parser import Parser
from sayso_bots.cli.records import one_line
from sayso_bots.cli.store import with_store
from sayso_bots.process.terminal import table
from sayso_bots.settings.aap import read_aap_settings
from sayso_bots.settings.credentials import holds_api_token
from sayso_bots.settings.settings import read_address
from sayso_bots.settings.tokens import TOKEN_NAME, new_token, token_hash

if TYPE_CHECKING:
    from sayso_bots.cli.parser import Commands

# No [[aap.provisioner]] has such a name: what is made here is changed and revoked here.
_HERE = ""
_COLUMNS = ("ID", "NAME", "AGENT", "MADE BY", "WEBHOOKS TO", "USES APPROVALS")
_UNREADABLE = (
    "sayso: what is kept of instance {id} cannot be read by this version; "
    "`sayso aap revoke {id}` takes its token back"
)
_LOCAL = ("localhost", "127.0.0.1", "::1")


def add_arguments(parser: Parser) -> None:
    """What is made, listed or revoked."""
    actions = parser.add_group("ACTION")
    _add_instance(actions, parser)
    text = "make a token for programs that make instances, and the settings for it"
    provisioner = parser.add_action(actions, "provisioner", provisioner_command, text)
    provisioner.add_argument("name", metavar="NAME", help="of who will use it")
    add_json(provisioner)
    listed = parser.add_action(actions, "list", list_command, "list the instances")
    add_json(listed)
    add_store(listed)
    text = "take an instance's token back, at once, and withdraw what it has asked"
    revoked = parser.add_action(actions, "revoke", revoke_command, text)
    text = "the instance's id, or its beginning; see `sayso aap list`"
    revoked.add_argument("id", metavar="ID", help=text)
    add_json(revoked)
    add_store(revoked)


def _add_instance(actions: Commands, parser: Parser) -> None:
    text = "make a credential for one agent, and print what to paste into its code"
    made = parser.add_action(actions, "instance", instance_command, text)
    made.description = f"{made.description} It is printed once."
    made.add_argument("name", metavar="NAME", help="what it is called in lists")
    text = "the agent that asks with it, for routes, policies and cards (default: NAME)"
    made.add_argument("--agent", default="", metavar="AGENT", help=text)
    text = f"where its clients reach the bots (default: the settings' host and port, {BASE})"
    made.add_argument("--url", default="", metavar="URL", help=text)
    add_json(made)
    add_store(made)


def instance_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Print the address and the token of a new instance as clients take them."""
    name = _name(args.name)
    agent = args.agent or name
    if not agent.isprintable() or agent != agent.strip():
        raise ConfigError(f"{shown(agent)} is not the name of an agent: it must be printable")
    url = _url(args, env)
    vault = _vault(args, env)

    async def made(backend: Backend) -> Instance:
        instances = Instances(backend.documents, vault, utc_now)
        made_id = vault.instance_id(_HERE, uuid4().hex)
        instance, _ = await instances.make(
            made_id, provisioner=_HERE, given="", name=name, agent=agent
        )
        return instance

    instance = with_store(args, env, made)
    token = vault.token(instance.id, instance.nonce)
    if args.json:
        told = {"id": instance.id, "name": name, "agent": agent, "url": url, "token": token}
        print(json.dumps(told))
        return 0
    print(f"{json.dumps(url)}, {json.dumps(token)}")
    lines = [
        "The line above is shown only now. It is what every client takes, such as",
        "ApprovalMiddleware(…) for LangChain: its address and its token. Keep the token",
        "as you keep a password.",
        f"`sayso aap revoke {instance.id[:8]}` takes it back.",
    ]
    if urlsplit(url).scheme != "https" and urlsplit(url).hostname not in _LOCAL:
        lines.append("Clients refuse http to other computers: put TLS in front, and give --url.")
    print("\n".join(lines), file=sys.stderr)
    return 0


def provisioner_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:  # noqa: ARG001
    """Print a new token on stdout, once, and what the settings need to know of it on stderr."""
    name, token = _name(args.name), new_token()
    if args.json:
        print(json.dumps({"token": token, "name": name, "sha256": token_hash(token)}))
        return 0
    print(token)
    lines = (
        "The token above is shown only now. Add to sayso.toml, and restart `sayso serve`:",
        "",
        "[[aap.provisioner]]",
        f'name = "{name}"',
        f'sha256 = "{token_hash(token)}"',
    )
    print("\n".join(lines), file=sys.stderr)
    return 0


def list_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """List the instances, by name."""
    vault = _vault(args, env)
    found, unreadable = with_store(
        args, env, lambda backend: Instances(backend.documents, vault, utc_now).all()
    )
    for one in unreadable:
        print(_UNREADABLE.format(id=one), file=sys.stderr)
    if args.json:
        print(json.dumps([_as_json(one) for one in found]))
    elif found:
        print(table(_COLUMNS, [_row(one) for one in found]))
    elif not unreadable:
        print("There are no instances. `sayso aap instance NAME` makes one.")
    return 0


def revoke_command(args: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Delete an instance, whoever made it."""
    vault = _vault(args, env)

    async def revoked(backend: Backend) -> tuple[str, Instance | None, int]:
        instances = Instances(backend.documents, vault, utc_now)
        known, unreadable = await instances.all()
        by_id: dict[str, Instance | None] = dict.fromkeys(unreadable)
        by_id.update({one.id: one for one in known})
        meant = instance_id(by_id, args.id)
        if meant is None:
            raise ConfigError(f"there is no instance {shown(args.id)}; see `sayso aap list`")
        return meant, by_id[meant], await revoke(backend, instances, meant, utc_now)

    meant, instance, withdrawn = with_store(args, env, revoked)
    if args.json:
        told = {"id": meant} if instance is None else _as_json(instance)
        print(json.dumps({**told, "withdrawn": withdrawn}))
        return 0
    more = f", {withdrawn} of its requests withdrawn" if withdrawn else ""
    name = "" if instance is None else one_line(instance.name or instance.agent)
    print(f"revoked {f'{name} ({meant})' if name else meant}{more}")
    return 0


def _name(name: str) -> str:
    if not TOKEN_NAME.fullmatch(name) or holds_api_token(name):
        raise ConfigError(f"{shown(name)} is not a name: use 1 to 64 letters, digits and _ . -")
    return name


def _url(args: argparse.Namespace, env: Mapping[str, str]) -> str:
    if not args.url:
        host, port = read_address(args.config, env)
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{BASE}"
    url: str = args.url.rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or "@" in url:
        raise ConfigError(f"--url: {shown(url)} is not the address of the bots")
    return url if url.endswith(BASE) else url + BASE


def _vault(args: argparse.Namespace, env: Mapping[str, str]) -> Vault:
    settings = read_aap_settings(args.config, env)
    if settings is None:
        raise ConfigError(
            "the Agent Approval Protocol is off: add [aap] to sayso.toml and set SAYSO_AAP_SECRET"
        )
    return Vault(settings.secret)


def _row(instance: Instance) -> Sequence[str]:
    delivery = instance.delivery
    return (
        instance.id,
        one_line(instance.name),
        one_line(instance.agent),
        instance.provisioner or "sayso aap instance",
        "" if delivery is None else urlsplit(delivery.url).hostname or "",
        "yes" if instance.consumes else "not yet",
    )


def _as_json(instance: Instance) -> dict[str, Any]:
    return {
        "id": instance.id,
        "name": instance.name,
        "agent": instance.agent,
        "provisioner": instance.provisioner or None,
        "delivery": None if instance.delivery is None else instance.delivery.public,
        "consumes": instance.consumes,
    }
