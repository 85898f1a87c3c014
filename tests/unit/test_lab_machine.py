"""The lab's machine as far as no QEMU is needed: kernels that are unpacked, clocks, greetings."""

import gzip
import lzma
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cases import cases

pytestmark = pytest.mark.one_core

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machines import images, snapshot, vm  # noqa: E402
from machines.monitor import MonitorError, connected  # noqa: E402

KERNEL = b"\x7fELF" + bytes(range(256)) * 64


@cases("compress", gzip.compress, lzma.compress)
def test_the_kernel_in_vmlinuz_is_found_behind_code_and_false_beginnings(compress):
    false = b"\x1f\x8b\x08 looks like gzip, \xfd7zXZ\0 like xz"
    vmlinuz = b"MZ the boot sector" + false + compress(KERNEL) + b"what follows"
    assert images.unpacked(vmlinuz) == KERNEL


def test_a_kernel_in_another_compression_is_left_to_qemu(tmp_path):
    (tmp_path / "vmlinuz").write_bytes(b"MZ" + b"\x28\xb5\x2f\xfd of zstd")
    assert images.kernel(tmp_path) == tmp_path / "vmlinuz"
    assert images.unpacked(gzip.compress(b"no kernel")) is None


def test_an_unpacked_kernel_is_kept(tmp_path):
    (tmp_path / "vmlinuz").write_bytes(b"MZ" + gzip.compress(KERNEL))
    assert images.kernel(tmp_path).read_bytes() == KERNEL
    (tmp_path / "vmlinuz").unlink()
    assert images.kernel(tmp_path) == tmp_path / "vmlinux"
    assert [path.name for path in tmp_path.iterdir()] == ["vmlinux"]


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A port that accepts like QEMU's; what a guest says there."""
    state = tmp_path / "vm.json"
    monkeypatch.setattr(vm, "STATE", state)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        state.write_text(f'{{"port": {listening.getsockname()[1]}}}')
        yield listening


def test_a_port_that_only_accepts_is_no_machine_that_listens(server):
    assert not vm.greets()


def test_a_banner_of_ssh_is(server):
    def greet():
        with server.accept()[0] as connection:
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    thread = threading.Thread(target=greet)
    thread.start()
    assert vm.greets()
    thread.join()


def test_a_monitor_that_is_missing_is_said(tmp_path):
    with pytest.raises(MonitorError, match="does not answer"), connected(tmp_path):
        pass


def test_a_snapshot_fits_one_image_and_one_set_of_arguments(tmp_path, monkeypatch):
    class Done:
        stdout = "QEMU emulator version 7.2.0"

    monkeypatch.setattr(snapshot.subprocess, "run", lambda *_args, **_options: Done())
    monkeypatch.setattr(snapshot.shared_cache, "folder", lambda: tmp_path)
    places = {
        snapshot.place(Path("/images/lab-1"), ["-m", "1024"]),
        snapshot.place(Path("/images/lab-2"), ["-m", "1024"]),
        snapshot.place(Path("/images/lab-1"), ["-m", "2048"]),
    }
    assert len(places) == 3
    assert not any(map(snapshot.exists, places))


def test_the_clock_of_the_hardware_is_told_the_time_in_the_kernels_form(monkeypatch):
    calls = []
    monkeypatch.setattr("time.clock_settime", lambda *arguments: calls.append(arguments))
    monkeypatch.setattr("fcntl.ioctl", lambda _file, *arguments: calls.append(arguments))
    code = vm.SET_CLOCKS.format(now=1_767_225_599).replace("/dev/rtc0", "/dev/null")
    exec(compile(code, "set clocks", "exec"), {})  # noqa: S102
    (_clock, now), (request, fields) = calls
    assert (now, request) == (1_767_225_599, 0x4024700A)
    # 2025-12-31 23:59:59 as struct rtc_time: months from 0, years from 1900.
    assert struct.unpack("9i", fields) == (59, 59, 23, 31, 11, 125, 0, 0, 0)


@cases(
    "words ends",
    (["test", "-s", "lab"], True),
    (["test", "-s", "lab", "--destroy=never"], False),
    (["converge", "-s", "lab"], False),
)
def test_a_machine_ends_with_the_molecule_that_would_end_it(words, ends, tmp_path):
    """The real parents of a process: a program of that name, and a shell as Ansible's."""
    asks = f"import sys; sys.path.insert(0, {str(Path(vm.__file__).parents[1])!r}); "
    asks += "from machines import vm; print(vm.molecule_test())"
    molecule = tmp_path / "molecule"
    molecule.write_text(
        "import os, subprocess, sys\n"
        f"ask = subprocess.run(['sh', '-c', '\"$@\"; true', 'x', sys.executable, '-c', {asks!r}], "
        "stdout=subprocess.PIPE, text=True)\n"
        "print(os.getpid(), ask.stdout)\n"
    )
    done = subprocess.run(
        [sys.executable, str(molecule), *words], capture_output=True, text=True, timeout=60
    )
    own, parent = done.stdout.split()
    assert parent == (own if ends else "None"), done.stderr


@pytest.fixture
def qemu(tmp_path):
    """QEMU's end of a monitor; what it says after the greeting and the capabilities."""
    responses = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "monitor"))
        listening.listen()

        def answer():
            with listening.accept()[0] as connection, connection.makefile("rwb") as stream:
                stream.write(b'{"QMP": {}}\n')
                stream.flush()
                for _order in stream:
                    lines = responses.pop(0) if responses else [b'{"return": {}}']
                    stream.write(b"".join(line + b"\n" for line in lines))
                    stream.flush()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield tmp_path, responses
    thread.join(timeout=60)


def test_an_event_is_told_from_others_and_from_answers(qemu):
    folder, responses = qemu
    responses += [
        [b'{"return": {}}'],
        [
            b'{"event": "RTC_CHANGE"}',
            b'{"return": {}}',
            b'{"event": "STOP"}',
            b'{"event": "RESET"}',
        ],
    ]
    with connected(folder) as monitor:
        assert monitor.order("query-status") == {}
        monitor.wait_for_event("RESET", 20)


def test_an_event_that_does_not_come_and_an_order_that_is_refused_are_said(qemu):
    folder, responses = qemu
    responses += [[b'{"return": {}}'], [b'{"error": {"desc": "no such thing"}}']]
    with connected(folder) as monitor:
        with pytest.raises(MonitorError, match="refused migrate: no such thing"):
            monitor.order("migrate")
        with pytest.raises(MonitorError, match="did not report RESET within 0 s"):
            monitor.wait_for_event("RESET", 0.2)


def test_a_status_that_cannot_become_the_wanted_one_is_said_at_once(qemu):
    folder, responses = qemu
    responses += [[b'{"return": {}}'], [b'{"return": {"status": "failed"}}']]
    with connected(folder) as monitor, pytest.raises(MonitorError, match="failed instead of done"):
        monitor.wait_until("query-migrate", "done", ("failed",), 20)
