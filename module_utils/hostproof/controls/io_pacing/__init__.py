# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""io_pacing: how AIX holds back a program that writes faster than the disks; advice for Linux."""
