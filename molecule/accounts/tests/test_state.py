"""What the container is like after apply: groups, an account, a membership."""


def test_the_account_has_the_numbers_of_the_policy(host):
    oracle = host.user("hporacle")
    assert (oracle.uid, oracle.gid, oracle.groups) == (64321, 64321, ["hpinstall", "hpdba"])
    assert host.file("/home/hporacle").user == "hporacle"


def test_the_existing_account_keeps_its_uid_and_gets_the_group(host):
    grid = host.user("hpgrid")
    assert (grid.uid, sorted(grid.groups)) == (64331, ["hpdba", "hpinstall"])
