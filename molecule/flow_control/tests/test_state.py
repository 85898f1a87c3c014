"""What the container is like after apply: the card now, and the .link file of its next boot."""

LINK = "/etc/systemd/network/00-hostproof-ens4.link"


def test_the_card_obeys_pause_frames_and_sends_none(host):
    shown = dict(
        line.split(":", 1) for line in host.check_output("ethtool -a ens4").splitlines() if line
    )
    assert (shown["RX"].strip(), shown["TX"].strip()) == ("on", "off")


def test_the_next_boot_does_the_same(host):
    link = host.file(LINK)
    # systemd.link(5) has both names the wrong way round: RxFlowControl= is ethtool's rx.
    assert link.contains("^RxFlowControl=yes$")
    assert link.contains("^TxFlowControl=no$")
    assert link.contains("^AutoNegotiationFlowControl=no$")
    assert (link.user, link.mode) == ("root", 0o644)


def test_the_file_knows_the_card_by_its_permanent_address(host):
    assert host.file(LINK).contains("^PermanentMACAddress=52:54:00:0a:00:01$")


def test_the_card_keeps_its_name(host):
    """The first file that fits is the only one: it takes over what the distribution's says."""
    assert host.file(LINK).contains("^NamePolicy=keep kernel database onboard slot path$")
