"""Which implementation runs, what is said about it, and where it can run."""

from __future__ import annotations

import importlib.machinery
import inspect
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import threading
import types
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import overturn_fast
from overturn_fast import _backend
from overturn_fast._pure import fingerprints

PACKAGE = Path(overturn_fast.__file__).parent
TESTS = Path(__file__).parent
WORKED = "ade95f38fac06d697df87c3c07241094ee923e23f85e9e81e016c0ae546c91e0"
WORKED_CALL = 'tool_fingerprint("t", {"a": 1.0, "b": -0.0, "c": None})'


def run(
    code: str, folder: Path = PACKAGE.parent, **variables: str | None
) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with the package from ``folder``."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    # Packages are found as ever, but without site's .pth files: an editable install would find the
    # library of the checkout beside a package that has none.
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), sysconfig.get_path("purelib")])
    command = [sys.executable]
    if folder != PACKAGE.parent:
        # The finder of an editable install would find the library of the checkout, so the site
        # packages are searched without what their .pth files add.
        site_packages = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), *site_packages])
        command.append("-S")
    for name in ("OVERTURN_FAST_BACKEND", "OVERTURN_FAST_SHA256"):
        environment.pop(name, None)
    for name, value in variables.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return subprocess.run(
        [*command, "-c", textwrap.dedent(code)],
        cwd=folder,  # the first place where -c looks for modules
        env=environment,
        capture_output=True,
        text=True,
    )


