"""``python -m assent_bots`` is ``assent``."""

import sys

from assent_bots.cli import main

sys.exit(main())
