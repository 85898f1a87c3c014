# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report directories: reading findings.jsonl of one or many runs, and what they state together.

A line of findings.jsonl is a host result (docs/finding.schema.json). Lines of several runs or
shards merge by concatenation: for each host and control the line with the latest ``at`` wins.

A line that is no host result is the error of its host, or of the run where it names none: one host
cannot take the report from the others.
"""

from .instants import (
    recorded_apart,
)
from .merging import (
    merge,
    merged_lines,
    natural,
)
from .pseudo_hosts import (
    PSEUDO_HOSTS,
    RUN_HOST,
    cluster_host,
    cluster_name,
    is_cluster,
    is_pseudo,
)
from .reading import (
    FINDINGS_FILE,
    read_entries,
)
from .results import (
    Hosts,
    Results,
    pseudo_line,
    with_parts,
)
from .run_findings import (
    PROFILE,
    SELECTION,
    TARGET,
)