def output(code: str, folder: Path = PACKAGE.parent, **variables: str | None) -> list[str]:
    """The lines that the code prints, which must succeed."""
    done = run(code, folder, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The exception that ended a process."""
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


SHOW = f"""
    import overturn_fast as f
    print(f.backend)
    print(f.native_error)
    print(f.{WORKED_CALL})
    """


@pytest.fixture
def without_library(tmp_path: Path) -> Path:
    """A folder with the package as it is without its native library."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "overturn_fast", ignore=ignored)
    return tmp_path


# -- the choice ------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", [None, "", "auto", "native"])
def test_the_native_backend_is_chosen_where_it_loads(
    native: ModuleType, choice: str | None
) -> None:
    assert output(SHOW, OVERTURN_FAST_BACKEND=choice) == ["native", "None", WORKED]


def test_the_python_backend_is_chosen_by_name() -> None:
    assert output(SHOW, OVERTURN_FAST_BACKEND="python") == [
        "python",
        "OVERTURN_FAST_BACKEND is python",
        WORKED,
    ]


@pytest.mark.parametrize("choice", ["pure", "Native", "native ", "0"])
def test_any_other_choice_is_refused(choice: str) -> None:
    assert last_line(run(SHOW, OVERTURN_FAST_BACKEND=choice)) == (
        f"ImportError: OVERTURN_FAST_BACKEND is {choice!r}; it may be auto, native or python"
    )


@pytest.mark.parametrize("choice", [None, "auto"])
def test_without_a_library_python_is_used_and_the_reason_told(
    without_library: Path, choice: str | None
) -> None:
    assert output(SHOW, without_library, OVERTURN_FAST_BACKEND=choice) == [
        "python",
        "the native library was not built (overturn_fast._native not found)",
        WORKED,
    ]


def test_without_a_library_native_is_an_error(without_library: Path) -> None:
    assert last_line(run(SHOW, without_library, OVERTURN_FAST_BACKEND="native")) == (
        "ImportError: the native library was not built (overturn_fast._native not found)"
    )


def test_a_library_that_does_not_load_is_not_used(without_library: Path) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (without_library / "overturn_fast" / f"_native{suffix}").write_bytes(b"no library")
    backend, reason, digest = output(SHOW, without_library)
    assert (backend, digest) == ("python", WORKED)
    assert reason != "None"
    done = run(SHOW, without_library, OVERTURN_FAST_BACKEND="native")
    assert last_line(done).startswith("ImportError: ")


def test_the_run_of_these_tests_uses_the_backend_that_was_asked_for() -> None:
    asked = os.environ.get("OVERTURN_FAST_BACKEND") or "auto"
    if asked != "auto":
        assert overturn_fast.backend == asked
    if overturn_fast.backend == "native":
        assert overturn_fast.native_error is None
        assert inspect.isbuiltin(overturn_fast.hash_json)
    else:
        assert overturn_fast.native_error
        assert overturn_fast.hash_json is fingerprints.hash_json


def test_a_library_of_another_version_is_refused(
    native: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_backend, "__version__", "99.9")
    monkeypatch.delenv("OVERTURN_FAST_BACKEND", raising=False)
    message = (
        f"the native library is of version {native.VERSION}, the package of 99.9; build it again"
    )
    with pytest.raises(ImportError) as raised:
        _backend.load_walker()
    assert str(raised.value) == message
    assert _backend.choose() == ("python", message, fingerprints)
    monkeypatch.setenv("OVERTURN_FAST_BACKEND", "native")
    with pytest.raises(ImportError, match="build it again"):
        _backend.choose()


def test_the_library_is_of_the_packages_version(native: ModuleType) -> None:
    assert overturn_fast.__version__ == native.VERSION


def test_the_native_backend_is_not_looked_for_outside_cpython(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = types.SimpleNamespace(implementation=types.SimpleNamespace(name="pypy"))
    monkeypatch.setattr(_backend, "sys", other)
    monkeypatch.delenv("OVERTURN_FAST_BACKEND", raising=False)
    assert _backend.choose() == (
        "python",
        "the native backend needs CPython, not pypy",
        fingerprints,
    )


# -- SHA-256 variants ------------------------------------------------------------------------------


def test_the_portable_sha256_gives_the_same_digests(native: ModuleType) -> None:
    code = f"""
        import overturn_fast as f
        from overturn_fast._native import ffi, lib
        print(f.backend, ffi.string(lib.ovt_sha256_variant()).decode())
        print(f.{WORKED_CALL})
        print(f.hash_json("x" * 100_000))
        """
    assert output(code, OVERTURN_FAST_SHA256="portable") == [
        "native portable",
        WORKED,
        native.hash_json("x" * 100_000),
    ]


def test_a_sha256_variant_that_cannot_run_is_refused(native: ModuleType) -> None:
    done = run(SHOW, OVERTURN_FAST_SHA256="no-such", OVERTURN_FAST_BACKEND="native")
    line = last_line(done)
    assert line.startswith("ImportError: OVERTURN_FAST_SHA256 is 'no-such'; this machine can run: ")
    assert line.endswith("portable")
    backend, reason, digest = output(SHOW, OVERTURN_FAST_SHA256="no-such")
    assert (backend, digest) == ("python", WORKED)
    assert "no-such" in reason


# -- the fixture of these tests --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ci", "backend", "summary"),
    [
        ("", None, "1 passed, 1 skipped"),
        ("1", "python", "1 passed, 1 error"),
    ],
)
def test_a_missing_native_backend_is_skipped_visibly_and_fails_in_ci(
    without_library: Path, ci: str, backend: str | None, summary: str
) -> None:
    tests = without_library / "tests"
    tests.mkdir()
    shutil.copy(TESTS / "conftest.py", tests)
    (tests / "test_both.py").write_text(
        f"def test_both(engine):\n    assert engine.{WORKED_CALL} == {WORKED!r}\n"
    )
    options = ["-q", "-rs", "-p", "no:cacheprovider", "--rootdir", str(tests), str(tests)]
    code = f"import pytest, sys; sys.exit(pytest.main({options!r}))"
    done = run(code, without_library, CI=ci, OVERTURN_FAST_BACKEND=backend)
    assert summary in done.stdout
    assert "there is no native backend: the native library was not built" in done.stdout


# -- interpreters and threads ----------------------------------------------------------------------


def test_the_native_module_can_be_loaded_twice(native: ModuleType) -> None:
    again = _backend.load_walker()
    try:
        assert again is not native
        assert again.canonical_json({"b": {2, 1}, "a": None}) == '{"b":[1,2]}'
        assert again.ToolFingerprinter is not native.ToolFingerprinter
        assert again.ToolFingerprinter("t", ["a"])({"a": 1}) == (
            native.ToolFingerprinter("t", ["a"])({"a": 1})
        )
    finally:
        sys.modules["overturn_fast._walker"] = native


def test_subinterpreters_with_locks_of_their_own_can_use_the_native_backend(
    native: ModuleType,
) -> None:
    if sys.version_info < (3, 12):
        pytest.skip("interpreters have locks of their own from Python 3.12 on")
    # Python 3.12 itself crashes when interpreters in different threads load datetime or decimal.
    threads = 3 if sys.version_info >= (3, 13) else 0
    code = f'''
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        import threading

        TASK = """if True:
            import datetime
            import overturn_fast as f
            assert f.backend == "native", f.native_error
            for _ in range(200):
                assert f.{WORKED_CALL} == {WORKED!r}
                value = [datetime.date(2026, 1, 2), {{2, 1}}, {{"é": 1.5, "a": None}}, 2**60]
                text = f.canonical_json(value)
                assert text == '["2026-01-02",[1,2],{{"é":1.5}},1152921504606846976]', text
                try:
                    f.canonical_json([b""])
                except f.UnsupportedTypeError as error:
                    assert str(error) == "$[0]: bytes has no canonical form"
            f.ToolFingerprinter("t", encoder=str)([b""])
            """

        def work():
            for _ in range(2):
                interpreter = interpreters.create()
                run = getattr(interpreters, "exec", None) or interpreters.run_string
                failure = run(interpreter, TASK)
                interpreters.destroy(interpreter)
                assert failure is None, failure
                done.append(1)

        done = []
        exec(TASK)
        threads = [threading.Thread(target=work) for _ in range({threads})]
        for thread in threads:
            thread.start()
        if not threads:
            work()
        for thread in threads:
            thread.join()
        print(len(done))
        '''
    assert output(code) == ["6" if threads else "2"]


def hammer(task: Any, threads: int = 8) -> None:
    """Run a task in several threads at once; it must fail in none of them."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(threads)

    def work() -> None:
        try:
            barrier.wait()
            task()
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []


def test_threads_may_share_values_and_fingerprinters(engine: ModuleType) -> None:
    value = {"b": [1.5, {"x", "y"}, {"é": None, "k": 2**70}], "a": (1, "z"), "o": [{"r": 1}] * 5}
    text, digest = engine.canonical_json(value), engine.tool_fingerprint("t", value)
    fingerprinter = engine.ToolFingerprinter("t", encoder=lambda _: NotImplemented)

    def task() -> None:
        for _ in range(200):
            assert engine.canonical_json(value) == text
            assert fingerprinter(value) == digest
            assert engine.fingerprint_many([("t", value)]) == [digest]
            with pytest.raises(overturn_fast.UnsupportedTypeError):
                engine.hash_json([b""])

    hammer(task)


def test_a_value_that_other_threads_change_has_one_of_its_texts(engine: ModuleType) -> None:
    shared: dict[str, Any] = {"n": 0, "list": [0], "fixed": {1}}
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            shared["n"] = number % 10
            shared["list"][:] = [number % 10] * (number % 5)
            shared.pop("extra", None) if number % 2 else shared.update(extra=1)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(2_000):
            text = engine.canonical_json(shared)
            assert text.startswith(('{"extra":1,"fixed":[1],"list":[', '{"fixed":[1],"list":['))
            assert engine.hash_json(shared)
    finally:
        stop.set()
        changer.join()


def test_the_library_is_loaded_without_switching_the_lock_back_on(native: ModuleType) -> None:
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("this Python always has the lock")
    code = "import sys, overturn_fast; print(sys._is_gil_enabled(), overturn_fast.backend)"
    before = output("import sys; print(sys._is_gil_enabled())")
    assert output(code) == [f"{before[0]} native"]
