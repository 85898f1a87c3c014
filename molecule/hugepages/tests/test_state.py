"""What the container is like after apply: the pool is 64M in pages of 2M, and 4 more pages."""

POOL = 32 + 4


def test_the_pool_and_its_group_are_persisted(host):
    sysctl = host.file("/etc/sysctl.d/99-zz-hostproof-hugepages.conf")
    assert sysctl.contains(f"^vm.nr_hugepages = {POOL}$")
    assert sysctl.contains("^vm.hugetlb_shm_group = 54321$")
    assert (sysctl.user, sysctl.mode) == ("root", 0o644)


def test_memlock_is_persisted_in_the_file_that_was_there(host):
    limits = host.file("/etc/security/limits.d/zz-hostproof-hugepages.conf")
    assert limits.contains("^oracle soft memlock [0-9]*$")
    assert limits.contains("^oracle hard memlock [0-9]*$")
    assert not limits.contains("^oracle soft memlock 64$")
    # Owner and mode are those that an administrator gave the file (prepare.sh).
    assert (limits.user, limits.group, limits.mode) == ("root", "oinstall", 0o640)


def test_transparent_huge_pages_are_set_at_boot(host):
    tmpfiles = host.file("/etc/tmpfiles.d/hostproof-hugepages.conf")
    assert tmpfiles.contains("^w! /sys/kernel/mm/transparent_hugepage/enabled - - - - ")


def test_revert_has_what_was_there(host):
    journal = host.file("/var/lib/hostproof/journal")
    assert (journal.user, journal.mode) == ("root", 0o700)
