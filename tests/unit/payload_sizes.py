"""Which controls have the largest payload: to pack each of them takes half a second."""

from collections.abc import Iterable

from hostproof_controller.remote import payload


def largest(module: str, controls: Iterable[str], number: int) -> list[str]:
    """Those with the most text; a payload is that text, shorter by a fifth and compressed."""
    every = payload.all_sources()

    def size(control: str) -> int:
        return sum(len(every[name].text) for name in payload.what_travels(every, module, [control]))

    return sorted(controls, key=size)[-number:]
