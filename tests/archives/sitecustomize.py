"""Lets the plays of all tests share the archives that Ansible packs its modules into; counts them.

ansible-playbook packs a module with all that it imports anew in each run, which is half of what a
short play costs, and the tests run hundreds with the same modules. Nothing else is changed: what a
run finds is what it would have packed, for a share is of one state of all that may go into it.

Python imports a file of this name by itself where its folder is in PYTHONPATH, which tests/run
sees to. Every Python of the tests does so, and 3.6 as well: what is no ansible-playbook of 3.11 or
newer must not notice.
"""

import sys


def share():
    """Bring the archives of earlier runs into this one's folder, and its own to theirs at its end.

    Copies, for only a part of Ansible's releases lock them against other runs.
    """
    import contextlib
    import os
    import shutil
    import tempfile

    make, remove = tempfile.mkdtemp, shutil.rmtree
    folders = {}

    def mkdtemp(suffix=None, prefix=None, dir=None):  # noqa: A002 - as the one it stands for
        made = make(suffix, prefix, dir)
        if prefix and str(prefix).startswith("ansible-local-"):
            own = os.path.join(made, "ansiballz_cache")
            os.mkdir(own)
            # Somebody may begin anew meanwhile, or there may be no room: then it is packed here.
            with contextlib.suppress(OSError):
                folders[made] = shared = folder_of_this_state()
                for name in whole(shared):
                    bring(os.path.join(shared, name), os.path.join(own, name))
        return made

    def rmtree(path, *arguments, **options):
        shared = folders.pop(path, None)
        if shared is not None:
            own = os.path.join(path, "ansiballz_cache")
            with contextlib.suppress(OSError):
                for name in whole(own) - whole(shared):
                    bring(os.path.join(own, name), os.path.join(shared, name))
        remove(path, *arguments, **options)

    def whole(folder):
        return {name for name in os.listdir(folder) if not name.endswith((".lock", "-part"))}

    def bring(source, target):
        """Under its name a file is whole, or it is not there. Ansible does the same."""
        partial = f"{target}.{os.getpid()}-part"
        shutil.copyfile(source, partial)
        os.replace(partial, target)

    tempfile.mkdtemp, shutil.rmtree = mkdtemp, rmtree


def folder_of_this_state():
    """The share of this Ansible, this Python and these sources of modules."""
    import glob
    import hashlib
    import os

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    packages = os.path.join(sys.prefix, "lib", "python{}.{}".format(*sys.version_info))
    state = hashlib.sha256(sys.version.encode())
    for release in sorted(glob.glob(packages + "/site-packages/ansible_core-*")):
        state.update(release.encode())
    modules = os.environ.get("ANSIBLE_LIBRARY", os.path.join(root, "library")).split(":")
    for folder in [*modules, os.path.join(root, "module_utils")]:
        for base, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(name for name in names if name.endswith(".py")):
                with open(os.path.join(base, name), "rb") as source:
                    state.update(os.path.relpath(source.name, folder).encode() + b"\0")
                    state.update(source.read())
    cache = os.path.join(root, ".cache", "archives", state.hexdigest()[:32])
    os.makedirs(cache, exist_ok=True)
    return cache


def note_run(words):
    """At its end, what this run of Ansible was of and how long it took: tests/run sums that up."""
    import atexit
    import contextlib
    import os
    import time

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.path.join(root, ".cache", "logs", "ansible-runs.txt")
    began, me = time.time(), os.getpid()
    books = [os.path.basename(word) for word in words if word.endswith(".yml")]
    what = books[-1] if books else "a module"

    def note():
        line = "{} {:.2f} {}\n".format(os.environ["TESTS_STAGE"], time.time() - began, what)
        # In one write, for others write too; and no test fails for it.
        with contextlib.suppress(OSError, KeyError):
            if os.getpid() == me:
                with open(path, "a") as stream:
                    stream.write(line)

    atexit.register(note)


def begin():
    """Nothing, but for Ansible of 3.11 or newer."""
    import os

    words = getattr(sys, "orig_argv", ())
    names = [os.path.basename(word) for word in words[:3]]
    if os.environ.get("TESTS_STAGE") and ("ansible-playbook" in names or "ansible" in names):
        note_run(words)
    if "ansible-playbook" in names:
        share()


if hasattr(sys, "orig_argv"):
    begin()
