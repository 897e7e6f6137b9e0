"""The hosted API: agents in any language ask over HTTP, programs answer, all can listen.

Everything under ``/agents``: who may, what was sent, what is answered, waits, the stream and its
description. The web server that it hangs on is in ``server``.
"""
