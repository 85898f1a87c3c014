# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""listener_rate_limit: connection rate limits of listeners, in the file, in use and in the log."""
