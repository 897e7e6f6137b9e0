"""The ports on Redis or Valkey: one server, Sentinel or Cluster.

One file a port, with the scripts that make its steps atomic. What a promise is stands in ``ports``;
nothing here knows of cards, policies or chats.
"""

from sayso.stores.redis.backend import redis_backend
from sayso.stores.redis.url import read_url

__all__ = ["read_url", "redis_backend"]
