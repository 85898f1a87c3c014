"""What the container is like after apply: a file of limits.d, and a session with its limits."""

FOLDER = "/etc/security/limits.d"


def test_the_file_holds_the_policy(host):
    limits = host.file(f"{FOLDER}/zz-hostproof-process_limits.conf")
    assert limits.contains("^oracle soft nofile 700$")
    assert limits.contains("^oracle hard nofile 800$")
    assert (limits.user, limits.mode) == ("root", 0o640)


def test_a_session_of_oracle_has_these_limits(host):
    assert host.check_output("su oracle -c 'ulimit -Sn; ulimit -Hn'").split() == ["700", "800"]


def test_a_package_keeps_its_file(host):
    package = host.file(f"{FOLDER}/50-oracle.conf")
    assert package.content_string == "oracle soft nofile 300\noracle hard nofile 400\n"
