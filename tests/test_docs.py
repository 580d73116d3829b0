"""What is documented is true: examples, docstrings, signatures, and what is stated twice."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import overturn_fast
from overturn_fast._errors import CallField, CallReason, Status, TextReason
from overturn_fast._profiles import PROFILES
from overturn_fast._pure import fingerprints

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*ROOT.glob("README.md"), *sorted((ROOT / "docs").glob("*.md"))]
FUNCTIONS = sorted(fingerprints.__all__)
COMPAT_FUNCTIONS = [n.removeprefix("compat_") for n in FUNCTIONS if n.startswith("compat_")]
IN_ALL_ENGINES = [name for name in FUNCTIONS if name not in ("canonical_with", "hash_with")]


def source_file(*parts: str) -> Path:
    """A file of the source tree, which is not there where only the package is installed."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"there is no {'/'.join(parts)} here")
    return path


def names_of(engine: ModuleType) -> dict[str, Any]:
    """The public names, those of the engine in the place of the run's own."""
    public = {name: getattr(overturn_fast, name) for name in overturn_fast.__all__}
    return public | {name: getattr(engine, name) for name in FUNCTIONS}


def names_beside(engine: ModuleType, name: str) -> dict[str, Any]:
    """The same for the examples of one function; those of ``compat`` call each other."""
    names = names_of(engine)
    if name.startswith("compat_"):
        names |= {public: names[f"compat_{public}"] for public in COMPAT_FUNCTIONS}
    return names


# -- examples --------------------------------------------------------------------------------------


def modules() -> list[str]:
    """Every module of the package that is written in Python, but for those that are run."""
    found = pkgutil.walk_packages(overturn_fast.__path__, "overturn_fast.")
    names = ["overturn_fast", *(module.name for module in found)]
    return [name for name in names if not name.endswith(("._native", "._walker", ".__main__"))]


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_a_module_are_true(name: str) -> None:
    if name.startswith("overturn_fast.cli"):
        pytest.importorskip("click")
        pytest.importorskip("rich")
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_examples_in_a_docstring_are_true_on_both_engines(
    engine: ModuleType, name: str
) -> None:
    documented = getattr(engine, name)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    examples = parser.get_doctest(documented.__doc__, names_beside(engine, name), name, None, None)
    assert examples.examples or name == "canonical_with"
    runner.run(examples)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_on_a_page_are_true_on_both_engines(engine: ModuleType, page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, globs=names_of(engine))
    assert results.failed == 0


# -- docstrings and signatures ---------------------------------------------------------------------


def test_the_docstrings_of_the_native_functions_are_those_of_the_twin() -> None:
    generator = source_file("tools", "generate_docstrings.py")
    header = source_file("csrc", "python", "docstrings.h")
    spec = importlib.util.spec_from_file_location("generate_docstrings", generator)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert header.read_text("utf-8") == tool.generate(), "run: python tools/generate_docstrings.py"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_engines_document_a_function_alike(
    native: ModuleType, pure: ModuleType, name: str
) -> None:
    assert inspect.getdoc(getattr(native, name)) == inspect.getdoc(getattr(pure, name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_engines_have_the_same_signatures(
    native: ModuleType, pure: ModuleType, name: str
) -> None:
    def parameters(engine: ModuleType) -> list[tuple[str, Any, Any]]:
        signature = inspect.signature(getattr(engine, name))
        return [(p.name, p.kind, p.default) for p in signature.parameters.values()]

    assert parameters(native) == parameters(pure)


@pytest.mark.parametrize("attribute", ["kind", "name", "match_on", "ignore_args"])
def test_both_engines_document_an_attribute_alike(
    native: ModuleType, pure: ModuleType, attribute: str
) -> None:
    documents = {
        inspect.getdoc(getattr(engine.ToolFingerprinter, attribute)) for engine in (native, pure)
    }
    assert len(documents) == 1
    assert None not in documents


def test_the_native_module_offers_no_more_and_no_less(native: ModuleType, pure: ModuleType) -> None:
    offered = {name for name in vars(native) if not name.startswith("_")}
    assert offered - {"VERSION"} == set(FUNCTIONS) == set(pure.__all__)


@pytest.mark.parametrize("name", overturn_fast.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    public = getattr(overturn_fast, name)
    if callable(public):
        document = inspect.getdoc(public)
        assert document
        if not inspect.isclass(public):
            for section in ("Args:", "Returns:", "Raises:", "Source:", ">>> "):
                assert section in document, f"{name} has no {section}"


def test_the_public_names_are_sorted_and_said_once() -> None:
    assert len(overturn_fast.__all__) == len(set(overturn_fast.__all__))
    star: dict[str, Any] = {}
    exec("from overturn_fast import *", star)
    assert set(star) - {"__builtins__"} == set(overturn_fast.__all__)


def test_the_public_functions_of_the_twin_are_annotated(pure: ModuleType) -> None:
    for name in IN_ALL_ENGINES:
        function = getattr(pure, name)
        target = function.__init__ if inspect.isclass(function) else function
        parameters = set(inspect.signature(target).parameters) - {"self"}
        assert parameters <= set(target.__annotations__), name


# -- numbers stated in two places ------------------------------------------------------------------


def enumerators(header: str, prefix: str) -> dict[str, int]:
    return {
        name: int(value) for name, value in re.findall(rf"\b{prefix}([A-Z0-9_]+) = (\d+)", header)
    }


def test_the_statuses_of_both_sides_have_the_same_numbers() -> None:
    header = source_file("csrc", "core", "status.h").read_text("utf-8")
    in_c = enumerators(header, "OVT_")
    assert in_c.pop("OK") == 0
    assert in_c == {status.name: status.value for status in Status}


def test_the_reasons_of_both_sides_have_the_same_numbers() -> None:
    reader = source_file("csrc", "core", "json_read.h").read_text("utf-8")
    assert enumerators(reader, "OVT_TEXT_") == {reason.name: reason.value for reason in TextReason}
    calls = source_file("csrc", "core", "call_line.h").read_text("utf-8")
    assert enumerators(calls, "OVT_CALL_") == {reason.name: reason.value for reason in CallReason}
    fields = re.findall(r"^    OVT_CALL_([A-Z_]+),$", calls, re.MULTILINE)
    assert fields[:-1] == [field.name for field in CallField]


def test_the_profiles_of_both_sides_come_in_the_same_order() -> None:
    source = source_file("csrc", "core", "profile.c").read_text("utf-8")
    assert re.findall(r'\.name = "([a-z-]+)"', source) == [profile.name for profile in PROFILES]


def test_the_default_limit_is_the_same_everywhere(engine: ModuleType) -> None:
    for name in FUNCTIONS:
        if name not in ("fingerprint", "shape_counter", "utf16_length"):
            parameters = inspect.signature(getattr(engine, name)).parameters
            assert parameters["max_depth"].default == 10_000


def test_the_version_is_one() -> None:
    metadata = typing.cast(Any, importlib.import_module("importlib.metadata"))
    try:
        installed = metadata.version("overturn-fast")
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed but read from a checkout")
    assert installed == overturn_fast.__version__
