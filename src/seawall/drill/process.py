"""A process of the drill, seen from the parent."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from seawall.drill.errors import DrillError

GRACE_S = 1.0


class Process:
    """A child that runs `module` and answers messages. It cannot outlive us: it ends when our end of its pipe closes.

    It has a session of its own, so that a Ctrl-C in the terminal reaches the parent alone, which then ends everything in
    order.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and wait for the answer."""
        self.send(message)
        return self.receive()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; its answer is to be received later."""
        stdin = self._child.stdin
        if stdin is not None:
            try:
                stdin.write(json.dumps(message).encode() + b"\n")
                stdin.flush()
            except BrokenPipeError:
                raise self._ended() from None

    def receive(self) -> dict[str, Any]:
        """The answer to the oldest message without one."""
        stdout = self._child.stdout
        line = b"" if stdout is None else stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise DrillError(answer["error"])
        return answer

    def check(self) -> None:
        """Raise `DrillError` if the process has ended."""
        if self._child.poll() is not None:
            raise self._ended()

    def close(self) -> None:
        """End the process and wait until it is gone."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        try:
            self._child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _ended(self) -> DrillError:
        return DrillError(
            f"the drill's process {self._module} has ended unexpectedly (exit code {self._child.wait()}); "
            "what it wrote stands above."
        )
