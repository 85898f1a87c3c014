"""What the container is like after apply: every package of the table is installed."""


def test_packages_are_installed(host):
    for name in ("libaio1", "libc6-dev", "make", "hp-dependency"):
        assert host.package(name).is_installed
    assert host.package("libaio1").version == "99"


def test_nothing_else_is_installed(host):
    assert not host.package("hp-dependent").is_installed
