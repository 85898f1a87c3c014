"""How many hosts an audit asks at once where nobody says it."""

from pathlib import Path

import pytest
from cases import cases
from hostproof_controller.cli import forks

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

GIB = 1024**3
ROOT = Path(__file__).resolve().parents[2]


def machine(
    folder: Path, available: str, cgroup: str = "0::/\n", **limits: str
) -> tuple[Path, Path]:
    """Its /proc and /sys/fs/cgroup. ``limits``: what a file says, by its path with _ for /."""
    proc, groups = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text(f"MemTotal:  999999999 kB\n{available}")
    (proc / "self/cgroup").write_text(cgroup)
    for name, text in limits.items():
        file = groups.joinpath(*name.split("_"))
        file = file.with_name(
            {"max": "memory.max", "high": "memory.high", "v1": "memory.limit_in_bytes"}[file.name]
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    return proc, groups


def kilobytes(gib: float) -> str:
    return f"MemAvailable:   {int(gib * 1024 * 1024)} kB\n"


V1 = "12:pids:/x\n4:cpu,memory:/docker/abc\n1:name=systemd:/x\n"


@cases(
    "available cgroup limits found",
    (kilobytes(6), "0::/\n", {}, 200),
    (kilobytes(5.9), "0::/\n", {}, None),
    # Nobody tells: macOS has no such file, a kernel before 3.14 no such line.
    ("", "0::/\n", {}, None),
    ("MemAvailable: much kB\n", "0::/\n", {}, None),
    # A container of version 2 sees its own group as the top.
    (kilobytes(64), "0::/\n", {"max": "max"}, 200),
    (kilobytes(64), "0::/\n", {"max": str(4 * GIB)}, None),
    (kilobytes(64), "0::/\n", {"max": str(6 * GIB)}, 200),
    # Beyond this one it is slowed down instead of killed.
    (kilobytes(64), "0::/a\n", {"a_max": "max", "a_high": str(GIB)}, None),
    # A group's own limit, and that of one that it is in.
    (kilobytes(64), "0::/a/b\n", {"a_b_max": str(GIB)}, None),
    (kilobytes(64), "0::/a/b\n", {"a_b_max": "max", "a_max": str(GIB)}, None),
    (kilobytes(64), "0::/a/b\n", {"a_c_max": str(GIB)}, 200),
    # Version 1, whose path in a container is the machine's; no limit is a very large one.
    (kilobytes(64), V1, {"memory_v1": str(2 * GIB)}, None),
    (kilobytes(64), V1, {"memory_docker_abc_v1": str(2 * GIB)}, None),
    (kilobytes(64), V1, {"memory_v1": "9223372036854771712"}, 200),
    (kilobytes(64), V1, {"pids_v1": "1"}, 200),
    (kilobytes(64), "what is this\n", {}, 200),
)
def test_many_where_there_is_room_for_them(tmp_path, available, cgroup, limits, found):
    assert forks.in_this_memory(*machine(tmp_path, available, cgroup, **limits)) == found


def test_nothing_is_known_of_a_machine_without_the_files(tmp_path):
    assert forks.in_this_memory(tmp_path, tmp_path) is None


def test_another_number_in_ansible_cfg_is_somebody_s_will(tmp_path):
    ours = (ROOT / "ansible.cfg").read_text()
    assert forks.are_ours(ROOT / "ansible.cfg")
    for other in ("forks = 20", "forks = 1000", "#forks = 100", ""):
        settings = tmp_path / "ansible.cfg"
        settings.write_text(ours.replace("forks = 100", other))
        assert not forks.are_ours(settings), other
    assert not forks.are_ours(tmp_path / "none")
