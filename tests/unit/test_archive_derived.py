"""Output of commands that archives do not have, from output with the same facts."""

import calendar
import time

from ansible.module_utils.hostproof.parsers.net import ip_addr
from cases import cases
from hostproof_controller.archives import derived, listing, process_list, sections

UNITS = """\
  UNIT                         LOAD   ACTIVE SUB     DESCRIPTION
  multi-user.target            loaded active active  Multi-User System
● kdump.service                loaded failed failed  Crash recovery kernel arming

LOAD   = Reflects whether the unit definition was properly loaded.

2 loaded units listed. Pass --all to see loaded but inactive units, too.
"""

UNIT_FILES = """\
UNIT FILE                    STATE           PRESET
multi-user.target            indirect        disabled
tuned.service                disabled        enabled
chronyd.service              enabled         enabled

3 unit files listed.
"""


#: ``ls -a`` prints the directory itself.
DOT = "drwxr-xr-x. 2 0 0 18 Mar 12  2024 .\n"


def test_packages():
    line = '{"name":"bash","epoch":"(none)","version":"5.1.8","release":"9.el9","arch":"x86_64"}\n'
    assert derived.packages_of_json(line) == "bash\t(none):5.1.8-9.el9\tx86_64\tinstalled\n"
    assert derived.packages_of_json(line + "garbage\n") is None
    assert derived.packages_of_json(line + '{"name": "a"}\n') is None
    assert derived.packages_of_json("") is None
    names = "shell-init: error retrieving current directory: getcwd\n" + (
        "NetworkManager-libnm-1.14.0-14.el8.x86_64      Fri Sep 27 11:51:34 2019\n"
    )
    text = derived.packages_of_names(names)
    assert text == "NetworkManager-libnm\t1.14.0-14.el8\tx86_64\tinstalled\n"
    assert derived.packages_of_names(names + "cut off\n") is None


#: ``ip addr`` of CentOS 7.9 (iproute2 4.11), without its last interfaces; addresses replaced.
ADDRESSES = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
    inet6 ::1/128 scope host
       valid_lft forever preferred_lft forever
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc pfifo_fast state UP qlen 1000
    link/ether 52:54:00:a1:d5:64 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.26/22 brd 192.0.3.255 scope global dynamic eth0
       valid_lft 42870sec preferred_lft 42870sec
