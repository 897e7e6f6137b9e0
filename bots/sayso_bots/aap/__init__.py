"""The provider of the Agent Approval Protocol, version 1: adapters that others keep ask here.

Everything under ``/aap``: instances and their credentials, requests, what an adapter submitted and
how it is told again, the one use of an approval, and webhooks. What is asked becomes a
permission of the core like any other; no policy, no card and no platform is known here.
"""
