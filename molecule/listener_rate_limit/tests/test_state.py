"""What the container is like after apply: the listener has the limit, and runs with it."""

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
GRID = "/u01/app/19.0.0/grid"
ADDRESS = (
    "(ADDRESS = (PROTOCOL = TCP)(HOST = 127.0.0.1)(PORT = 1521)(RATE_LIMIT = 10)(QUEUESIZE = 256))"
)


def test_the_address_has_the_limit(host):
    text = host.file(f"{HOME}/network/admin/listener.ora").content_string
    assert ADDRESS in text
    # What else is in the file stays.
    assert "# listener.ora of the shop	-- ask Dana" in text
    assert "# Data Guard: keep!" in text


def test_owner_and_mode_are_as_they_were(host):
    file = host.file(f"{HOME}/network/admin/listener.ora")
    assert (file.user, file.group, file.mode) == ("oracle", "oinstall", 0o640)


def test_the_file_of_grid_infrastructure_is_its_agents(host):
    assert not host.file(f"{GRID}/network/admin/listener.ora").contains("RATE_LIMIT")


def test_each_listener_runs_as_its_owner(host):
    assert host.socket("tcp://127.0.0.1:1521").is_listening
    assert sorted(host.check_output("ps -C tnslsnr -o user=").split()) == ["grid", "oracle"]
