"""What a drill cannot do, told in one sentence and without a traceback."""

from __future__ import annotations


class DrillError(Exception):
    """The drill cannot run here as it was asked to; the message says why and what to do."""
