"""The two implementations side by side in one process, and what hypothesis does here.

Every test that takes ``engine`` runs on both. Apart from that, ``OVERTURN_FAST_BACKEND`` decides
for a whole run which of them the public package is made of.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

import overturn_fast
from overturn_fast import _backend
from overturn_fast._pure import audit as pure_audit
from overturn_fast._pure import fingerprints, text
from overturn_fast._pure import shape as pure_shape

DATA = Path(__file__).parent / "data"

hypothesis.settings.register_profile(
    "overturn_fast",
    deadline=None,
    print_blob=True,
    suppress_health_check=[
        hypothesis.HealthCheck.data_too_large,
        hypothesis.HealthCheck.filter_too_much,
        hypothesis.HealthCheck.too_slow,
    ],
)
hypothesis.settings.load_profile("overturn_fast")


@functools.cache
def _loaded() -> ModuleType | str:
    """The native engine, the public one where that is native; or why there is none."""
    if overturn_fast.backend == "native":
        return _backend.engine
    try:
        return _backend.load_walker()
    except ImportError as error:
        return str(error)


def native_engine() -> ModuleType:
    """The native engine. Without one a test fails where it is a must, and else is skipped."""
    loaded = _loaded()
    if isinstance(loaded, ModuleType):
        return loaded
    if os.environ.get("CI") or os.environ.get("OVERTURN_FAST_BACKEND") == "native":
        pytest.fail(f"there is no native backend: {loaded}", pytrace=False)
    pytest.skip(f"there is no native backend: {loaded}")


@pytest.fixture(scope="session")
def native() -> ModuleType:
    """The native engine."""
    return native_engine()


@pytest.fixture(scope="session")
def pure() -> ModuleType:
    """The pure-Python engine."""
    return fingerprints


@pytest.fixture(scope="session", params=["native", "python"])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """Each of the two engines in turn."""
    return native_engine() if request.param == "native" else fingerprints


def native_text() -> ModuleType:
    """The native functions over JSON text; without them as for ``native_engine``."""
    native_engine()
    return importlib.import_module("overturn_fast._native_text")


@pytest.fixture(scope="session", params=["native", "python"])
def text_engine(request: pytest.FixtureRequest) -> ModuleType:
    """The functions over JSON text of each of the two engines in turn."""
    return native_text() if request.param == "native" else text


@pytest.fixture(scope="session")
def text_engines() -> tuple[ModuleType, ModuleType]:
    """Both of them: native, pure."""
    return native_text(), text


def native_shape_text() -> ModuleType:
    """The native shapes of JSON text; without them as for ``native_engine``."""
    native_engine()
    return importlib.import_module("overturn_fast._native_shape")


@pytest.fixture(scope="session", params=["native", "python"])
def shape_text_engine(request: pytest.FixtureRequest) -> ModuleType:
    """The shapes of JSON text of each of the two engines in turn."""
    return native_shape_text() if request.param == "native" else pure_shape


@pytest.fixture(scope="session")
def shape_text_engines() -> tuple[ModuleType, ModuleType]:
    """Both of them: native, pure."""
    return native_shape_text(), pure_shape


def native_audit() -> ModuleType:
    """The native audit of recorded calls; without it as for ``native_engine``."""
    native_engine()
    return importlib.import_module("overturn_fast._native_audit")


@pytest.fixture(scope="session", params=["native", "python"])
def audit_engine(request: pytest.FixtureRequest) -> ModuleType:
    """The audits of each of the two engines in turn."""
    return native_audit() if request.param == "native" else pure_audit


@pytest.fixture(scope="session")
def audit_engines() -> tuple[ModuleType, ModuleType]:
    """Both of them: native, pure."""
    return native_audit(), pure_audit


@pytest.fixture(scope="session")
def error_of() -> Callable[..., tuple[str, str]]:
    """A function that calls another one and returns the class and message of what that raises."""

    def call(function: Callable[..., object], *args: object, **options: object) -> tuple[str, str]:
        with pytest.raises(Exception) as raised:  # noqa: PT011
            function(*args, **options)
        return type(raised.value).__name__, str(raised.value)

    return call


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the test data."""
    return DATA
