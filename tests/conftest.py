"""Settings for all tests: hypothesis without deadlines on shared machines, and the tests folder on the path."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("eyechart", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("eyechart")
