"""What the container is like after apply: chronyd steps the clock only in its first updates."""


def test_a_drop_in_bounds_the_steps(host):
    drop_ins = host.check_output("grep -l '^makestep 0.5 3$' /etc/chrony/conf.d/*").split()
    assert len(drop_ins) == 1
    assert "hostproof" in drop_ins[0]
    assert host.file(drop_ins[0]).user == "root"


def test_the_main_file_is_the_administrators(host):
    assert host.file("/etc/chrony/chrony.conf").contains("^makestep 0.5 -1$")
