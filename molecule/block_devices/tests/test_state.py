"""What the container is like after apply: the rules of udev for the map at the next boot."""

RULES = "/etc/udev/rules.d/99-zz-hostproof-block_devices.rules"
MAP = 'ENV{DM_UUID}=="mpath-1Linux_scsi_debug_2000"'
PATH = 'ENV{ID_SERIAL}=="1Linux_scsi_debug_2000"'


def lines(host, what):
    return [line for line in host.file(RULES).content_string.splitlines() if what in line]


def test_the_map_gets_its_owner(host):
    (rule,) = lines(host, "OWNER=")
    assert MAP in rule
    assert rule.endswith('OWNER="oracle", GROUP="dba", MODE="0660"')


def test_the_map_and_its_paths_get_the_scheduler(host):
    rules = lines(host, 'ATTR{queue/scheduler}="none"')
    assert [MAP in rule for rule in rules] == [True, False]
    assert PATH in rules[1]
    assert all('ATTR{queue/nr_requests}="64"' in rule for rule in rules)


def test_the_file_is_roots(host):
    file = host.file(RULES)
    assert (file.user, file.mode) == ("root", 0o644)


def test_nothing_was_set_now(host):
    assert host.file("/sys/block/dm-0/queue/scheduler").contains("mq-deadline")
    assert host.file("/dev/dm-0").user == "root"
