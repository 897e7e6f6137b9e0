"""``[aap]`` of the settings: who may provision, on which terms. Without the section it is off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from sayso.platforms.section import Section
from sayso_bots.settings.credentials import holds_api_token
from sayso_bots.settings.durations import Duration
from sayso_bots.settings.sections import calls_a_second, no_bool, unseen
from sayso_bots.settings.source import Source, read_source
from sayso_bots.settings.tokens import SHA256, TOKEN_NAME

SECRET_VARIABLE = "SAYSO_AAP_SECRET"  # noqa: S105  the name of a secret, not the secret
CA_VARIABLE = "SSL_CERT_FILE"
_SHORTEST_SECRET = 32
_LONGEST_VALID = timedelta(hours=24)

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Provisioner:
    """Who may make instances. Several of one name are one while its token rotates.

    ``agents`` is a pattern of the agents that its instances may be: each is the
    agent of its own name. Without it they are agents of the provisioner's own.
    """

    name: str
    sha256: str = field(repr=False)
    agents: str = ""


@dataclass(frozen=True, slots=True)
class AapLimits:
    """How much one instance, and one provisioner, may ask of this process.

    Calls a second, twice that for a moment; how many requests a second; how many calls
    may wait for a decision at once. ``webhooks`` are under way at once in this process,
    ``webhooks_per_host`` of them to one host.
    """

    per_second: int = 50
    requests_per_second: int = 20
    waiting: int = 100
    provisioner_per_second: int = 5
    webhooks: int = 32
    webhooks_per_host: int = 4


@dataclass(frozen=True, slots=True)
class AapSettings:
    """The provider of the Agent Approval Protocol. Its repr holds no secret.

    An approval may be used for as long as ``approval_valid``. Webhooks reach public
    addresses, and those of ``private_receivers``; who they are, the certificates of
    ``ca_file`` say besides those of the system.
    """

    secret: bytes = field(repr=False)
    provisioners: tuple[Provisioner, ...] = ()
    approval_valid: timedelta = timedelta(minutes=5)
    private_receivers: tuple[Network, ...] = ()
    ca_file: str = ""
    limits: AapLimits = field(default_factory=AapLimits)


def _valid(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= _LONGEST_VALID:
        raise ValueError("must be at least 1s and at most 24h")
    return value


def _pattern(value: str) -> str:
    if not value or not value.isprintable() or value != value.strip():
        raise ValueError('must be a pattern of the names of agents, such as "ci-*"')
    return value


def _network(value: object) -> Network:
    try:
        if not isinstance(value, str):
            raise ValueError  # noqa: TRY004, TRY301  one sentence for all
        return ip_network(value)
    except ValueError:
        raise ValueError('is not a network; write "127.0.0.1/32" or "10.0.0.0/8"') from None


Calls = Annotated[int, PlainValidator(calls_a_second)]
AtOnce = Annotated[int, BeforeValidator(no_bool), Field(ge=1, le=10_000)]


class AapSection(Section):
    """[aap], its provisioners not looked at yet."""

    provisioner: Any = ()
    approval_valid: Annotated[Duration, AfterValidator(_valid)] = timedelta(minutes=5)
    allow_private_receivers: tuple[Annotated[Network, PlainValidator(_network)], ...] = ()
    per_second: Calls = 50
    requests_per_second: Calls = 20
    waiting: AtOnce = 100
    provisioner_per_second: Calls = 5
    webhooks: AtOnce = 32
    webhooks_per_host: AtOnce = 4


class ProvisionerSection(Section):
    """[[aap.provisioner]]; ``sha256`` is looked at elsewhere, where it is not shown."""

    name: str
    sha256: Annotated[str, BeforeValidator(unseen)]
    agents: Annotated[str, AfterValidator(_pattern)] = ""


def read_aap(source: Source) -> AapSettings | None:
    """The provider, None where there is no section. What is wrong is noted in the source."""
    if "aap" not in source.sections:
        return None
    section = source.section(AapSection, "aap")
    provisioners = _provisioners(source)
    secret = source.value(SECRET_VARIABLE)
    if len(secret) < _SHORTEST_SECRET:
        what = "is too short" if secret else "is not set"
        told = (
            f"{SECRET_VARIABLE} {what}: [aap] derives its tokens from it; set it to at least "
            f"{_SHORTEST_SECRET} random characters, such as those of `openssl rand -hex 32`, "
            "and keep it"
        )
        source.problems.append(("aap", told))
        return None
    if section is None:
        return None
    return AapSettings(
        secret=secret.encode(),
        provisioners=tuple(provisioners),
        approval_valid=section.approval_valid,
        private_receivers=section.allow_private_receivers,
        ca_file=source.value(CA_VARIABLE),
        limits=AapLimits(
            per_second=section.per_second,
            requests_per_second=section.requests_per_second,
            waiting=section.waiting,
            provisioner_per_second=section.provisioner_per_second,
            webhooks=section.webhooks,
            webhooks_per_host=section.webhooks_per_host,
        ),
    )


def read_aap_settings(config: str | None, env: Mapping[str, str]) -> AapSettings | None:
    """The provider of the Agent Approval Protocol alone, None where it is off.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    aap = read_aap(source)
    source.check("aap")
    return aap


def aap_warnings(aap: AapSettings | None) -> tuple[str, ...]:
    """What may be a mistake, although nothing is wrong."""
    if aap is None or not aap.private_receivers:
        return ()
    networks = ", ".join(map(str, aap.private_receivers))
    told = (
        f"aap.allow_private_receivers lets webhooks reach {networks}, which are not public: "
        "whoever makes an instance can make the bots call what listens there"
    )
    return (told,)


def _provisioners(source: Source) -> Sequence[Provisioner]:
    written = source.written(("aap", "provisioner"), [])
    if not isinstance(written, list):
        text = "must be written with two brackets: [[aap.provisioner]]"
        source.problem(("aap", "provisioner"), text)
        return ()
    found = [one for number in range(len(written)) if (one := _provisioner(source, number))]
    hashes = [one.sha256 for one in found]
    for number, one in enumerate(found):
        if hashes.index(one.sha256) != number:
            source.problem(("aap", "provisioner", number, "sha256"), "appears twice; remove one")
    return found


def _provisioner(source: Source, number: int) -> Provisioner | None:
    path = ("aap", "provisioner", number)
    section = source.section(ProvisionerSection, *path)
    if section is None:
        return None
    good = not holds_api_token(section.name)  # that it does was said already
    if not TOKEN_NAME.fullmatch(section.name):
        source.problem((*path, "name"), "must be 1 to 64 letters, digits and _ . -")
        good = False
    if not SHA256.fullmatch(section.sha256):
        # Never quoted: it may be the token itself.
        text = (
            "is not the SHA-256 of a token in 64 hex digits; "
            "`sayso aap provisioner NAME` prints this line"
        )
        source.problem((*path, "sha256"), text)
        good = False
    return Provisioner(section.name, section.sha256, section.agents) if good else None
