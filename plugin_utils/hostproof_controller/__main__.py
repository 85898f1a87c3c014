# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m hostproof_controller VERB ...``: what ./hostproof runs in its virtualenv."""

import sys

from .cli.command import main

if __name__ == "__main__":
    sys.exit(main())
