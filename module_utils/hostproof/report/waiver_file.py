# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a waiver file. YAML comes with Ansible, so this is for the controller only."""

from typing import List

from ..errors import HostproofError
from ..waivers import Waiver, parse_waivers


def load_waivers(path):
    # type: (str) -> List[Waiver]
    """The waivers of a YAML file; a HostproofError names the file and what is wrong in it."""
    import yaml

    try:
        with open(path, encoding="utf-8") as stream:
            data = yaml.safe_load(stream)
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise HostproofError("{0}: {1}".format(path, " ".join(str(problem).split()))) from problem
    try:
        return parse_waivers(data)
    except HostproofError as problem:
        raise HostproofError("{0}: {1}".format(path, problem)) from problem
