"""Drift in a running process: every response is counted, and now and then they are compared."""

from __future__ import annotations

import functools
import inspect
import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar, cast, overload

from overturn_fast.shape.announce import printable_line
from overturn_fast.shape.compare import Comparison, Policy, compare
from overturn_fast.shape.incidents import Incident, Incidents
from overturn_fast.shape.stats import ShapeStats
from overturn_fast.shape.tree import Limits

__all__ = ["DriftMonitor", "MonitorState", "watch_shape"]

P = ParamSpec("P")
T = TypeVar("T")

LOGGER: Final = logging.getLogger("overturn_fast.drift")

LEARN: Final = 1000
WINDOW: Final = 200
MAX_AGE_S: Final = 3600.0

_LEVELS: Final = {"info": logging.INFO, "warning": logging.WARNING, "breaking": logging.ERROR}


@dataclass(frozen=True, slots=True)
class MonitorState:
    """What a monitor has done so far."""

    learned: int
    """Responses in the baseline."""
    waiting: int
    """Responses since the last comparison."""
    compared: int
    """How many comparisons were made."""
    refused: int
    """Responses that have no shape: they contain themselves, or raise when they are read."""
    failures: int
    """How often a comparison or a callback has failed."""
    last_failure: str | None
    """The class of what was raised last; never its message, which may quote data."""


