"""Settings for all tests: hypothesis without deadlines on shared machines, the same examples each time where asked."""

import importlib.util
import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("eyechart", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("eyechart"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "eyechart"))

# The stage of its own installs playwright; without it these files cannot even be read.
collect_ignore = [] if importlib.util.find_spec("playwright") else ["browser"]
