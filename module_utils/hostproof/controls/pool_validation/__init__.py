# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pool_validation: how WildFly and JBoss EAP validate pooled connections, and what it costs."""
