"""How far the tasks of a run are, from their OUTPUT.status, in a notebook or on a terminal."""
from __future__ import annotations

import collections.abc
import contextlib
import json
import os
import shutil
import sys


@contextlib.contextmanager
def shown(outputs: list[str], show: bool | None = None) -> collections.abc.Iterator[collections.abc.Callable[[], object]]:
    """look(): shows the state of the tasks now. `show` False: nothing; None: in a notebook or on a terminal only."""
    display = _notebook() if show in (None, True) else None
    if display is not None:
        handle = display(_Bar(outputs), display_id=True)
        yield lambda: handle.update(_Bar(outputs))
    elif show or (show is None and sys.stderr.isatty()):
        try:
            yield lambda: print("\r\x1b[K" + line(outputs), end="", file=sys.stderr, flush=True)
        finally:
            print(file=sys.stderr)
    else:
        yield lambda: None


@contextlib.contextmanager
def told() -> collections.abc.Iterator[collections.abc.Callable[[str], object]]:
    """tell(text): shows a line in place of the last one on standard error, if that is a terminal. At the end the line is gone."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return

    def tell(text):
        print("\r\x1b[K" + text[:shutil.get_terminal_size().columns - 1], end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        tell("")


def _notebook():
    """IPython's display() where this is a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display if type(get_ipython()).__name__ == "ZMQInteractiveShell" else None


def state(output: str) -> tuple[float, float | None, str]:
    """(fraction done, seconds left or None, state) of one task."""
    try:
        with open(output + ".status") as file:
            found = json.load(file)
        return float(found["fraction"] or 0), found["remaining_seconds"], str(found["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return (1.0, 0, "done") if os.path.exists(output) else (0.0, None, "waiting")


def line(outputs: list[str]) -> str:
    """One line of text: "2 of 6 tasks done, 45 %, 3 min left"."""
    return text_of([state(output) for output in outputs])


def text_of(states):
    """The line of tasks in these states."""
    if not states:
        return "no tasks"
    done = sum(1 for fraction, _, _ in states if fraction >= 1)
    left = [seconds for fraction, seconds, text in states if text == "running" and fraction < 1 and seconds]
    parts = [f"{done} of {len(states)} tasks done"] * (len(states) > 1)
    parts.append(f"{100 * share_of(states):.0f} %")
    parts += [f"{duration(max(left))} left" + (" of this task" if len(states) > 1 else "")] if left else []
    return ", ".join(parts)


def share_of(states):
    return sum(fraction for fraction, _, _ in states) / max(len(states), 1)


def duration(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class _Bar:
    """A bar for notebooks."""

    def __init__(self, outputs):
        states = [state(output) for output in outputs]  # once: a campaign may have a thousand files on a slow disk
        self.text, self.share = text_of(states), share_of(states)

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return f'<progress max="1" value="{self.share:.4f}" style="width: 20em"></progress> {self.text}'
