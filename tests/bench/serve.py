"""A process under test: ``python -m bench.serve floor|ours STORE PORT SECRET``."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from bench.floor import serve_floor
from bench.ours import serve_ours

if __name__ == "__main__":
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    logging.disable(logging.WARNING)
    _, kind, store, port, secret = sys.argv
    serve = serve_floor if kind == "floor" else serve_ours
    asyncio.run(serve(store, int(port), secret))
