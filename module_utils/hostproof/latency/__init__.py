# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control latency and others share of latency: probes, budget, the first packet."""
