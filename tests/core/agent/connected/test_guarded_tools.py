"""A function behind a handle is what it was: async or not, a generator, a method, a partial."""

from __future__ import annotations

import asyncio
import functools
import inspect
import typing
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import sayso
from sayso import (
    ConfigError,
    Decision,
    Gate,
    PolicyContext,
    RunRef,
    ToolBlocked,
    ToolCall,
    requires_permission,
    wrap,
)
from sayso.agent.connected.connect import ConnectedGate
from sayso.rules.declarations import declared_by


class Book:
    """A policy that notes each call, and allows what does not say no."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.declared: list[object] = []
        self.change: dict[str, Any] | None = None

    async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
        self.calls.append(call)
        self.declared.append(context.declaration)
        if "no" in call.arguments.values():
            return Decision.DENY.because("it says no", line="book")
        return Decision.ALLOW if self.change is None else Decision.ALLOW.with_arguments(self.change)

    def seen(self) -> list[tuple[str, dict[str, Any]]]:
        return [(call.name, dict(call.arguments)) for call in self.calls]


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def handle(book: Book) -> Iterator[ConnectedGate]:
    with sayso.connect("memory://", policy=book) as handle:
        yield handle


REFUSED = "The call of {} was denied: it says no. It did not run."


def plain(word: str, times: int = 1) -> str:
    """Say a word.

    More about it.
    """
    return word * times


async def later(word: str, times: int = 1) -> str:
    """Say a word."""
    return word * times


def items(word: str, times: int = 1) -> Iterator[str]:
    """Say a word."""
    yield from [word] * times


async def items_later(word: str, times: int = 1) -> AsyncIterator[str]:
    """Say a word."""
    for _ in range(times):
        yield word


async def all_of(found: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in found]


CALLING: dict[str, tuple[Callable[..., Any], Callable[[Any], Any], Any, Any]] = {
    "plain": (plain, lambda result: result, "aa", REFUSED.format("plain")),
    "async": (later, asyncio.run, "aa", REFUSED.format("later")),
    "a generator": (items, list, ["a", "a"], [REFUSED.format("items")]),
    "an async generator": (
        items_later,
        lambda found: asyncio.run(all_of(found)),
        ["a", "a"],
        [REFUSED.format("items_later")],
    ),
}
KINDS: list[Callable[[Any], bool]] = [
    inspect.isfunction,
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
]


@pytest.mark.parametrize("kind", CALLING)
def test_a_guarded_function_stays_what_it_is(kind: str, handle: ConnectedGate) -> None:
    function, came_of, ran, refused = CALLING[kind]
    guarded: Any = handle.guard(function)

    assert came_of(guarded("a", 2)) == ran
    assert came_of(guarded("no")) == refused
    assert [is_kind(guarded) for is_kind in KINDS] == [is_kind(function) for is_kind in KINDS]


@pytest.mark.parametrize("kind", CALLING)
def test_a_guard_that_raises_raises_in_each_of_them(kind: str, handle: ConnectedGate) -> None:
    function, came_of, _, _ = CALLING[kind]
    guarding: Any = handle.guard(raises=True)
    guarded = guarding(function)

    with pytest.raises(ToolBlocked, match="it says no"):
        came_of(guarded("no"))


@pytest.mark.parametrize("kind", CALLING)
def test_its_name_docstring_signature_and_annotations_are_kept(
    kind: str, handle: ConnectedGate
) -> None:
    function = CALLING[kind][0]
    guarded: Any = handle.guard(function)

    assert (guarded.__name__, guarded.__qualname__) == (function.__name__, function.__qualname__)
    assert inspect.getdoc(guarded) == inspect.getdoc(function)
    assert inspect.signature(guarded) == inspect.signature(function)
    assert typing.get_type_hints(guarded) == typing.get_type_hints(function)
    assert inspect.unwrap(guarded) is function


def shop_of(guard: Callable[..., Any]) -> Any:
    class Tools:
        """Each kind of method, guarded in its class."""

        name = "tools"

        def __init__(self) -> None:
            self.sold: list[str] = []

        @guard
        def sell(self, what: str) -> str:
            self.sold.append(what)
            return f"sold {what}"

        @guard
        async def order(self, what: str) -> str:
            self.sold.append(what)
            return f"ordered {what}"

        @guard
        @classmethod
        def outer_class(cls, what: str) -> str:
            return f"{cls.name} {what}"

        @classmethod
        @guard
        def inner_class(cls, what: str) -> str:
            return f"{cls.name} {what}"

        @guard
        @staticmethod
        def outer_static(what: str) -> str:
            return what

        @staticmethod
        @guard
        def inner_static(what: str) -> str:
            return what

    return Tools()


METHODS = {
    "sell": "sold a",
    "order": "ordered a",
    "outer_class": "tools a",
    "inner_class": "tools a",
    "outer_static": "a",
    "inner_static": "a",
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_guarded_without_its_object_or_class(
    name: str, handle: ConnectedGate, book: Book
) -> None:
    shop = shop_of(handle.guard)
    method = getattr(shop, name)
    came_of = asyncio.run if name == "order" else (lambda result: result)

    assert came_of(method("a")) == METHODS[name]
    assert came_of(method("no")) == REFUSED.format(name)
    assert book.seen() == [(name, {"what": "a"}), (name, {"what": "no"})]
    assert shop.sold == (["a"] if name in ("sell", "order") else [])
    assert list(inspect.signature(method).parameters) == ["what"]


def test_a_bound_method_is_guarded_as_it_is(handle: ConnectedGate, book: Book) -> None:
    class Shop:
        def sell(self, what: str) -> str:
            return f"sold {what}"

    assert handle.guard(Shop().sell)("a") == "sold a"
    assert book.seen() == [("sell", {"what": "a"})]


def test_what_a_partial_was_given_is_shown_and_may_be_edited(
    handle: ConnectedGate, book: Book
) -> None:
    say = handle.guard(functools.partial(plain, "a", times=3))

    assert say() == "aaa"
    assert book.seen() == [("plain", {"word": "a", "times": 3})]
    assert inspect.getdoc(say) == inspect.getdoc(plain)
    assert list(inspect.signature(say).parameters) == ["times"]
    assert typing.get_type_hints(say) == typing.get_type_hints(plain)

    book.change = {"word": "b", "times": 2}
    assert say(times=9) == "bb"


class Connection:
    """What no JSON can hold."""

    def query(self, text: str) -> str:
        return f"rows of {text}"


def query(connection: Connection, text: str, **more: Any) -> str:
    """Ask the database."""
    return connection.query(text) + "".join(more)


def test_a_connection_that_a_partial_was_given_is_not_shown(
    handle: ConnectedGate, book: Book
) -> None:
    ways = (
        functools.partial(query, Connection()),
        functools.partial(query, connection=Connection()),
    )
    for way in ways:
        assert handle.guard(way)(text="users") == "rows of users"
    assert book.seen() == [("query", {"text": "users"})] * 2

    book.change = {"text": "users", "connection": "another"}
    refused = "The call of query did not run: it cannot be called as approved: "
    assert handle.guard(ways[0])(text="users") == f"{refused}it takes no 'connection'."


def test_an_async_function_in_a_partial_is_async(handle: ConnectedGate) -> None:
    say = handle.guard(functools.partial(later, "a"))

    assert inspect.iscoroutinefunction(say)
    assert asyncio.run(say(times=2)) == "aa"


def test_what_a_function_declares_is_told_to_the_policy(handle: ConnectedGate, book: Book) -> None:
    @requires_permission
    def declaring(word: str) -> str:
        return word

    handle.guard(declaring)("a")
    handle.guard(functools.partial(declaring, "a"))()

    assert declared_by(declaring) is not None
    assert book.declared == [declared_by(declaring)] * 2


def test_an_async_generator_is_closed_and_sent_to_as_the_function_would_be(
    handle: ConnectedGate,
) -> None:
    happened: list[str] = []

    async def stream() -> AsyncIterator[str]:
        try:
            yield "one"
            yield "two"
        finally:
            happened.append("closed")

    async def first() -> str:
        found = handle.guard(stream)()
        async for item in found:
            await found.aclose()  # type: ignore[attr-defined]
            return item
        raise AssertionError("nothing came")

    assert asyncio.run(first()) == "one"
    assert happened == ["closed"]


def test_a_generator_takes_what_is_sent_and_gives_what_it_returns(handle: ConnectedGate) -> None:
    def counting() -> Any:
        total = 0
        while (sent := (yield total)) is not None:
            total += sent
        return total

    guarded: Any = handle.guard(counting)
    running = guarded()
    assert next(running) == 0
    assert running.send(3) == 3
    with pytest.raises(StopIteration) as ended:
        running.send(None)
    assert ended.value.value == 3


def test_tools_are_guarded_by_name_and_once(handle: ConnectedGate, book: Book) -> None:
    tools = handle.tools({"say": plain, "wait": later})

    assert tools["say"]("a") == "a"
    assert asyncio.run(tools["wait"]("a")) == "a"
    assert [name for name, _ in book.seen()] == ["say", "wait"]
    with pytest.raises(ConfigError, match="guarded already"):
        handle.guard(tools["say"])
    with pytest.raises(ConfigError, match="guarded already"):
        handle.tools(tools)
    with pytest.raises(ConfigError, match="two tools are called plain"):
        handle.tools([plain, plain])
    with pytest.raises(ToolBlocked, match="it says no"):
        handle.tools([plain], raises=True)["plain"]("no")


def test_a_guarded_tool_asks_for_the_run_it_was_guarded_for(
    handle: ConnectedGate, book: Book
) -> None:
    runs: list[RunRef] = []

    class Noting(Book):
        async def decide(self, call: ToolCall, context: PolicyContext) -> Decision:
            runs.append(context.run)
            return Decision.ALLOW

    with sayso.connect("memory://", agent="bot", policy=Noting()) as noting:
        noting.for_session("s-7").guard()(plain)("a")
        asyncio.run(noting.for_session("s-8").tools([later])["later"]("a"))

    assert runs == [RunRef("bot", "s-7"), RunRef("bot", "s-8")]


async def test_behind_a_gate_a_method_a_partial_and_an_async_generator_are_tools_too(
    book: Book,
) -> None:
    async with Gate.open("memory://", run=RunRef("bot", "s-1"), policy=book) as gate:
        shop = shop_of(gate.guard)

        assert await shop.sell("a") == "sold a"
        assert await shop.outer_static("a") == "a"
        assert await gate.guard(functools.partial(plain, "a"))() == "a"
        assert await all_of(gate.guard(items_later)("a", 2)) == ["a", "a"]
        assert await wrap([Connection().query], gate=gate)["query"]("a") == "rows of a"
    assert [name for name, _ in book.seen()] == [
        "sell",
        "outer_static",
        "plain",
        "items_later",
        "query",
    ]
