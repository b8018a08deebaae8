"""The progress of a fit: callbacks, and a bar or lines on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

#: Told of a phase, of the steps that are done, and of all steps, 0 if their number is unknown.
Callback = Callable[[str, int, int], Any]

#: Seconds between two lines of a phase.
PERIOD = 1.0


class Phases:
    """What is shown: `begin` for each phase, and `go_on` as it proceeds."""

    last = ("", 0, 0)

    def __call__(self, phase: str, done: int, steps: int) -> None:
        name, before, all_steps = self.last
        self.last = (phase, done, steps)
        if (phase, steps) != (name, all_steps) or done < before:
            self.begin(phase, steps)
        self.go_on(phase, done, steps)

    def begin(self, phase: str, steps: int) -> None:
        """Show that a phase begins."""

    def go_on(self, phase: str, done: int, steps: int) -> None:
        """Show how far it is."""

    def close(self) -> None:
        """Show no more."""


class Lines(Phases):
    """A line for each phase, and one each second that it lasts."""

    written = 0.0

    def begin(self, phase: str, steps: int) -> None:
        self._write(phase)

    def go_on(self, phase: str, done: int, steps: int) -> None:
        if done and time.monotonic() > self.written + PERIOD:
            self._write(f"{phase}: {100 * done // steps} %" if steps else f"{phase}: {done:,}")

    def _write(self, line: str) -> None:
        self.written = time.monotonic()
        print(line, file=sys.stderr)


class Bar(Phases):
    """The bar of tqdm, anew for each phase."""

    def __init__(self, tqdm: Any) -> None:
        self.bar = tqdm(leave=False)

    def begin(self, phase: str, steps: int) -> None:
        self.bar.reset(total=steps or None)
        self.bar.set_description(phase, refresh=False)

    def go_on(self, phase: str, done: int, steps: int) -> None:
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def shown() -> Phases:
    """Return a bar where tqdm is installed, else lines."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Lines()
    return Bar(tqdm)


@contextmanager
def of(estimator: Any) -> Iterator[Callback | None]:
    """Give what tells `verbose` and `callbacks` of an estimator of a call's progress; None if nothing listens."""
    given = () if estimator.callbacks is None else estimator.callbacks
    if not isinstance(given, Iterable) or not all(map(callable, given)):
        raise ValueError(f"invalid callbacks {given!r}: expected a sequence of functions of phase, done and steps")
    calls: list[Callback] = list(given)
    bar = shown() if estimator.verbose else None
    if bar is not None:
        calls.insert(0, bar)

    def tell(phase: str, done: int, steps: int) -> None:
        for call in calls:
            call(phase, done, steps)

    try:
        yield tell if calls else None
    finally:
        if bar is not None:
            bar.close()
