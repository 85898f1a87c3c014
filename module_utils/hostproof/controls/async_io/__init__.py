# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""async_io: whether the database writes asynchronously and past the page cache, and can."""
