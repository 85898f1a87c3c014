"""Runs on a machine: modules in forks of one process that has imported them.

In an emulated machine most of a module's time is the start of Python and the imports. This process
does both once. A request is a line of JSON on standard input, {"module": NAME, "input": TEXT}, and
its answer is a line on standard output, {"status": N, "out": TEXT, "err": TEXT}. A fork runs the
module as a process of its own would: with the input as its standard input, and nothing left over
from the request before. This process never runs a module itself; it only imports.
"""

import atexit
import contextlib
import importlib
import json
import os
import sys
import tempfile

PACKAGES = ("ansible.", "json.", "multiprocessing.")


def main():
    requests = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    # Nothing but the requests and answers goes over the connection.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    for line in requests:
        answers.write(json.dumps(answer(**json.loads(line))) + "\n")
        answers.flush()


def answer(module, input):  # noqa: A002 - the name in the request
    """What a fork printed and ended with."""
    code = importlib.import_module("ansible.modules." + module)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(4)]
        files[0].write(input.encode())
        files[0].seek(0)
        child = os.fork()
        if child == 0:
            run(code, files)
        status = os.waitpid(child, 0)[1]
        for stream in files:
            stream.seek(0)
        out, err, loaded = (stream.read().decode() for stream in files[1:])
    # What a module imports while it runs is there before the next fork.
    for name in loaded.split():
        importlib.import_module(name)
    ended = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    return {"status": ended, "out": out, "err": err}


def run(code, files):
    """In the fork: the module's main, with its own standard streams. It does not return."""
    status = 1
    try:
        for number, stream in enumerate(files[:3]):
            os.dup2(stream.fileno(), number)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        sys.argv = [code.__file__]
        known = set(sys.modules)
        try:
            code.main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            sys.excepthook(*sys.exc_info())
        new = [name for name in set(sys.modules) - known if name.startswith(PACKAGES)]
        files[3].write("\n".join(sorted(new)).encode())
        files[3].flush()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
