import pkgutil
import subprocess
import sys

import eyechart.stats


def test_no_module_imports_scipy_until_it_is_used():
    names = [f"eyechart.stats.{module.name}" for module in pkgutil.iter_modules(eyechart.stats.__path__)]
    script = f"import sys, {', '.join(names)}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
