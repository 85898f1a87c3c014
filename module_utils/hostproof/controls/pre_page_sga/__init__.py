# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pre_page_sga: whether an instance touches its SGA page by page, when, and in which pages."""
