"""A process of the drill, seen from inside: JSON lines in and out, and death when the parent is gone.

A thread waits for lines on standard input. Its end means that the parent has closed it or died, of whatever signal, so the
process ends there and then, whatever its event loop is doing.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from seawall.drill.errors import DrillError

Message = dict[str, Any]
Handler = Callable[[Message], Awaitable[Message]]


def serve(handler: Handler) -> None:
    """Answer each message from the parent with what `handler` makes of it, until the parent is gone."""
    asyncio.run(_serve(handler))


async def _serve(handler: Handler) -> None:
    loop = asyncio.get_running_loop()
    messages: asyncio.Queue[Message] = asyncio.Queue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(messages.put_nowait, json.loads(line))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        message = await messages.get()
        try:
            answer = await handler(message)
        except DrillError as error:
            answer = {"error": str(error)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