"""


def test_addresses():
    text = derived.addresses(ADDRESSES)
    assert [
        (entry.interface, entry.address, str(entry.network)) for entry in ip_addr.parse(text)
    ] == [
        ("lo", "127.0.0.1", "127.0.0.0/8"),
        ("lo", "::1", "::1/128"),
        ("eth0", "192.0.2.26", "192.0.0.0/22"),
    ]
    assert derived.addresses(ADDRESSES.partition("\n")[2]) is None
    assert derived.addresses(ADDRESSES + "Cannot send dump request: Connection refused\n") is None
    assert derived.addresses("") is None


def test_units():
    units = derived.active_units(UNITS)
    assert units == {"multi-user.target": "active", "kdump.service": "failed"}
    answer = derived.is_active(units, ["multi-user.target", "graphical.target"])
    assert (answer["rc"], answer["stdout"]) == (0, "active\ninactive\n")
    assert derived.is_active(units, ["kdump.service"])["rc"] == 3
    assert derived.active_units(UNITS.rpartition("2 loaded")[0]) is None


def test_unit_files():
    files = derived.unit_files(UNIT_FILES)
    assert derived.is_enabled(files, "chronyd.service")["rc"] == 0
    assert derived.is_enabled(files, "tuned.service") == {
        "rc": 1,
        "stdout": "disabled\n",
        "stderr": "",
    }
    assert "No such file" in derived.is_enabled(files, "ntpd.service")["stderr"]
    assert derived.unit_files(UNIT_FILES.rpartition("3 unit")[0]) is None


def test_the_mode_of_selinux():
    assert derived.selinux_mode("Enforcing\n") == "enforcing"
    status = "SELinux status:                 enabled\nCurrent mode:                   permissive\n"
    assert derived.selinux_mode(status + "Mode from config file:   enforcing\n") == "permissive"
    assert derived.selinux_mode("SELinux status:                 disabled\n") == "disabled"
    assert derived.selinux_mode("SELinux status:                 enabled\n") is None
    assert derived.selinux_mode("getenforce: not found\n") is None


def test_the_static_host_name():
    assert derived.static_host_name("   Static hostname: db1.example.com\n") == "db1.example.com"
    assert derived.static_host_name("   Static hostname: n/a\n") is None
    assert derived.static_host_name("Transient hostname: db1\n") is None


@cases("date", "Fri Apr 19 20:20:03 UTC 2024", "Fri Apr 19 08:20:03 PM UTC 2024\n")
def test_dates(date):
    assert calendar.timegm(derived.moment_of(date)) == 1713558003
    assert derived.moment_of(date.replace("UTC", "EDT")) is None


def test_a_directory_with_a_line_that_is_not_understood_is_unknown():
    text = (
        "/a:\ntotal 0\n"
        + DOT
        + "-rw-r--r--. 1 0 0 5 Mar 12  2024 one\n\n/b:\n?????????? ? ? ? ? ? two\n"
    )
    listed = listing.parse(text)
    assert set(listed.folders) == {"/a"}
    assert set(listed.folders["/a"]) == {"one"}


def test_a_directory_of_which_lines_were_filtered_is_unknown():
    """Insights keeps some lines of ls -la of /tmp and /usr/bin, without the line of "."."""
    listed = listing.parse("/tmp:\n\n/usr/bin:\n-rwxr-xr-x. 1 0 0 5 Mar 12  2024 ls\n")
    assert listed.folders == {}


def test_forms_of_listings():
    """With a context of SELinux, a device, a link and a blank in the name."""
    text = """/d:
drwxr-xr-x. 2 0 0 18 Mar 12  2024 .
drwxr-xr-x. 2 root root system_u:object_r:etc_t:s0 28 Mar 12 10:00 with blank
brw-rw----. 1 0 6 253, 0 Mar 12 10:00 dm-0
lrwxrwxrwx. 1 0 0 7 Mar 12  2024 lib -> usr/lib
-rw-r--r-- 1 root root 449 2024-03-12 10:00 iso
"""
    entries = listing.parse(text).folders["/d"]
    assert {name: entry.type for name, entry in entries.items()} == {
        "with blank": "d",
        "dm-0": "b",
        "lib": "l",
        "iso": "-",
    }
    assert entries["lib"].target == "usr/lib"


def test_a_list_of_processes_needs_its_head_and_the_first_process():
    row = "root 1 /usr/lib/systemd/systemd --switched-root\n"
    assert process_list.parse("USER PID COMMAND\n" + row) == [
        ("root", 1, "/usr/lib/systemd/systemd --switched-root")
    ]
    assert process_list.parse(row) is None
    assert process_list.parse("USER PID COMMAND\nroot 2 [kthreadd]\n") is None
    assert process_list.parse("") is None


@cases(
    "line",
    "-rw-r--r--. 1 0 0 " + "a:" * 2_000_000,
    "a-" * 2_000_000 + "x",
    ".a" * 2_000_000,
    "/bin/ls: cannot access '/" + "a" * 2_000_000,
    "#==[ " + " a" * 2_000_000,
    ids=["listing", "package", "unit", "missing", "section"],
)
def test_a_line_without_end_takes_no_time(line):
    started = time.process_time()
    listing.parse(f"/a:\n{line}\n")
    derived.packages_of_names(line)
    derived.active_units(f"{line}\n1 loaded units listed\n")
    derived.unit_files(f"{line}\n1 unit files listed\n")
    sections.parse(f"{line}\n# {line}\n")
    process_list.parse(f"USER PID COMMAND\nroot {line}\nroot 1 init\n")
    assert time.process_time() - started < 5


def test_a_number_without_end_is_no_process():
    rows = process_list.parse(f"USER PID COMMAND\nroot {'9' * 10_000} x\nroot 1 init\n")
    assert rows == [("root", 1, "init")]
