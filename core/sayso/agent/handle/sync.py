"""A handle for callers that have no event loop: its methods, without ``await``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from sayso.agent.handle.methods import Methods

_P = ParamSpec("_P")
_T = TypeVar("_T")


class SyncHandle:
    """The methods of a handle for code that is not async: the thread stands still meanwhile.

    In an event loop's own thread everything else in that loop stands still, too.
    """

    def __init__(self, methods: Methods) -> None:
        self.check = _at_once(methods.check)
        self.before_function = _at_once(methods.before_function)
        self.check_batch = _at_once(methods.check_batch)
        self.submit = _at_once(methods.submit)
        self.submit_batch = _at_once(methods.submit_batch)
        self.resume = _at_once(methods.resume)
        self.resume_batch = _at_once(methods.resume_batch)
        self.ask = _at_once(methods.ask)
        self.clarify = _at_once(methods.clarify)
        self.approve_text = _at_once(methods.approve_text)
        self.collect = _at_once(methods.collect)
        self.may_continue = _at_once(methods.may_continue)
        self.cancel = _at_once(methods.cancel)
        self.cancel_all = _at_once(methods.cancel_all)
        self.before_iteration = _at_once(methods.before_iteration)
        self.deny_call = _at_once(methods.deny_call)


def _at_once(method: Callable[_P, Coroutine[Any, Any, _T]]) -> Callable[_P, _T]:
    """The method as a function: one that waits by blocking never suspends."""

    @functools.wraps(method)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            method(*args, **kwargs).send(None)
        except StopIteration as done:
            result: _T = done.value
            return result
        raise AssertionError("it waited in another way than by blocking")

    return called
