# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""storage_type: the storage under the databases of a host, over SNMP. Audit only."""
