"""[store]: where requests are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

from pydantic import Field, PlainValidator

from sayso.durations import parse_duration
from sayso.errors import StoreUnreachableError
from sayso.platforms.section import Section
from sayso.stores.audit import KEPT_DECISIONS
from sayso.stores.connect import STORES
from sayso.stores.ports.copies import KEPT
from sayso.text.secrets import has_login, without_login
from sayso_bots.settings.durations import Duration
from sayso_bots.settings.source import Source, read_source


def _give_up(value: object) -> timedelta | None:
    if value == "never":
        return None
    try:
        return parse_duration(value)
    except ValueError as error:
        raise ValueError(f'{error}; or "never"') from None


LONGEST_AUDIT = timedelta(days=3_650)


def _keep_audit(value: object) -> timedelta:
    keep = parse_duration(value, longest=LONGEST_AUDIT)
    if keep < timedelta(days=1):
        raise ValueError("is too short to look anything up; write at least 1d")
    return keep


class StoreSection(Section):
    """[store]."""

    url: str = Field(default="redis://127.0.0.1:6379/0", repr=False)
    give_up_after: Annotated[timedelta | None, PlainValidator(_give_up)] = timedelta(minutes=5)
    keep_cards: Duration = KEPT
    keep_audit: Annotated[timedelta, PlainValidator(_keep_audit)] = KEPT_DECISIONS


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where requests are kept; ``name`` is the setting that said so.

    Bots that start while it is away wait for it as long as ``give_up_after``; None is for ever.
    Requests whose cards were shown are known for ``keep_cards`` after their deadline,
    decisions are in the audit for ``keep_audit``.
    """

    url: str = field(repr=False)
    name: str = "store.url"
    is_default: bool = False
    give_up_after: timedelta | None = timedelta(minutes=5)
    keep_cards: timedelta = KEPT
    keep_audit: timedelta = KEPT_DECISIONS

    @property
    def shown(self) -> str:
        """The address without its password."""
        return without_login(self.url)

    def unreachable(self, error: StoreUnreachableError) -> str:
        """What to say when it does not answer: the setting that names it, and what happened."""
        said = f"{self.name}: {str(error).rstrip('.')}"
        if self.is_default:
            said += "; name another one with store.url or SAYSO_STORE_URL"
        return said

    @property
    def is_memory(self) -> bool:
        """Whether it serves this process only."""
        return self.url.startswith("memory://")


def read_store(config: str | None, env: Mapping[str, str], store_url: str | None) -> StoreSettings:
    """The store alone.

    Raises:
        SettingsError: it is wrong; a line for each problem.
    """
    source = read_source(config, env)
    store = store_of(source, store_url)
    source.check("store")
    return store


def store_of(source: Source, from_argument: str | None = None) -> StoreSettings:
    """The store in a source that was read already, or the one that an argument names."""
    if from_argument:
        store = StoreSettings(from_argument, "--store")
    else:
        section = source.section(StoreSection, "store") or StoreSection()
        variable = source.overridden.get(("store", "url"))
        is_default = source.written(("store", "url")) is None
        name = variable or "store.url"
        store = StoreSettings(
            section.url,
            "the default store" if is_default else name,
            is_default=is_default,
            give_up_after=section.give_up_after,
            keep_cards=section.keep_cards,
            keep_audit=section.keep_audit,
        )
        if name == "store.url" and has_login(store.url):
            source.problem(
                ("store", "url"),
                "holds a password, which must not stand in a file; "
                "set the whole address in SAYSO_STORE_URL",
            )
    _check_address(source, store)
    return store


def _check_address(source: Source, store: StoreSettings) -> None:
    if store.url.partition("://")[0] not in STORES or "://" not in store.url:
        where = source.place(("store", "url")) if store.name == "store.url" else store.name
        fix = "is not the address of a store; write redis://host:6379/0, or memory:// to try out"
        source.problems.append(("store", f"{where} {fix}"))
