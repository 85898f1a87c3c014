"""listener.log, and the sockets that listen."""

from datetime import datetime

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.net import listening_sockets
from ansible.module_utils.hostproof.parsers.oracle import listener_log
from cases import cases

FIXTURE = "listener_log/limited.log"


class TestListenerLog:
    def test_limited(self, fixture_text):
        log = listener_log.parse(fixture_text(FIXTURE))
        assert (log.established, log.delayed, log.busiest) == (7, 2, 5)
        assert log.codes == {12514: 1}
        assert log.first == datetime(2010, 5, 15, 11, 42, 20)
        assert log.last == datetime(2010, 5, 15, 11, 43, 1)
        assert log.seconds() == 42.0

    def test_events(self, fixture_text):
        events = [entry.event for entry in listener_log.entries(fixture_text(FIXTURE))]
        assert sorted(set(events)) == [
            *("establish", "ping", "reload", "service_register", "service_update"),
            *("start", "status"),
        ]

    def test_first_line_that_is_cut_off(self, fixture_text):
        text = fixture_text(FIXTURE)
        whole = listener_log.parse(text[text.index("15-MAY") :])
        assert listener_log.parse("CT_DATA=(SID=x)) * establish * x * 0\n" + text) == whole

    def test_time_of_newer_releases(self):
        text = "2024-05-15T11:42:24.123456+02:00 * (CONNECT_DATA=) * (ADDRESS=) * establish * x * 0"
        assert listener_log.parse(text).first == datetime(2024, 5, 15, 11, 42, 24)

    @cases("text", "", "TNS-01158: x\n", "31-FEB-2024 10:00:00 * ping * 0\n")
    def test_no_log(self, text):
        with pytest.raises(ParseError):
            listener_log.parse(text)


class TestListeningSockets:
    def test_iproute2(self, fixture_text):
        sockets = listening_sockets.parse(fixture_text("listening_sockets/iproute2-6.1.txt"))
        assert [
            (socket.address, socket.port, socket.queued, socket.backlog) for socket in sockets
        ] == [
            ("0.0.0.0", 1521, 3, 128),
            ("127.0.0.1", 8080, 0, 4096),
            ("*", 1522, 0, 512),
            ("[::1]", 631, 0, 128),
        ]

    @cases("text", "", "LISTEN 0 128 *:1 *:*\n", "State Recv-Q Send-Q\nx\n")
    def test_other_text(self, text):
        with pytest.raises(ParseError):
            listening_sockets.parse(text)
