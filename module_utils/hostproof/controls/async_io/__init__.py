# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""async_io: asynchronous and direct I/O of the database, and the limits of the host for it."""
