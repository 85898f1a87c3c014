"""How the kernel reads a number: a table, and the real kernel that it is compared with.

MEASURED rows are what Linux 6.18 (x86-64) answered; test_this_kernel_answers_so asks the kernel
that the tests run on, in a network namespace of its own, by two keys that have the handlers of the
judged ones: net.ipv4.ipfrag_high_thresh (proc_doulongvec_minmax, as vm.nr_hugepages) and
net.ipv4.igmp_max_memberships (proc_dointvec, as vm.hugetlb_shm_group).
"""

import json
import shutil
import subprocess
import sys

import pytest
from ansible.module_utils.hostproof.parsers.kernel import sysctl_number
from ansible.module_utils.hostproof.parsers.kernel.sysctl_number import INT, LIMITS, UNSIGNED_LONG
from cases import cases

#: (what is written, what an unsigned long becomes, what an int becomes); None: refused, unchanged.
MEASURED = [
    *(("8194", 8194, 8194), ("08194", None, None), ("010240", 4256, 4256), ("0x2002", 8194, 8194)),
    *(("0X2002", 8194, 8194), ("0x", None, None), ("0xg", None, None), ("0", 0, 0), ("00", 0, 0)),
    *(("8194\n", 8194, 8194), ("8194 ", 8194, 8194), (" \t\v8194", 8194, 8194)),
    *(("8194\r", None, None), ("8194 # pages", 8194, 8194), ("8194\t8195", 8194, 8194)),
    *(("1 2 x", 1, 1), ("8194p", None, None), ("4G", None, None), ("8194k", None, None)),
    *(("8194;", None, None), ("8,194", None, None), ("8_194", None, None), ("8194.0", None, None)),
    *(("1e4", None, None), ("+8194", None, None), ("-8194", None, -8194), ("-0", None, 0)),
    *(("-", None, None), ("- 5", None, None), ("--5", None, None), ("-0x10", None, -16)),
    *(("\n", None, None), ("abc", None, None), ("'8194'", None, None), ('"8194"', None, None)),
    *(("$((8194))", None, None), ("0b10", None, None), ("0o17", None, None)),
    *(("00000000000000020002", 8194, 8194), ("000000000000000020002", None, None)),
    *(("2147483647", 2147483647, 2147483647), ("2147483648", 2147483648, None)),
    *(("-2147483648", None, -2147483648), ("-2147483649", None, None)),
    *(("4294967296", 4294967296, None), ("18446744073709551615", 18446744073709551615, None)),
    *(("18446744073709551616", None, None), ("99999999999999999999999", None, None)),
    *(("\u00b2", None, None), ("\u0665", None, None)),
]

#: Writes each text after 77 and says what is there then; None where the kernel refused it.
ASK = """
import json, os, sys
def write(path, text):
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)
def become(path, text):
    write(path, "77")
    try:
        write(path, text)
    except OSError as problem:
        assert int(open(path).read()) == 77
        return None
    return int(open(path).read())
write("/proc/sys/net/ipv4/ipfrag_low_thresh", "0")
paths = ["/proc/sys/net/ipv4/ipfrag_high_thresh", "/proc/sys/net/ipv4/igmp_max_memberships"]
print(json.dumps([[become(path, text) for path in paths] for text in json.load(sys.stdin)]))
"""


@pytest.mark.parametrize(("text", "unsigned", "signed"), MEASURED)
def test_as_the_kernel_reads_it(text, unsigned, signed):
    assert sysctl_number.read(text, UNSIGNED_LONG).value == unsigned
    assert sysctl_number.read(text, INT).value == signed


