"""The call of an open question as its run keeps it while it waits: in little, as many wait."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from sayso.agent.copies import is_flat
from sayso.agent.verdict import OpenCheck
from sayso.calls import ToolCall
from sayso.digests import arguments_digest


class Whole(NamedTuple):
    """The open question of a call, and the call as it was before a policy changed it."""

    opened: OpenCheck
    call: ToolCall


Kept: TypeAlias = Whole | tuple[Any, ...]
"""Of a flat call that no policy changed its folder, names and values; any other as it is.

Its strings are those of the call that was handed in: however long, they are not kept twice.
"""


def kept(opened: OpenCheck, call: ToolCall) -> Kept:
    """What is kept of an open question; whoever has the call in hand cannot change a flat one."""
    if opened.call is call and is_flat(call.arguments):
        return (call.folder, *chain.from_iterable(call.arguments.items()))
    return Whole(opened, call)


def restored(what: Kept, handed: ToolCall, question_id: str) -> Whole:
    """The question as it was when it was kept, about the call that was handed in."""
    if isinstance(what, Whole):
        return what
    folder, *flat = what
    arguments = dict(zip(flat[::2], flat[1::2], strict=True))
    call = replace(handed, arguments=arguments, folder=folder)
    return Whole(OpenCheck(call, question_id, arguments_digest(arguments)), call)
