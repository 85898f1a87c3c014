# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""asm_drivers: ASMFD and ASMLIB against the kernels and the Oracle release. Read-only."""
