"""``python -m sayso_bots`` is ``sayso``."""

import sys

from sayso_bots.cli.main import main

sys.exit(main())
