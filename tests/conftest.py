"""Settings of the whole suite."""

from __future__ import annotations

import os

from hypothesis import settings

# No verdict may depend on the speed of the machine; where nobody can look at a shrunk example at leisure, the same
# examples are tried every time.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
