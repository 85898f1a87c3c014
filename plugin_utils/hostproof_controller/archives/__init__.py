# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Support archives (sosreport, supportconfig, Red Hat Insights) as evidence packs.

content.py reads the texts of an archive, paths.tsv maps them to files and commands of the host, and
recording.py makes the readings that ``record`` makes on a host. A missing source is an error.
"""
