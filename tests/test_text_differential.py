"""Both engines on the same JSON text: the same bytes, or the same error at the same place.

OVERTURN_FAST_MUTANTS and OVERTURN_FAST_GENERATED say how many texts are tried.
"""

from __future__ import annotations

import json
from types import ModuleType

import pytest
from text_generator import GENERATED, MUTANTS, Generator

import overturn_fast
from overturn_fast import CanonicalizationError
from overturn_fast._profiles import PROFILES, Profile
from overturn_fast._pure.text import Selection

Engines = tuple[ModuleType, ModuleType]


def answer(engine: ModuleType, text: bytes, profile: Profile, max_depth: int) -> object:
    """The canonical text, or class, message and offset of the error."""
    try:
        return engine.canonical_text(text, profile, max_depth)
    except CanonicalizationError as error:
        return type(error), str(error), error.offset


def digest(engine: ModuleType, text: bytes, selection: Selection | None) -> object:
    try:
        return engine.text_digest(b"kind\nname\n", text, PROFILES[0], 100, selection)
    except CanonicalizationError as error:
        return type(error), str(error), error.offset


def test_mutated_documents_give_the_same_bytes_or_the_same_error(text_engines: Engines) -> None:
    native, pure = text_engines
    generator = Generator(20260102)
    accepted = 0
    for number in range(MUTANTS // 8):
        document = generator.document()
        for _ in range(8):
            text = generator.mutant(document)
            profile = PROFILES[generator.random.randrange(len(PROFILES))]
            max_depth = 3 if number % 5 == 0 else 1000
            given = answer(native, text, profile, max_depth)
            assert given == answer(pure, text, profile, max_depth), (profile.name, text)
            accepted += isinstance(given, bytes)
    assert MUTANTS // 20 < accepted < MUTANTS * 3 // 4


def test_mutated_documents_have_the_same_fingerprint_or_the_same_error(
    text_engines: Engines,
) -> None:
    native, pure = text_engines
    generator = Generator(20260103)
    for _ in range(MUTANTS // 8):
        text = generator.mutant(generator.document())
        names = frozenset(generator.word() for _ in range(generator.random.randrange(4)))
        selection = Selection(names, generator.random.random() < 0.5)
        for chosen in (None, selection):
            assert digest(native, text, chosen) == digest(pure, text, chosen), (chosen, text)


def test_large_objects_in_others_are_put_in_order_alike(text_engines: Engines) -> None:
    native, pure = text_engines
    generator = Generator(20260107)
    for number in range(MUTANTS // 40):
        text = generator.text(generator.large_value(1 + number % 12))
        if number % 3 == 0:  # names that come again
            text = text.replace(b'"id', b'"a').replace(b'"name', b'"b')
        profile = PROFILES[number % len(PROFILES)]
        selection = Selection(frozenset([generator.word(), generator.word()]), number % 2 == 0)
        assert answer(native, text, profile, 50) == answer(pure, text, profile, 50), text
        assert digest(native, text, selection) == digest(pure, text, selection), text


def test_every_prefix_of_a_document_is_refused_alike(text_engines: Engines) -> None:
    native, pure = text_engines
    generator = Generator(20260104)
    for _ in range(MUTANTS // 800):
        document = generator.document()[:3000]
        for end in range(len(document)):
            text = document[:end]
            assert answer(native, text, PROFILES[1], 50) == answer(pure, text, PROFILES[1], 50), (
                text
            )


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_text_and_objects_have_one_canonical_form(profile: Profile, engine: ModuleType,
                                                  text_engine: ModuleType) -> None:  # fmt: skip
    """``canonicalize(json.dumps(v))`` is ``dumps(v)`` wherever both exist."""
    generator = Generator(20260105)
    for _ in range(GENERATED // len(PROFILES)):
        text = generator.document()
        value = json.loads(text)
        try:
            expected = engine.canonical_with(profile.name, value).encode()
        except overturn_fast.IntegerDomainError:
            continue  # an int may be out of range where the literal is a double
        except CanonicalizationError:
            with pytest.raises(CanonicalizationError):
                text_engine.canonical_text(text, profile, 1000)
        else:
            assert text_engine.canonical_text(text, profile, 1000) == expected, text
