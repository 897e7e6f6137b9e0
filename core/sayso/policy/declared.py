"""What policies were told of tools: whether they need a permission, and what rules suit them."""

from __future__ import annotations

from typing import Protocol

from sayso.policy.decision import Policy
from sayso.rules.declarations import Requirements, ToolAnnotations


class Declared(Protocol):
    """What is declared of tools, by name: ``Requirements``, or several as one."""

    def of(self, name: str) -> ToolAnnotations | None:
        """What is declared of the tool with this name."""
        ...


class FirstDeclared:
    """What several policies were told: of each tool, what the first that knows it was told."""

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies

    def of(self, name: str) -> ToolAnnotations | None:
        """What is declared of the tool with this name."""
        told = (requirements_of(policy).of(name) for policy in self._policies)
        return next((declaration for declaration in told if declaration is not None), None)


def requirements_of(policy: Policy) -> Declared:
    """What the policy was told of tools, by its ``requirements``; nothing where it cannot say."""
    told: Declared = getattr(policy, "requirements", _NOTHING)
    return told


_NOTHING = Requirements()
