# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hook of MkDocs: the pages of all controls, and links to files outside docs/.

Such a link becomes the path of the file: the site has no copy of it, and the repository may be on a
disk only. A link to a file that does not exist is a warning, with which a strict build fails.
"""

import logging
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
LINK = re.compile(r"\[([^\]]*)\]\(([^()\s#]+)(#[^()\s]*)?\)")


def on_config(config: Any) -> Any:
    """Add the page of each control to the navigation."""
    (controls,) = [group["Controls"] for group in config["nav"] if "Controls" in group]
    pages = sorted(path.name for path in (DOCS / "controls").glob("*.md"))
    controls += [{name.removesuffix(".md"): f"controls/{name}"} for name in pages if name[0] != "R"]
    return config


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
        if not path.exists() or not path.is_relative_to(DOCS.parent):
            logging.getLogger("mkdocs.hooks").warning(f"{page.file.src_uri}: no file {target}")
            return link[0]
        name = path.relative_to(DOCS.parent).as_posix()
        return text if name in text.strip("`") else f"{text} (`{name}`)"

    return LINK.sub(shown, markdown)
