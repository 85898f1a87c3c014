# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pre_page_sga: parameters and page sizes that decide how an instance touches its SGA pages."""