class DriftMonitor:
    """Watches the responses of one tool, and tells when their contract changes.

    Args:
        tool: The name of the tool.
        baseline: What its responses look like. Without one the first ``learn`` responses are it.
        learn: How many responses make a baseline.
        window: After so many responses they are compared with the baseline.
        max_age: After so many seconds a window is compared too, once the next response comes.
        on_change: Called with a copy of an ``Incident`` when it is new, is reopened, gets worse or
            wider, or is over.
        logger: Where the same is logged: what is new or worse with its severity, the rest as
            information. By default ``overturn_fast.drift``; None for none.
        policy: What counts as a change, and how grave it is.
        limits: As for ``ShapeStats``; by default those of the baseline.
        incidents: Where incidents are kept; by default the monitor has its own.
        enum_key: As for ``ShapeStats``; a baseline that was learned with one needs the same.
        clock: What tells the time, in seconds since 1970.
        executor: What compares windows and tells of incidents, such as a ``ThreadPoolExecutor`` of
            one thread. By default it is the thread of the response that completed a window, which
            it takes some milliseconds; an event loop may not want to wait for that. While a window
            is with the executor, the next one grows.

    ``observe`` never raises an Exception, whatever it is given, and may be called from any thread.
    It keeps no response: only counts of shapes.

    Raises:
        ValueError: The baseline is of another tool, of other limits, or of another ``enum_key`` or
            none; or ``learn`` or ``window`` is less than 1.

    >>> seen = []
    >>> monitor = DriftMonitor("pricing", learn=100, window=50, on_change=seen.append, logger=None)
    >>> for _ in range(100):
    ...     monitor.observe({"price_cents": 24000})
    >>> for _ in range(50):
    ...     monitor.observe({"price_cents": "24000"})
    >>> [(incident.state, incident.severity) for incident in seen]
    [('new', 'breaking')]
    """

    def __init__(
        self,
        tool: str,
        baseline: ShapeStats | None = None,
        *,
        learn: int = LEARN,
        window: int = WINDOW,
        max_age: float = MAX_AGE_S,
        on_change: Callable[[Incident], object] | None = None,
        logger: logging.Logger | None = LOGGER,
        policy: Policy | None = None,
        limits: Limits | None = None,
        incidents: Incidents | None = None,
        enum_key: bytes | None = None,
        clock: Callable[[], float] = time.time,
        executor: Executor | None = None,
    ) -> None:
        if baseline is not None and not isinstance(baseline, ShapeStats):
            raise TypeError(f"baseline must be a ShapeStats, not {type(baseline).__name__}")
        if on_change is not None and not callable(on_change):
            raise TypeError(f"on_change must be callable, not {type(on_change).__name__}")
        if baseline is not None and baseline.tool != tool:
            raise ValueError(f"the baseline is of the tool {baseline.tool!r}, not {tool!r}")
        if baseline is not None and limits is not None and baseline.limits != limits:
            raise ValueError("the baseline is of other limits")
        for name, number in (("learn", learn), ("window", window)):
            if number < 1:
                raise ValueError(f"{name} must be at least 1, not {number}")
        self.tool = tool
        self.incidents = Incidents() if incidents is None else incidents
        self._window = window
        self._max_age = max_age
        self._on_change = on_change
        self._logger = logger
        self._policy = policy or Policy()
        self._enum_key = enum_key
        self._clock = clock
        self._executor = executor
        self._is_handed_over = False  # a window waits for the executor: the next one grows
        # Reentrant: the code of a response, or what collects garbage, may call a watched tool.
        self._lock = threading.RLock()  # held while a response is counted
        self._comparing = threading.RLock()  # held while windows are compared, one after the other
        self._baseline: ShapeStats | None = None if baseline is None else baseline.copy()
        if baseline is None:
            self._current = ShapeStats(tool, limits=limits, enum_key=enum_key)
        else:
            self._current = baseline.empty(enum_key)
        self._is_counting = False
        self._count = 0
        self._full = learn if baseline is None else window  # responses that make a window
        self._old = math.inf  # when one is compared that is not full
        self._compared = 0
        self._refused = 0
        self._failures = 0
        self._last_failure: str | None = None

    @property
    def baseline(self) -> ShapeStats | None:
        """A copy of the baseline; None as long as it is being learned."""
        with self._comparing:
            return None if self._baseline is None else self._baseline.copy()

    @property
    def state(self) -> MonitorState:
        """What the monitor has done so far."""
        with self._comparing:  # never together with the other lock
            learned = 0 if self._baseline is None else self._baseline.observations
        with self._lock:
            return MonitorState(
                learned=learned,
                waiting=self._count,
                compared=self._compared,
                refused=self._refused,
                failures=self._failures,
                last_failure=self._last_failure,
            )

    def observe(self, response: object) -> None:
        """Count a response, and compare if a window is complete. It never raises an Exception."""
        try:
            now = self._clock()
            with self._lock:
                is_inside, self._is_counting = self._is_counting, True
                try:
                    self._current.observe(response, now)
                    self._count += 1
                except Exception:
                    self._refused += 1
                finally:
                    self._is_counting = is_inside
                if is_inside:  # of another one, which holds the lock; it will look at the window
                    return
                if self._count < self._full and now < self._old:
                    if self._old == math.inf and self._count and self._baseline is not None:
                        self._old = now + self._max_age
                    return
                if self._is_handed_over or self._count < min(self._full, self._policy.min_current):
                    return
                window = self._take()
                self._is_handed_over = self._executor is not None
            self._hand_over(window, now)
        except Exception as error:
            self._fail(error)

    def check(self) -> Comparison | None:
        """Compare what has come since the last comparison, without waiting for the window's end.

        Returns:
            What was found; None as long as the baseline is being learned.
        """
        with self._lock:
            if self._baseline is None:
                return None
            window = self._take()
        return self._compare(window, self._clock())

    # -- windows ------------------------------------------------------------------------------

    def _take(self) -> ShapeStats:
        """The window so far, in whose place an empty one begins."""
        window, self._current = self._current, self._current.empty(self._enum_key)
        self._count, self._full, self._old = 0, self._window, math.inf
        if self._baseline is None:
            self._baseline = window
        return window

    def _hand_over(self, window: ShapeStats, now: float) -> None:
        """Have a window compared."""
        if self._executor is None:
            self._compare_quietly(window, now)
            return
        try:
            future = self._executor.submit(self._compare_quietly, window, now)
        except Exception:  # it was shut down, as it is at the end of a process
            self._executor = None
            self._is_handed_over = False
            self._compare_quietly(window, now)
        else:
            future.add_done_callback(self._take_back)

    def _take_back(self, future: Future[None]) -> None:
        """The executor has compared a window, or never will."""
        self._is_handed_over = False
        if future.cancelled():
            self._fail(CancelledError("the executor was shut down before it compared a window"))

    def _compare_quietly(self, window: ShapeStats, now: float) -> None:
        try:
            self._compare(window, now)
        except Exception as error:
            self._fail(error)

    def _compare(self, window: ShapeStats, now: float) -> Comparison | None:
        """Compare a window with the baseline, and tell what has changed."""
        with self._comparing:
            assert self._baseline is not None
            if window is self._baseline:
                return None
            comparison = compare(self._baseline, window, self._policy)
            changed = [one.copy() for one in self.incidents.update(comparison, now)]
            self._compared += 1
        for incident in changed:
            self._tell(incident)
        return comparison

    def _tell(self, incident: Incident) -> None:
        try:
            if self._logger is not None:
                is_over = incident.state in ("recovering", "resolved")
                level = logging.INFO if is_over else _LEVELS[incident.severity]
                lines = [incident.text(), *(event.headline() for event in incident.events.values())]
                self._logger.log(level, "%s", "\n  ".join(map(printable_line, lines)))
            if self._on_change is not None:
                self._on_change(incident)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._failures += 1
        self._last_failure = type(error).__name__


