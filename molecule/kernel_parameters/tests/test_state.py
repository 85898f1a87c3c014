"""What the container is like after apply: one drop-in with what the profile and the policy want."""


def test_the_drop_in_holds_what_is_missing(host):
    drop_in = host.file("/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf")
    assert drop_in.contains("^fs.aio-max-nr = 3145728$")
    assert drop_in.contains("^vm.swappiness = 10$")
    # Its mode is the administrator's (prepare.sh), the owner root.
    assert (drop_in.user, drop_in.mode) == ("root", 0o640)


def test_a_package_keeps_its_file(host):
    package = host.file("/etc/sysctl.d/97-oracle-database.conf")
    assert package.content_string == "kernel.sem = 250 32000 100 128\nvm.swappiness = 60\n"


def test_the_kernel_was_left_alone(host):
    """kernel_parameters_activation is reboot, and the container shares its kernel."""
    assert not host.run("test -w /proc/sys/fs/aio-max-nr").succeeded
