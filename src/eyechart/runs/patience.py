"""How long to wait before asking again, and when to give up."""

from typing import TYPE_CHECKING

from eyechart.schema import Value

if TYPE_CHECKING:
    import numpy as np


class Patience(Value, frozen=True):
    """Limits of the one retry loop; the SDKs never retry by themselves.

    Args:
        attempt_seconds: An attempt without an answer after this time has failed.
        deadline_seconds: No new attempt of a request is begun this long after its first.
        max_attempts: Attempts of one request in one run.
        first_wait_seconds: Wait after the first failure; doubled with each further one.
        longest_wait_seconds: Bound of the doubled wait.
        max_wait_seconds: A server that asks for a longer wait than this ends the run.
        wait_for_server_seconds: How long to wait for a server that does not answer yet; 0 does not wait.
        max_connection_errors: So many attempts in a row that reach no server end the run.
    """

    attempt_seconds: float = 300.0
    deadline_seconds: float = 1800.0
    max_attempts: int = 8
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 60.0
    max_wait_seconds: float = 600.0
    wait_for_server_seconds: float = 0.0
    max_connection_errors: int = 20


def wait_seconds(patience: Patience, n_failures: int, retry_after_seconds: float | None, jitter: float) -> float:
    """Return how long to wait after a failure: doubling, with jitter, and never less than the server asked for.

    Args:
        patience: The limits.
        n_failures: Failures of this request so far, at least 1.
        retry_after_seconds: What the server asked for, if it did.
        jitter: A random number in [0, 1); spreads the waits between half and all of the doubled wait.

    Example:
        >>> [wait_seconds(Patience(), n, None, 0.0) for n in (1, 2, 3, 20)]
        [0.25, 0.5, 1.0, 30.0]
        >>> wait_seconds(Patience(), 1, 20.0, 0.0)
        20.0
    """
    doubled = min(patience.longest_wait_seconds, patience.first_wait_seconds * 2.0 ** min(n_failures - 1, 30))
    own = doubled * (0.5 + jitter / 2)
    # What a server asks for is a lower bound: jitter is added, so that waiting requests do not return at once.
    return own if retry_after_seconds is None else max(own, retry_after_seconds + jitter * min(doubled, 1.0))


def jitter_source() -> "np.random.Generator":
    """Return a generator for jitter. Two processes must not wait in step, so it is the one that has no seed."""
    import numpy as np  # late: `eyechart --help` must not import numpy

    return np.random.default_rng()