@overload
def watch_shape(tool: Callable[P, T]) -> Callable[P, T]: ...


@overload
def watch_shape(
    tool: str | None = None, *, monitor: DriftMonitor | None = None, **options: Any
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...


def watch_shape(tool: Any = None, *, monitor: DriftMonitor | None = None, **options: Any) -> Any:
    """Watch what a function returns: a decorator, for functions and for coroutine functions.

    Args:
        tool: The name of the tool, by default that of the function. A bare ``@watch_shape`` works.
        monitor: The monitor to use; by default the function gets its own, as ``monitor``.
        **options: As for ``DriftMonitor``, for a monitor of its own.

    Returns:
        A function that does the same. Whatever happens to its shape, the response is returned.

    >>> @watch_shape
    ... def pricing(sku):
    ...     return {"sku": sku, "price_cents": 24000}
    >>> pricing("pro")
    {'sku': 'pro', 'price_cents': 24000}
    >>> pricing.monitor.tool, pricing.monitor.state.waiting
    ('pricing', 1)
    """
    if callable(tool):
        return _watched(tool, DriftMonitor(_name_of(tool)))
    if monitor is not None and (tool is not None or options):
        raise TypeError("a monitor has a tool and options of its own")

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        if not callable(function):
            raise TypeError(f"only a function can be watched, not {type(function).__name__}")
        own = monitor or DriftMonitor(tool or _name_of(function), **options)
        return _watched(function, own)

    return decorate


def _name_of(function: Callable[..., object]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _watched(function: Callable[P, T], monitor: DriftMonitor) -> Callable[P, T]:
    async def awaited(coroutine: Any) -> Any:
        response = await coroutine
        monitor.observe(response)
        return response

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def watched_coroutine(*args: P.args, **kwargs: P.kwargs) -> Any:
            return await awaited(function(*args, **kwargs))

        watched_coroutine.monitor = monitor  # type: ignore[attr-defined]
        return cast("Callable[P, T]", watched_coroutine)

    @functools.wraps(function)
    def watched(*args: P.args, **kwargs: P.kwargs) -> T:
        response = function(*args, **kwargs)
        if inspect.iscoroutine(response):  # of a function that is one in disguise
            return cast("T", awaited(response))
        monitor.observe(response)
        return response

    watched.monitor = monitor  # type: ignore[attr-defined]
    return watched
