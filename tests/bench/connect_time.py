#!/usr/bin/env python3
"""Connect time through a listener: with and without huge pages, with and without pre_page_sga.

    tests/bench/connect_time.py db01:1521/SALES --label small --save small.json
    # change huge pages or pre_page_sga, restart the instance
    tests/bench/connect_time.py db01:1521/SALES --label huge --save huge.json
    tests/bench/connect_time.py --compare small.json huge.json

A connection is measured in stages: TCP handshake, ACCEPT of the server process that the listener
starts, and its answer to the first request of the client (protocol negotiation). By then the server
process has attached the SGA, and has read each page of it where pre_page_sga is in force. There is
no logon: no password is required, and no account is locked.

--rejected adds a logon that the database rejects (ORA-01017), as an account that does not exist.
--user NAME adds a complete logon, with the password from HOSTPROOF_PASSWORD or the terminal. Both
require python-oracledb (thin). Each connection adds a line to listener.log, and a rejected logon
also adds one to the audit trail. --compare prints the files side by side, and the share of the
slowest run that the fastest saves: this is the cost of the change between the two runs.
"""

import argparse
import getpass
import json
import os
import socket
import struct
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "module_utils")]

from hostproof.errors import ParseError  # noqa: E402
from hostproof.parsers.oracle import tns_packet  # noqa: E402

TCP, ACCEPT, SERVER, LOGON = "tcp", "accept", "server", "logon"
STAGES = (TCP, ACCEPT, SERVER, LOGON)
#: DATA with protocol negotiation: its number, the versions, and the name of the client.
NEGOTIATION = b"\0\0\x01\x06\0hostproof\0"
TIMEOUT = 60.0
#: RESEND and REDIRECT that one connection follows.
MOST_TURNS = 4
#: An account that no database has.
NOBODY = "HOSTPROOF_NOBODY"
REFUSED = "ORA-01017"


class Failed(Exception):
    """The connection ended early; the text has the reason."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", nargs="?", metavar="HOST:PORT/SERVICE")
    parser.add_argument("--connections", type=int, default=20, metavar="N")
    parser.add_argument("--label", default="run")
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--rejected", action="store_true", help="up to a rejected logon")
    parser.add_argument("--user", help="a whole logon as this user")
    chosen = parser.parse_args(arguments)
    if chosen.compare:
        print(compared([json.loads(path.read_text()) for path in chosen.compare]))
        return 0
    if not chosen.target or chosen.connections < 1:
        parser.error("name HOST:PORT/SERVICE, or files after --compare")
    try:
        logon = logon_of(chosen.target, chosen.user, chosen.rejected)
        run = measured(chosen.target, chosen.connections, chosen.label, logon)
    except (Failed, ParseError, OSError) as problem:
        print(f"{chosen.target}: {problem}", file=sys.stderr)
        return 1
    print(compared([run]))
    if chosen.save:
        chosen.save.write_text(json.dumps(run, indent=1) + "\n")
    return 0


def measured(target: str, connections: int, label: str, logon=None) -> dict:
    """``ms`` has a list of milliseconds since the start for each stage that was reached."""
    address, _, service = target.partition("/")
    host, _, port = address.rpartition(":")
    times: dict[str, list[float]] = {}
    for _ in range(connections):
        one = connection(host.strip("[]"), int(port), service)
        if logon is not None:
            began = time.monotonic()
            logon()
            one[LOGON] = time.monotonic() - began
        for stage, seconds in one.items():
            times.setdefault(stage, []).append(round(1000 * seconds, 3))
    return {"label": label, "target": target, "ms": times}


def connection(host: str, port: int, service: str) -> dict[str, float]:
    """Seconds from the start to each stage of one connection."""
    began = time.monotonic()
    data = f"(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME={service})(CID=(PROGRAM=hostproof))))"
    request = tns_packet.connect(data)
    times: dict[str, float] = {}
    for _ in range(MOST_TURNS):
        with socket.create_connection((host, port), TIMEOUT) as stream:
            times.setdefault(TCP, time.monotonic() - began)
            answer = asked(stream, request)
            if isinstance(answer, tns_packet.Resend):
                answer = asked(stream, request)
            if isinstance(answer, tns_packet.Redirect):
                host, port = answer.host, answer.port
                request = tns_packet.connect(answer.connect_data, tns_packet.AFTER_REDIRECT)
                continue
            if not isinstance(answer, tns_packet.Accept):
                raise Failed(getattr(answer, "text", "") or "no ACCEPT: RESEND again and again")
            times[ACCEPT] = time.monotonic() - began
            if negotiated(stream):
                times[SERVER] = time.monotonic() - began
            return times
    raise Failed("REDIRECT again and again")


def asked(stream: socket.socket, request: bytes) -> tns_packet.Answer:
    stream.sendall(request)
    data = b""
    while True:
        answer = tns_packet.answer(tns_packet.split(data)[0])
        if answer is not None:
            return answer
        piece = stream.recv(4096)
        if not piece:
            raise Failed("the connection was closed before ACCEPT")
        data += piece


def negotiated(stream: socket.socket) -> bool:
    """Whether the server process answered; False where it demands native encryption first."""
    head = struct.pack(">HHBBH", 8 + len(NEGOTIATION), 0, tns_packet.DATA, 0, 0)
    try:
        stream.sendall(head + NEGOTIATION)
        return bool(stream.recv(4096))
    except ConnectionError:
        return False


def logon_of(target: str, user: str | None, refused: bool):
    """A function that logs on, or whose logon is rejected; None without either."""
    if not user and not refused:
        return None
    try:
        import oracledb
    except ImportError:
        raise Failed("--user and --rejected need python-oracledb: pip install oracledb") from None
    password = "-"
    if user:
        password = os.environ.get("HOSTPROOF_PASSWORD") or getpass.getpass()

    def logon() -> None:
        try:
            oracledb.connect(user=user or NOBODY, password=password, dsn=target).close()
        except oracledb.Error as problem:
            if user or REFUSED not in str(problem):
                raise Failed(str(problem).splitlines()[0]) from None

    return logon


def compared(runs: list[dict]) -> str:
    """A row for each run and stage, then the time that the fastest run saves."""
    form = "{:<16}{:<8}{:>6}{:>12}{:>12}{:>12}"
    lines = [form.format("run", "stage", "n", "p50 ms", "p99 ms", "most ms")]
    for run in runs:
        for stage in STAGES:
            times = sorted(run["ms"].get(stage, []))
            if times:
                high = times[min(len(times) - 1, int(len(times) * 0.99))]
                figures = [f"{value:.2f}" for value in (median(times), high, times[-1])]
                lines.append(form.format(run["label"][:15], stage, len(times), *figures))
    last = [stage for stage in STAGES if all(stage in run["ms"] for run in runs)]
    if len(runs) > 1 and last:
        p50 = {run["label"]: median(run["ms"][last[-1]]) for run in runs}
        slow, fast = max(p50, key=p50.__getitem__), min(p50, key=p50.__getitem__)
        share = 100 * (p50[slow] - p50[fast]) / p50[slow] if p50[slow] else 0.0
        lines.append(
            f"{fast} saves {p50[slow] - p50[fast]:.2f} ms of {p50[slow]:.2f} ms of {slow} "
            f"({share:.1f}%), up to stage {last[-1]}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
