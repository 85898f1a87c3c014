#!/usr/bin/env python3
"""A way of known length: a cable to a network namespace in which Hostproof's responder answers.

netem delays what comes back from there. Needs root, the package hostproof beside it, and nothing
else but the standard library.

    way.py start        10.9.9.2, port 7500
    way.py delay TEXT   netem's words for the way back (6ms 1ms), or 0
    way.py stop
"""

import os
import subprocess
import sys

from hostproof.controls.latency.measurement import responder as latency_responder

SPACE, LINK = "latency-far", "lat0"
NEAR, FAR, PORT = "10.9.9.1", "10.9.9.2", 7500
REQUEST, REPLY = 12, 4

#: The client has the first processor, and the responder the last.
CPUS = sorted(os.sched_getaffinity(0))


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
    return done.stdout


def start() -> None:
    run("modprobe", "--all", "veth", "sch_netem")
    run("ip", "netns", "add", SPACE)
    run("ip", "link", "add", LINK, "type", "veth", "peer", "name", "eth0", "netns", SPACE)
    run("ip", "address", "add", f"{NEAR}/24", "dev", LINK)
    run("ip", "link", "set", LINK, "up")
    run("ip", "-n", SPACE, "address", "add", f"{FAR}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        run("ip", "-n", SPACE, "link", "set", device, "up")
    run("ip", "netns", "exec", SPACE, sys.executable, __file__, "respond")


def respond() -> None:
    os.sched_setaffinity(0, {CPUS[-1]})
    # The far side is another machine: nothing that runs here makes it wait.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(30))
    settings = latency_responder.Settings(FAR, PORT, [f"{NEAR}/32"], 3600, 8, 1 << 30)
    latency_responder.start(settings)


def delay(*words: str) -> None:
    """Disturb what the responder sends, from now on."""
    device = ("dev", "eth0", "root")
    if words == ("0",):
        subprocess.run(["tc", "-n", SPACE, "qdisc", "del", *device], capture_output=True)
    else:
        netem = [part for word in words for part in word.split()]
        run("tc", "-n", SPACE, "qdisc", "replace", *device, "netem", "delay", *netem)


def stop() -> None:
    for responder in latency_responder.running(PORT):
        latency_responder.stop(responder)
    run("ip", "link", "del", LINK)
    run("ip", "netns", "del", SPACE)


ACTIONS = (start, respond, delay, stop)

if __name__ == "__main__":
    name, *given = sys.argv[1:]
    {action.__name__: action for action in ACTIONS}[name](*given)
