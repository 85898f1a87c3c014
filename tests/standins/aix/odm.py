#!/usr/bin/env python3
"""STAND-IN for the inside of an AIX host, as far as the commands beside this file tell of it.

The host is one file, state/host.json beside this one; the scenario
molecule/io_pacing writes it. Of each device attribute it keeps

    odm         what the configuration database holds: lsattr -E shows it, the next boot uses it
    running     what the kernel uses, which no command of AIX tells
    configured  what lsattr -P shows: the value when the device was last configured, which a chdev
                -P or -T leaves as it was (AIX 7 Commands Reference, lsattr)

Every call of a command is a line of state/calls.jsonl. Also a tool of the tests:

    odm.py boot            the host boots: each device is configured with what the database holds
    odm.py get DEVICE      its attributes as JSON
    odm.py set KEY VALUE   sets one thing of the state; KEY is names joined by slashes, VALUE JSON

Python 3.6 or newer, standard library only.
"""

import fcntl
import getopt
import json
import os
import sys
from contextlib import contextmanager

HERE = os.path.dirname(os.path.realpath(__file__))
STATE = os.path.join(HERE, "state", "host.json")
CALLS = os.path.join(HERE, "state", "calls.jsonl")


class Refused(Exception):
    """What a command says on standard error, and what it exits with."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


@contextmanager
def locked():
    """The state; what the block leaves in it is kept, unless it raises."""
    with open(STATE, "r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        state = json.load(stream)
        before = json.dumps(state)
        yield state
        if json.dumps(state) != before:
            stream.seek(0)
            stream.truncate()
            json.dump(state, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())


def load():
    with open(STATE) as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        return json.load(stream)


def options(letters, usage):
    """The options of the command line as (option, value) pairs, and its other words.

    AIX's commands know no long options, and none after the first other word.
    """
    try:
        return getopt.getopt(sys.argv[1:], letters)
    except getopt.GetoptError as problem:
        letter = problem.opt[:1] if len(problem.opt) == 1 else "-"
        name = os.path.basename(sys.argv[0])
        text = "{0}: illegal option -- {1}\nUsage: {2}".format(name, letter, usage)
        raise Refused(text, 2) from None


def main(command):
    """Run a command: note the call, print what it answers, and exit as it would."""
    note([os.path.basename(sys.argv[0])] + sys.argv[1:])
    try:
        lines = command()
    except Refused as refused:
        sys.stderr.write(str(refused) + "\n")
        sys.exit(refused.code)
    sys.stdout.write("".join(line + "\n" for line in lines))


def note(argv):
    environment = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
    line = json.dumps({"argv": argv, "environment": environment}) + "\n"
    with open(CALLS, "a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.write(line)


def device(state, name, command):
    """A device, or the words of AIX where there is none."""
    if name not in state["devices"]:
        raise Refused(
            "{0}: 0514-519 The following device was not found in the customized\n"
            "\tdevice configuration database:\n\tname: {1}".format(command, name)
        )
    return state["devices"][name]


def wanted_names(pairs):
    """Every name of -a: one each, or several in one, with blanks between."""
    return [word for option, value in pairs if option == "-a" for word in value.split()]


def columns(rows):
    """Rows as AIX prints a table: each column as wide as its longest word."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        " ".join(word.ljust(widths[at]) for at, word in enumerate(row)).rstrip() for row in rows
    ]


def boot():
    with locked() as state:
        for entry in state["devices"].values():
            for attribute in entry["attributes"].values():
                attribute["running"] = attribute["configured"] = attribute["odm"]


def put(path, text):
    with locked() as state:
        place = state
        names = path.split("/")
        for name in names[:-1]:
            place = place[int(name) if isinstance(place, list) else name]
        place[names[-1]] = json.loads(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["boot"]:
        boot()
    elif len(sys.argv) == 3 and sys.argv[1] == "get":
        json.dump(load()["devices"][sys.argv[2]]["attributes"], sys.stdout, indent=1)
    elif len(sys.argv) == 4 and sys.argv[1] == "set":
        put(sys.argv[2], sys.argv[3])
    else:
        sys.exit("usage: odm.py boot | get DEVICE | set KEY VALUE")
