"""File descriptors: every connection takes one, in the server and in a client process."""

from __future__ import annotations

from seawall.drill.errors import DrillError

SPARE = 64  # interpreter, pipes, event loop, and sockets that are closing
RESETTLING = 4  # one connection in so many is being replaced at a time


def descriptors_needed(clients: int) -> int:
    """Open files that the busiest process of a drill needs: the server's, one for each client and some to spare."""
    return clients + clients // RESETTLING + SPARE


def ensure_descriptors(clients: int) -> None:
    """Raise this process's soft limit as far as the drill needs; its children inherit it.

    Raises `DrillError` when the hard limit is too low. Does nothing on systems without such limits.
    """
    try:
        import resource
    except ImportError:
        return
    need = descriptors_needed(clients)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= need:
        return
    if hard != resource.RLIM_INFINITY and hard < need:
        raise DrillError(too_few(clients, need, hard))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (need, hard))
    except (OSError, ValueError) as error:
        raise DrillError(too_few(clients, need, soft)) from error


def too_few(clients: int, need: int, limit: int) -> str:
    """The message: how many are needed, what the limit is, how to go on."""
    fitting = max(0, (limit - SPARE) * RESETTLING // (RESETTLING + 1))
    way_out = f"Take --clients {fitting}" if fitting > 0 else "Raise the limit"
    return (
        f"{clients} clients need {need} open files, the hard limit of this process is {limit}. {way_out}, or raise the limit: "
        f"`ulimit -Hn {need}` as root, or `nofile` in /etc/security/limits.conf, or `docker run --ulimit nofile={need}`."
    )
