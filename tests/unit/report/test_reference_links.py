"""Links from references to documents, and references that must not become links."""

import re

from cases import cases
from hostproof_controller.report.reference_links import BOOKS, with_links

NOTE = "https://support.oracle.com/epmos/faces/DocumentDisplay?id=401749.1"


@cases(
    "reference links",
    ("MOS 401749.1; Oracle manuals", [NOTE]),
    ("My Oracle Support 401749.1", [NOTE]),
    ("RFC 6298, section 2", ["https://www.rfc-editor.org/rfc/rfc6298"]),
    (
        "kernel Documentation/admin-guide/mm/hugetlbpage.rst",
        ["https://docs.kernel.org/admin-guide/mm/hugetlbpage.html"],
    ),
    *((f"{title}, a chapter", [address]) for title, address in BOOKS.items()),
    ("proc(5), /proc/PID/status; Documentation/ABI/testing/x", []),
    ("MOS 4.1; RFC 1; xMOS 401749.1", []),
    ("kernel Documentation/../../evil.rst", []),
    ("kernel Documentation//evil.example.com/x.rst", []),
    ("kernel Documentation/A\"onclick='x'.rst", []),
    ("https://evil.example.com/ javascript:alert(1)", []),
)
def test_what_is_a_link(reference, links):
    assert re.findall('href="([^"]*)"', with_links(reference)) == links


def test_everything_else_is_escaped():
    markup = with_links("<b>MOS 401749.1</b> & \x1b\u202e")
    assert markup.startswith('&lt;b&gt;<a href="')
    assert markup.endswith("</a>&lt;/b&gt; &amp; \\x1b\\u202e")
