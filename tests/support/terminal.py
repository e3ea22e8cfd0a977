"""A program on a terminal of its own, a pty: what it writes there, byte for byte."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


class Terminal:
    """Runs `words` with standard output and error on a terminal of so many lines and columns."""

    def __init__(self, words, folder, lines=24, columns=80, **environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in ["NO_COLOR", "TERM"]}
        self.process = subprocess.Popen(list(map(str, words)), cwd=folder, stdin=slave, stdout=slave, stderr=slave,
                                        env={**inherited, "TERM": "xterm", **environment}, start_new_session=True)
        os.close(slave)
        self.text = ""

    def read(self, seconds):
        """Takes in what is there, for so long at most; false when the program has closed the terminal."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            self.text += os.read(self.master, 65536).decode()
        except OSError:
            return False
        return True

    def until(self, words, seconds=60):
        """Waits for these words."""
        end = time.monotonic() + seconds
        while words not in self.text:
            if time.monotonic() > end or not self.read(0.2) and words not in self.text:
                raise AssertionError(f"no {words!r} in {self.text!r}")

    def end(self, seconds=120):
        """Waits for the end; returns all that was written. The exit code is that of `process`."""
        end = time.monotonic() + seconds
        while self.read(0.5) and time.monotonic() < end:
            pass
        self.process.wait(timeout=seconds)
        os.close(self.master)
        return self.text
