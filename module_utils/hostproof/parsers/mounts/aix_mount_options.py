# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a mount on AIX, as mount shows them and /etc/filesystems keeps them: a,b=1,c.

Sources: AIX Commands Reference, mount; AIX Files Reference, filesystems file.
"""

from collections import OrderedDict
from typing import Dict, Optional, Tuple


def parse(text: str) -> Dict[str, Optional[str]]:
    """Each option with its value, None where it has none; of one given twice the last."""
    options: OrderedDict[str, Optional[str]] = OrderedDict()
    for word in text.split(","):
        name, equals, value = word.strip().partition("=")
        if name:
            options[name] = value if equals else None
    return options


def without_options(text: str, names: Tuple[str, ...]) -> str:
    """The options without some of them, in their order."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    return ",".join(word for word in words if word.partition("=")[0] not in names)
