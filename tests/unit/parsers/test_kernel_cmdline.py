"""The kernel command line: quoting, names, and the order rules of the huge page parameters."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.kernel import kernel_cmdline
from cases import cases

MIB = 1 << 20
GIB = 1 << 30


def hugepages(text: str) -> dict[int, int]:
    return kernel_cmdline.hugepages(kernel_cmdline.parse(text + "\n"), 2 * MIB)


@cases(
    "text params",
    ("ro  quiet\tnosmt=force\n", [("ro", None), ("quiet", None), ("nosmt", "force")]),
    ("a=b=c d=", [("a", "b=c"), ("d", "")]),
    ('a="b c" d', [("a", "b c"), ("d", None)]),
    ('"a=b c" d', [("a", "b c"), ("d", None)]),
    ('a=b" "c', [("a", 'b" "c')]),
    ('a="open', [("a", "open")]),
    ("=x y=z", [("=x", None), ("y", "z")]),
    ("ro -- hugepages=5 --x", [("ro", None)]),
    ("--=x ro", [("--", "x"), ("ro", None)]),
    ("\n", []),
)
def test_words(text, params):
    assert kernel_cmdline.parse(text) == params


def test_an_unread_file_is_not_an_empty_line():
    with pytest.raises(ParseError):
        kernel_cmdline.parse("")


@cases(
    "name value",
    ("transparent_hugepage", "madvise"),
    ("transparent-hugepage", "madvise"),
    ("quiet", ""),
    ("nosmt", None),
)
def test_the_last_of_a_name_counts(name, value):
    params = kernel_cmdline.parse("transparent_hugepage=never quiet transparent-hugepage=madvise")
    assert kernel_cmdline.last(params, name) == value


@cases(
    "text pools",
    ("ro quiet", {}),
    ("hugepages=512", {2 * MIB: 512}),
    ("hugepages=0", {2 * MIB: 0}),
    ("hugepagesz=2M hugepages=512", {2 * MIB: 512}),
    ("hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=512", {GIB: 4, 2 * MIB: 512}),
    ("default_hugepagesz=1G hugepages=4", {GIB: 4}),
    ("default_hugepagesz=1G hugepagesz=1G hugepages=4", {GIB: 4}),
    ("hugepages=4 default_hugepagesz=1G", {GIB: 4}),
    ("hugepages=8 hugepagesz=1G hugepages=4", {2 * MIB: 8, GIB: 4}),
    # The count without a size overrides the one with the default's own size.
    ("hugepages=8 hugepagesz=2M hugepages=9", {2 * MIB: 8}),
    ("hugepages=8 hugepages=9", {2 * MIB: 8}),
    ("hugepagesz=2M hugepages=8 hugepages=9", {2 * MIB: 8}),
    ("hugepagesz=2M hugepages=8 hugepagesz=2M hugepages=9", {2 * MIB: 8}),
    ("hugepagesz=2M hugepages=8 default_hugepagesz=2M hugepagesz=2M hugepages=9", {2 * MIB: 8}),
    ("default_hugepagesz=1G hugepagesz=2M hugepages=8 hugepagesz=2M hugepages=9", {2 * MIB: 8}),
    ("hugepagesz=1G hugepages=1 default_hugepagesz=2M hugepages=5", {GIB: 1, 2 * MIB: 5}),
    # Naming a size that is known as the default does not turn to it.
    (
        "hugepagesz=2M hugepages=8 hugepagesz=1G hugepages=1 default_hugepagesz=2M hugepages=9",
        {2 * MIB: 8, GIB: 1},
    ),
    ("hugepagesz=3M hugepages=8", {}),
    ("hugepagesz=4K hugepages=8", {}),
    ("hugepagesz=x hugepages=8 hugepages=9", {2 * MIB: 9}),
    ("default_hugepagesz=1G default_hugepagesz=2M hugepages=8", {}),
    ("default_hugepagesz=1G hugepages=2 hugepagesz=1G hugepages=8", {GIB: 2}),
    ("hugepages=0:512,1:256", {2 * MIB: 768}),
    ("hugepagesz=2048K hugepages=0:1", {2 * MIB: 1}),
    ("hugepagesz=2097152 hugepages=5", {2 * MIB: 5}),
    ("hugepagesz=0x200000 hugepages=5", {2 * MIB: 5}),
    ("hugepagesz=1g hugepages=5", {GIB: 5}),
    ("hugepages=512x", {2 * MIB: 512}),
    ("hugepages=x", {}),
    ("hugepages=0:x", {}),
    ("hugepages", {}),
)
def test_pools_asked_for_at_boot(text, pools):
    assert hugepages(text) == pools


def test_a_size_named_again_for_the_default_takes_the_next_count():
    text = "default_hugepagesz=2M hugepagesz=1G hugepages=1 hugepagesz=2M hugepages=7"
    assert hugepages(text) == {GIB: 1, 2 * MIB: 7}


def test_the_default_size_is_the_architecture_s():
    params = kernel_cmdline.parse("hugepages=3\n")
    assert kernel_cmdline.hugepages(params, 16 * MIB) == {16 * MIB: 3}
