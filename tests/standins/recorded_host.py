#!/usr/bin/env python3
"""Makes a container show what a recording of a real host shows: recorded_host.py EVIDENCE

Files and links are laid down where they were. /sys must be a tmpfs: it stands in for the kernel's.
A device node is a plain file with the owner and mode of the node. A command of the recording is a
program that prints what the real one printed, and fails when it is asked anything else.
"""

import json
import os
import sys

#: What a container has by itself, or what could not be laid down there.
OWN_COMMANDS = ("getent", "uname")
OWN_FILES = ("/proc/",)
PROGRAMS = "/usr/local/sbin"

REPLAY = """#!/usr/bin/env python3
import json, sys
for one in json.loads({told!r}):
    if one["argv"][1:] == sys.argv[1:]:
        sys.stdout.write(one["stdout"])
        sys.stderr.write(one.get("stderr", ""))
        sys.exit(one["rc"])
sys.exit("{name} stands in for the real program, which was not asked this: %s" % sys.argv[1:])
"""


def main(path):
    with open(path) as stream:
        evidence = json.load(stream)
    readings = [
        (*key.split(":", 1), reading) for key, reading in evidence.items() if "error" not in reading
    ]
    by_kind = {kind: {} for kind in ("link", "file", "dir", "stat", "command")}
    for kind, subject, reading in readings:
        by_kind.get(kind, {})[subject] = reading
    for subject in sorted(by_kind["link"]):
        lay_link(subject, by_kind["link"][subject]["target"])
    for subject, reading in by_kind["dir"].items():
        if subject.startswith("/sys/"):
            for name in ("", *reading["names"]):
                os.makedirs(os.path.join(subject, name), exist_ok=True)
    for subject, reading in by_kind["file"].items():
        if not subject.startswith(OWN_FILES):
            lay_file(subject, reading["text"])
    lay_nodes(by_kind["stat"], by_kind["file"])
    lay_commands(by_kind["command"].values())


def lay_link(path, target):
    """A link to a folder of /sys, or to a node, which is made later."""
    if path == target or os.path.lexists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)
    if target.startswith("/sys/"):
        os.makedirs(target, exist_ok=True)
    # The kernel shows a disk at both places.
    if path.startswith("/sys/class/block/"):
        lay_link(path.replace("/sys/class/", "/sys/"), target)


def lay_file(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        stream.write(text)


def lay_nodes(stats, files):
    for path, reading in stats.items():
        lay_file(path, "")
        stat = reading["stat"]
        os.chown(path, stat["uid"], stat["gid"])
        os.chmod(path, stat["mode"] & 0o7777)
    # udev's links to each disk, as its database has them.
    for path, reading in files.items():
        if not path.startswith("/run/udev/data/b"):
            continue
        for disk in os.listdir("/sys/class/block"):
            if read(f"/sys/class/block/{disk}/dev") != path.rpartition("/b")[2]:
                continue
            node = f"/dev/{disk}"
            if not os.path.exists(node):
                lay_file(node, "")
            for line in reading["text"].splitlines():
                if line.startswith("S:"):
                    lay_link(f"/dev/{line[2:]}", node)


def read(path):
    try:
        with open(path) as stream:
            return stream.read().strip()
    except OSError:
        return ""


def lay_commands(readings):
    by_name = {}
    for reading in readings:
        name = os.path.basename(reading["argv"][0])
        if name not in OWN_COMMANDS:
            by_name.setdefault(name, []).append(reading)
    for name, answers in by_name.items():
        path = os.path.join(PROGRAMS, name)
        lay_file(path, REPLAY.format(told=json.dumps(answers), name=name))
        os.chmod(path, 0o755)


if __name__ == "__main__":
    main(sys.argv[1])
