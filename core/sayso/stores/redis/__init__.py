"""The ports on Redis or Valkey: one server, Sentinel or Cluster."""

from sayso.stores.redis.backend import redis_backend

__all__ = ["redis_backend"]