def test_this_kernel_answers_so():
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare(1)")
    texts = json.dumps([text for text, _unsigned, _signed in MEASURED])
    argv = ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", ASK]
    done = subprocess.run(argv, input=texts, capture_output=True, text=True, check=False)
    if done.returncode and ("unshare" in done.stderr or "FileNotFound" in done.stderr):
        pytest.skip(f"no namespace with these keys is to be had here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    measured = [(text, *answer) for (text, _u, _s), answer in zip(MEASURED, answers, strict=True)]
    assert measured == MEASURED


#: From the source: limits that cannot be tried without changing this machine.
@cases(
    "key text value",
    ("vm/dirty_ratio", "101", None),
    ("vm/dirty_ratio", "-1", None),
    ("vm/dirty_ratio", "100", 100),
    ("vm/dirty_bytes", "0", None),
    ("vm/dirty_bytes", "8191", None),
    ("vm/dirty_bytes", "268435456", 268435456),
    ("vm/dirty_bytes", "256M", None),
    ("vm/dirty_background_bytes", "0", None),
    ("vm/dirty_background_bytes", "1", 1),
    ("sunrpc/tcp_slot_table_entries", "1", None),
    ("sunrpc/tcp_max_slot_table_entries", "65537", None),
    ("sunrpc/tcp_max_slot_table_entries", "65536", 65536),
    ("vm/hugetlb_shm_group", "54321", 54321),
    ("vm/hugetlb_shm_group", "054321", 22737),
)
def test_limits_of_the_judged_keys(key, text, value):
    assert sysctl_number.read(text, LIMITS[key]).value == value


@cases(
    "text remark",
    ("8194", None),
    ("0", None),
    ("010240", "a leading 0 makes it octal"),
    ("0x10", "it is hexadecimal"),
    ("5 pages", "text after the first number is not read"),
    ("08", "a leading 0 makes it octal, and octal has no 8"),
    ("8k", "'k' follows the number"),
    ("", "it is empty"),
)
def test_what_a_reader_of_the_text_has_to_know(text, remark):
    assert sysctl_number.read(text, UNSIGNED_LONG).remark == remark


@cases(
    "text value",
    *(("128", 128), ("+128", 128), ("0x80", 128), ("0200", 128), ("128\n", 128)),
    *((" 128", None), ("128 ", None), ("08", None), ("", None), ("+", None), ("1", None)),
    *(("-2", None), ("128K", None)),
)
def test_a_parameter_of_a_module(text, value):
    """kstrtouint() and param_set_uint_minmax(), from the source."""
    assert sysctl_number.read_parameter(text, sysctl_number.SLOTS).value == value


#: By kstrtoul() with the base 10 (lib/kstrtox.c): a sign, digits, one newline.
@cases(
    "text value",
    *(("40", 40), ("040", 40), ("08", 8), ("+40", 40), ("40\n", 40), ("40\n\n", None)),
    *(("\n", None), ("", None), (" 40", None), ("40 ", None), ("0x28", None), ("-1", None)),
    *(("40 # pages", None), ("\u0664\u0660", None)),
    *(("18446744073709551615", 18446744073709551615), ("18446744073709551616", None)),
)
def test_a_file_of_sysfs_takes_decimal_numbers(text, value):
    assert sysctl_number.read_decimal(text, UNSIGNED_LONG).value == value


#: Key, what it held, what is written, what Linux 6.18 makes of it; None: refused, unchanged.
SEM, PORTS, RMEM = "kernel/sem", "net/ipv4/ip_local_port_range", "net/ipv4/tcp_rmem"
BEFORE = {SEM: [11, 12, 13, 14], PORTS: [10000, 20000], RMEM: [5000, 6000, 7000]}
VECTORS = [
    (SEM, "250 32000 100 128", [250, 32000, 100, 128]),
    (SEM, "250\t32000\t100\t128\n", [250, 32000, 100, 128]),
    (SEM, "300 40000", [300, 40000, 13, 14]),
    (SEM, "250 32000 100 128 7", [250, 32000, 100, 128]),
    (SEM, "0x10 010 1 1", [16, 8, 1, 1]),
    (SEM, "-1 5 5 5", [-1, 5, 5, 5]),
    (SEM, "250,32000,100,128", None),
    (SEM, "\n", None),
    (SEM, "abc", None),
    (SEM, "4G 1 1 1", None),
    (PORTS, "9000 65500", [9000, 65500]),
    (PORTS, "9000", [9000, 20000]),
    (PORTS, "9000 65535 7", [9000, 65535]),
    (PORTS, "65535 9000", None),
    (PORTS, "9000 70000", None),
    (PORTS, "0 1", None),
    (PORTS, "9000,65500", None),
    (RMEM, "4096 87380 4194304", [4096, 87380, 4194304]),
    (RMEM, "4096", [4096, 6000, 7000]),
    (RMEM, "4096 87380 4194304 1", [4096, 87380, 4194304]),
]
#: Refused, and yet what stands before the bad number is set.
HALF_SET = [
    (SEM, "256 abc 100 128", [256, 12, 13, 14]),
    (SEM, "1 2 3 40000", [1, 2, 3, 14]),
    (RMEM, "4096 0 5", [4096, 6000, 7000]),
]

ASK_VECTORS = """
import json, os, sys
def write(path, text):
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)
def become(path, before, text):
    write(path, " ".join(str(one) for one in before))
    refused = False
    try:
        write(path, text)
    except OSError:
        refused = True
    return [refused, [int(one) for one in open(path).read().split()]]
asked = json.load(sys.stdin)
print(json.dumps([become("/proc/sys/" + key, before, text) for key, before, text in asked]))
"""


@pytest.mark.parametrize(("key", "text", "becomes"), VECTORS)
def test_several_numbers_as_the_kernel_reads_them(key, text, becomes):
    values = sysctl_number.read_vector(key, text).values
    if becomes is None:
        assert values is None
    else:
        assert values is not None
        assert [*values, *BEFORE[key][len(values) :]] == becomes


@pytest.mark.parametrize(("key", "text", "becomes"), HALF_SET)
def test_what_is_refused_may_be_half_set(key, text, becomes):
    numbers = sysctl_number.read_vector(key, text)
    changed = sum(number != old for number, old in zip(becomes, BEFORE[key], strict=True))
    assert numbers.values is None
    assert f"the {changed} before it are set" in str(numbers.remark)


def test_this_kernel_reads_several_numbers_so():
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare(1)")
    rows = [*VECTORS, *HALF_SET]
    questions = json.dumps([(key, BEFORE[key], text) for key, text, _becomes in rows])
    spaces = ["--user", "--map-root-user", "--net", "--ipc"]
    argv = ["unshare", *spaces, sys.executable, "-c", ASK_VECTORS]
    done = subprocess.run(argv, input=questions, capture_output=True, text=True, check=False)
    words = ("unshare", "FileNotFound", "PermissionError")
    if done.returncode and any(word in done.stderr for word in words):
        pytest.skip(f"no namespace with these keys is to be had here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for (key, text, becomes), (refused, now) in zip(rows, results, strict=True):
        expected = BEFORE[key] if becomes is None else becomes
        assert (text, refused, now) == (
            text,
            becomes is None or (key, text, becomes) in HALF_SET,
            expected,
        )
