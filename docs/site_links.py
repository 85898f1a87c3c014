# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hook of MkDocs: links to files outside docs/ become the path of the file.

The site has no copy of these files, and the repository may be on a disk only.
"""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
LINK = re.compile(r"\[([^\]]*)\]\(([^()\s#]+)(#[^()\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page for the site."""
    folder = (DOCS / page.file.src_uri).parent

    def shown(link: re.Match[str]) -> str:
        text, target = link[1], link[2]
        if re.match(r"[a-z]+:", target):
            return link[0]
        path = (folder / target).resolve()
        if path.is_relative_to(DOCS) and path.is_file():
            return link[0]
        name = path.relative_to(DOCS.parent).as_posix()
        return text if name in text.strip("`") else f"{text} (`{name}`)"

    return LINK.sub(shown, markdown)
