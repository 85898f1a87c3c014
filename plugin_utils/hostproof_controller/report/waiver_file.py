# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a waiver file."""

from ansible.module_utils.hostproof.errors import HostproofError

from .. import bounded_yaml
from .waivers import Waiver, parse_waivers


def load_waivers(path: str) -> list[Waiver]:
    """The waivers of a YAML file; a HostproofError names the file and what is wrong in it."""
    data = bounded_yaml.load(path)
    try:
        return parse_waivers(data)
    except (HostproofError, RecursionError) as problem:
        raise HostproofError(f"{path}: {bounded_yaml.describe_problem(problem)}") from problem
