"""What your policy leaves on a host. Copy, and put in what yours says."""

import pytest


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf", "^vm.swappiness = "),
        ("/etc/sysctl.d/99-zz-hostproof-hugepages.conf", "^vm.nr_hugepages = "),
        ("/etc/security/limits.d/zz-hostproof-hugepages.conf", "^oracle hard memlock "),
        ("/etc/security/limits.d/zz-hostproof-process_limits.conf", "^oracle hard nofile "),
    ],
)
def test_the_next_boot_has_the_policy(host, path, line):
    file = host.file(path)
    assert file.contains(line), file.content_string
    assert file.user == "root"
    assert file.mode & 0o022 == 0
