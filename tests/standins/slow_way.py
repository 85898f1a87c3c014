#!/usr/bin/env python3
"""STAND-IN for a way of known length: a proxy that passes replies on late.

slow_way.py LISTEN_PORT PORT MILLISECONDS MORE FILE WORD

Both ports are of 127.0.0.1. Each reply comes MILLISECONDS late, and MORE milliseconds later as
long as FILE contains WORD: somebody's old tuning that a change wakes up. Standard library only.
"""

import socket
import sys
import threading
import time


def delay(usual, more, path, word):
    try:
        with open(path) as stream:
            return usual + (more if word in stream.read() else 0.0)
    except FileNotFoundError:
        return usual


def pass_on(source, target, seconds):
    """Copy what comes until it ends; ``seconds`` tells how late."""
    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while True:
            piece = source.recv(65536)
            if not piece:
                break
            time.sleep(seconds())
            target.sendall(piece)
    except OSError:
        pass
    for connection in (source, target):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    listen, port = int(sys.argv[1]), int(sys.argv[2])
    usual, more = (int(text) / 1000.0 for text in sys.argv[3:5])
    path, word = sys.argv[5:]
    server = socket.create_server(("127.0.0.1", listen))
    while True:
        near, _address = server.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for source, target, seconds in (
            (near, far, lambda: 0.0),
            (far, near, lambda: delay(usual, more, path, word)),
        ):
            threading.Thread(target=pass_on, args=(source, target, seconds), daemon=True).start()


if __name__ == "__main__":
    main()
