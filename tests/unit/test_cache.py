"""What is kept for later runs: whole, made once, and only ours to write."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cases import cases
from hostproof_controller import cache
from hostproof_controller.remote import payload

ROOT = Path(__file__).resolve().parents[2]


def forget() -> None:
    """What this process knows."""
    for function in (cache.folder_of, payload.all_sources, payload._payload):
        function.cache_clear()


def fresh(monkeypatch, root: Path, home: Path | None) -> None:
    """Caches of this process as at its start, and folders of the test's own."""
    forget()
    parents = [directory for directory in (root, home) if directory is not None]
    monkeypatch.setattr(cache, "_parents", lambda: iter(parents))


@pytest.fixture
def clean(monkeypatch):
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.usefixtures("clean")
@pytest.mark.of_python
class TestKept:
    def test_folders_are_ours_alone_under_any_umask(self, monkeypatch, tmp_path):
        old = os.umask(0o002)
        try:
            fresh(monkeypatch, tmp_path / "cache", None)
            folder = payload._folder()
            cache.get_or_create(payload._folder() / "x", lambda: b"made")
        finally:
            os.umask(old)
        assert folder.parent.parent == tmp_path / "cache"
        for directory in (folder, folder.parent, tmp_path / "cache"):
            assert directory.stat().st_mode & 0o077 == 0
        assert (folder / "x").stat().st_mode & 0o077 == 0

    @cases("below", ".", "payload", "VERSION")
    def test_a_folder_that_others_may_write_is_not_used(self, monkeypatch, tmp_path, below):
        theirs = tmp_path / "cache"
        folder = theirs / "payload" / payload.version()
        folder.mkdir(parents=True)
        for directory in (theirs, theirs / "payload", folder):
            directory.chmod(0o700)
        (folder / "x").write_bytes(b"evil")
        bad = {".": theirs, "payload": theirs / "payload", "VERSION": folder}[below]
        bad.chmod(0o777)
        fresh(monkeypatch, theirs, tmp_path / "home")
        assert payload._folder().parent.parent == tmp_path / "home"
        assert cache.get_or_create(payload._folder() / "x", lambda: b"made") == b"made"

    def test_a_link_is_no_folder(self, monkeypatch, tmp_path):
        (tmp_path / "real").mkdir(mode=0o700)
        (tmp_path / "cache").symlink_to(tmp_path / "real")
        fresh(monkeypatch, tmp_path / "cache", tmp_path / "home")
        assert payload._folder().parent.parent == tmp_path / "home"

    @cases("harm", "empty", "cut", "changed", "theirs", "link")
    def test_a_file_that_is_not_whole_or_not_ours_is_made_again(self, monkeypatch, tmp_path, harm):
        fresh(monkeypatch, tmp_path / "cache", None)
        assert cache.get_or_create(payload._folder() / "x", lambda: b"made once") == b"made once"
        path = payload._folder() / "x"
        content = path.read_bytes()
        if harm == "empty":
            path.write_bytes(b"")
        elif harm == "cut":
            path.write_bytes(content[:-1])
        elif harm == "changed":
            path.write_bytes(content[:-1] + b"x")
        elif harm == "theirs":
            path.chmod(0o666)
        else:
            shutil.copy(path, tmp_path / "elsewhere")
            path.unlink()
            path.symlink_to(tmp_path / "elsewhere")
        assert cache.get_or_create(payload._folder() / "x", lambda: b"made again") == b"made again"
        assert cache.get_or_create(payload._folder() / "x", lambda: b"not made") == b"made again"

    def test_where_nothing_can_be_kept_a_run_has_a_folder_of_its_own(self, monkeypatch, tmp_path):
        (tmp_path / "file").write_text("")
        fresh(monkeypatch, tmp_path / "file", None)
        folder = payload._folder()
        try:
            assert folder.stat().st_mode & 0o777 == 0o700
            assert cache.get_or_create(payload._folder() / "x", lambda: b"made") == b"made"
        finally:
            cache._remove(folder, os.getpid())
        assert not folder.exists()

    def test_an_account_without_a_home(self, monkeypatch):
        def no_home() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(cache.Path, "home", no_home)
        assert list(cache._parents()) == [ROOT / ".cache"]

    def test_many_at_once_make_it_once(self, monkeypatch, tmp_path):
        fresh(monkeypatch, tmp_path / "cache", None)
        payload._folder()
        made: list[int] = []
        contents: list[bytes] = []

        def make() -> bytes:
            made.append(1)
            return b"x" * 100_000

        threads = [
            threading.Thread(
                target=lambda: contents.append(cache.get_or_create(payload._folder() / "x", make))
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert contents == [b"x" * 100_000] * 8
        assert len(made) == 1

    def test_what_is_kept_is_taken_without_a_look_at_the_sources(self, monkeypatch, tmp_path):
        """Each worker takes it: reading all sources anew costs ten times as much."""
        sources = payload.all_sources()
        fresh(monkeypatch, tmp_path / "cache", None)
        monkeypatch.setattr(payload, "all_sources", lambda: sources)
        whole = payload.payload_for("verify_controls", ["io_pacing"])
        payload._payload.cache_clear()
        monkeypatch.setattr(payload, "all_sources", lambda: pytest.fail("sources were read"))
        assert payload.payload_for("verify_controls", ["io_pacing"]) == whole

    def test_two_runs_at_once_build_the_same(self, tmp_path):
        code = (
            "import sys; from pathlib import Path\n"
            "from hostproof_controller import cache\n"
            "from hostproof_controller.remote import payload\n"
            f"cache._parents = lambda: iter([Path({str(tmp_path / 'cache')!r})])\n"
            "import hashlib\n"
            "print(hashlib.sha256(payload.payload_for('change_journal', [])).hexdigest())\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "plugin_utils")}
        runs = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
            for _ in range(2)
        ]
        outputs = [run.communicate()[0] for run in runs]
        assert outputs[0] == outputs[1] != b""
        files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
        assert not [path for path in files if path.name.startswith(".") and path.name != ".lock"]

    def test_old_versions_are_forgotten(self, monkeypatch, tmp_path):
        for number in range(9):
            old = tmp_path / f"cache/payload/{number:032x}"
            old.mkdir(parents=True)
            os.utime(old, (number, number))
        for directory in (tmp_path / "cache", tmp_path / "cache/payload"):
            directory.chmod(0o700)
        fresh(monkeypatch, tmp_path / "cache", None)
        there = {path.name for path in payload._folder().parent.iterdir()}
        assert there == {payload.version(), *(f"{number:032x}" for number in range(5, 9))}


def test_a_version_is_read_once_for_each_state_of_the_files(monkeypatch, tmp_path):
    fresh(monkeypatch, tmp_path / "cache", None)
    source = tmp_path / "module_utils/hostproof/a.py"
    source.parent.mkdir(parents=True)
    source.write_text("A = 1\n")
    monkeypatch.setattr(payload, "ROOT", tmp_path)
    monkeypatch.setattr(payload, "LIBRARY", tmp_path / "library")
    read: list[int] = []

    def version(recent: float) -> str:
        monkeypatch.setattr(payload, "_RECENT", recent)
        for function in (payload.version, payload._read):
            function.cache_clear()
        monkeypatch.setattr(payload, "_version", lambda: read.append(1) or original())
        return payload.version()

    original = payload._version
    first = version(-1e6)
    assert version(-1e6) == first and len(read) == 1
    # A change with the same size and time of change of the content.
    look = source.stat()
    source.write_text("A = 2\n")
    os.utime(source, ns=(look.st_atime_ns, look.st_mtime_ns))
    second = version(-1e6)
    assert second != first and len(read) == 2
    # What was changed a moment ago can change again at the same time.
    assert version(60) == version(60) == second and len(read) == 4
    for function in (payload.version, payload._read):
        function.cache_clear()
