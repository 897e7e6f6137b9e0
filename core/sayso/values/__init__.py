"""Values on cards: what a person decides on, piece by piece, as it is written and as it is cut.

What one is, which kind it is of, how a call's arguments become some, and what of them a screen
holds. How a platform sets them belongs to its adapter, when one is cut to the card.
"""

from sayso.text.kind import Kind
from sayso.values.value import Value, one_value

__all__ = ["Kind", "Value", "one_value"]
