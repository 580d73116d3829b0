"""``overturn-fast migrate`` and ``overturn_fast.migration``: recordings under other keys."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import overturn_fast
from overturn_fast import compat
from overturn_fast.migration import Migration, MigrationError, _selections, migrate

pytest.importorskip("overturn.fingerprint")
# The package has a function of the name of its module.
sdk = sys.modules["overturn.fingerprint"]

LARGE = 10**21
"""The profiles write it in different ways."""


def keyed(name: str, args: Any, output: Any, match_on: Any = None) -> tuple[str, dict[str, Any]]:
    """A recording as the SDK keys it."""
    recording = {"name": name, "args": args, "output": output}
    return sdk.tool_fingerprint(name, args, match_on), recording


def own(name: str, args: Any, match_on: Any = None) -> str:
    return overturn_fast.tool_fingerprint(name, args, match_on)


def text_of(*recordings: tuple[str, dict[str, Any]]) -> str:
    return json.dumps(dict(recordings), indent=2)


SAME = keyed("look_up", {"email": "a@b.c", "n": 1.0}, {"found": True})
DIFFERENT = keyed("pay", {"amount": LARGE, "currency": "EUR"}, [1, None])
SELECTED = keyed("pay", {"amount": LARGE, "request": "r-1", "at": 7}, "paid", ["amount"])
UNMATCHED = ("ab" * 32, {"name": "other", "args": {"x": 1}, "output": None})


def test_recordings_get_the_keys_of_the_other_profile() -> None:
    text = text_of(SAME, DIFFERENT, SELECTED)
    migration = migrate(text)
    assert migration.to == "default"
    assert json.loads(migration.text) == {
        SAME[0]: SAME[1],
        own("pay", DIFFERENT[1]["args"]): DIFFERENT[1],
        own("pay", SELECTED[1]["args"], ["amount"]): SELECTED[1],
    }
    assert [recording.name for recording in migration.changed] == ["pay", "pay"]
    assert [recording.profile for recording in migration.recordings] == ["both", "compat", "compat"]
    assert [recording.match_on for recording in migration.recordings] == [None, None, ("amount",)]
    assert migration.unmatched == migration.collisions == ()


def test_there_and_back_is_where_one_was() -> None:
    text = text_of(SAME, DIFFERENT, SELECTED, UNMATCHED)
    there = migrate(text)
    assert there.text != text
    back = migrate(there.text)
    assert back.to == "compat"
    assert back.text == text


def test_nothing_but_keys_changes() -> None:
    key, _ = DIFFERENT
    text = (
        f'\n{{ "{key}" :{{"name":"pay","args": {{"amount":{LARGE},"currency":"EUR"}},\r\n'
        '"output":[1.50, 1e400, {"a":1,"a":2}, "\\u00e9\\ud800", 12345678901234567890.0],'
        '"more":  true}\t}\n\n'
    )
    new_key = own("pay", {"amount": LARGE, "currency": "EUR"})
    assert migrate(text).text == text.replace(key, new_key)


def test_what_has_the_wanted_keys_stays_as_it_is() -> None:
    text = text_of(SAME, DIFFERENT)
    assert migrate(text, "compat").text == text
    assert migrate(text, "default").text == migrate(text).text
    assert migrate(text_of(SAME)).text == text_of(SAME)
    assert migrate(" {} ").text == " {} "
    assert migrate("{}").recordings == ()


def test_the_selection_is_found_among_many_arguments() -> None:
    args = {f"a{number}": number for number in range(30)} | {"n": LARGE}
    for match_on in (["n"], ["n", "a7"], [name for name in args if name != "a3"]):
        text = text_of(keyed("t", args, 1, match_on))
        (recording,) = migrate(text).recordings
        assert set(recording.match_on or ()) == set(match_on)
        assert recording.new_key == own("t", args, match_on)
    text = text_of(keyed("t", args, 1, ["n", "a1", "a2"]))
    assert len(migrate(text).unmatched) == 1


@pytest.mark.parametrize(("count", "most"), [(8, 10_000), (30, 10**5), (120, 10**6), (3000, 10**4)])
def test_looking_for_a_selection_takes_no_longer_the_more_there_are(count: int, most: int) -> None:
    names = dict.fromkeys(f"a{number}" for number in range(count))
    assert sum(len(selection or names) for selection in _selections(names)) <= most


def test_a_selection_is_found_among_hundreds_of_arguments() -> None:
    args = {f"a{number}": number for number in range(200)} | {"n": LARGE}
    for match_on in (["n"], [name for name in args if name != "a3"]):
        (recording,) = migrate(text_of(keyed("t", args, 1, match_on))).recordings
        assert recording.match_on == tuple(match_on)


def test_a_key_of_neither_profile_stays_and_is_reported() -> None:
    migration = migrate(text_of(UNMATCHED, DIFFERENT))
    assert [recording.key for recording in migration.unmatched] == [UNMATCHED[0]]
    assert json.loads(migration.text)[UNMATCHED[0]] == UNMATCHED[1]


def test_recordings_that_would_share_a_key_are_all_kept_and_reported() -> None:
    near = keyed("pay", {"amount": LARGE + 1, "currency": "EUR"}, "another output")
    third = keyed("pay", {"amount": LARGE + 2, "currency": "EUR"}, "a third")
    migration = migrate(text_of(DIFFERENT, near, SAME, third))
    (collision,) = migration.collisions
    new_key = own("pay", DIFFERENT[1]["args"])
    assert collision.key == new_key
    assert [r.value for r in collision.recordings] == [DIFFERENT[1], near[1], third[1]]
    assert [r.new_key for r in collision.recordings] == [new_key, near[0], third[0]]
    assert json.loads(migration.text) == {
        new_key: DIFFERENT[1],
        near[0]: near[1],
        SAME[0]: SAME[1],
        third[0]: third[1],
    }


def test_a_recording_that_has_the_key_already_keeps_it() -> None:
    new_key = own("pay", DIFFERENT[1]["args"])
    there = (new_key, {"name": "pay", "args": {"amount": 1e21, "currency": "EUR"}, "output": 0})
    migration = migrate(text_of(DIFFERENT, there), "default")
    (collision,) = migration.collisions
    assert [r.value["output"] for r in collision.recordings] == [0, [1, None]]
    assert json.loads(migration.text) == dict([DIFFERENT, there])


def test_keys_of_both_profiles_need_a_direction() -> None:
    mine = (own("pay", {"amount": LARGE}), {"name": "pay", "args": {"amount": LARGE}, "output": 1})
    text = text_of(DIFFERENT, mine)
    with pytest.raises(MigrationError, match="some recordings are keyed by the default profile"):
        migrate(text)
    assert len(migrate(text, "default").changed) == len(migrate(text, "compat").changed) == 1
    with pytest.raises(ValueError, match='to must be "default", "compat" or None'):
        migrate(text, "other")  # type: ignore[arg-type]


def test_arguments_that_are_no_object_are_taken_whole() -> None:
    text = text_of(keyed("t", [LARGE], 1), keyed("u", None, 2), keyed("v", "x", 3))
    assert [r.profile for r in migrate(text).recordings] == ["compat", "both", "both"]


def test_arguments_with_lone_surrogates_have_no_key_of_the_sdk() -> None:
    args = {"a": "\ud800"}
    text = json.dumps({own("t", args): {"name": "t", "args": args, "output": 1}})
    for to in ("default", "compat"):
        migration = migrate(text, to)  # type: ignore[arg-type]
        assert migration.recordings[0].profile == "default"
        assert migration.text == text


NO_RECORDINGS = 'expected an object {fingerprint: {"name", "args", "output"}}'

BAD: list[tuple[str, str]] = [
    ("", f"{NO_RECORDINGS}: line 1, column 1"),
    ("[]", f"{NO_RECORDINGS}: line 1, column 1"),
    ("{", "expected a fingerprint in double quotes: line 1, column 2"),
    ('{"a"}', "expected ':': line 1, column 5"),
    ('{"a":}', "Expecting value: line 1, column 6"),
    ('{"a":1}', 'a recording must be an object with a "name" that is text: line 1, column 6'),
    (
        '{"a":{"args":{}}}',
        'a recording must be an object with a "name" that is text: line 1, column 6',
    ),
    ('{"a":{"name":"t"}}', 'the recording has no "args": line 1, column 6'),
    ('{"a":{"name":1,"args":{}}}', "a recording must be an object"),
    ('{"a":{"name":"t","args":{}}', "expected ',' or '}': line 1, column 28"),
    ('{"a":{"name":"t","args":{}},}', "expected a fingerprint in double quotes"),
    ('{\n"a":{"name":"t","args":{}},\n"a":{"name":"t","args":{}}}', "stands here for the second"),
    (
        '{"\\u001b[3m":{"name":"t","args":{}},"\\u001b[3m":{"name":"t","args":{}}}',
        "the fingerprint \\u001b[3m... stands here",
    ),
    ('{"a":{"name":"t","args":{}}} x', "more text after the recordings: line 1, column 30"),
    ('{"a":{"name":"t","args":' + "[" * 100_000, "nested too deeply: line 1, column 6"),
    ("\ufeff{}", f"{NO_RECORDINGS}: line 1, column 1"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_what_is_no_file_of_recordings_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(MigrationError) as raised:
        migrate(text)
    assert message in str(raised.value)


def test_the_migrated_file_is_replayed_by_the_default_profile() -> None:
    migration: Migration = migrate(text_of(SAME, DIFFERENT, SELECTED))
    recordings = json.loads(migration.text)
    assert recordings[own("pay", DIFFERENT[1]["args"])]["output"] == [1, None]
    assert compat.tool_fingerprint("pay", DIFFERENT[1]["args"]) not in recordings


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def command() -> Any:
    """Runs ``overturn-fast migrate`` with arguments."""
    pytest.importorskip("click")
    pytest.importorskip("rich")
    from click.testing import CliRunner

    from overturn_fast.cli.group import cli

    return lambda *arguments: CliRunner().invoke(cli, ["migrate", *map(str, arguments)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "recordings.json"
    path.write_text(text_of(SAME, DIFFERENT, SELECTED), "utf-8")
    return path


def test_the_file_is_replaced_and_the_changes_are_reported(command: Any, path: Path) -> None:
    before = path.read_text("utf-8")
    path.chmod(0o640)
    result = command(path)
    assert result.exit_code == 0, result.output
    assert path.read_text("utf-8") == migrate(before).text
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["recordings.json"]
    whole, selected = own("pay", DIFFERENT[1]["args"]), own("pay", {"amount": LARGE})
    assert result.output.splitlines() == [
        "3 recordings, to the profile default: 2 have another key",
        f"  pay {DIFFERENT[0][:12]} -> {whole[:12]}",
        f"  pay {SELECTED[0][:12]} -> {selected[:12]} (arguments that count: amount)",
    ]
    assert command(path).exit_code == 0
    assert path.read_text("utf-8") == before


def test_another_file_may_be_written_or_none(command: Any, path: Path) -> None:
    before = path.read_text("utf-8")
    dry = command("--dry-run", path)
    assert dry.output.startswith("3 recordings, to the profile default: 2 would have another key")
    target = path.parent / "new.json"
    assert command(path, "-o", target).output == dry.output.replace("would have", "have")
    assert path.read_text("utf-8") == before
    assert target.read_text("utf-8") == migrate(before).text
    assert command(path, "--to", "compat", "-o", target).exit_code == 0
    assert target.read_text("utf-8") == before


def test_the_report_holds_everything_that_needs_a_look(command: Any, path: Path) -> None:
    near = keyed("pay", {"amount": LARGE + 1, "currency": "EUR"}, "another\x1b output")
    path.write_text(text_of(DIFFERENT, near, UNMATCHED), "utf-8")
    text = command("--dry-run", path)
    assert text.exit_code == 1
    lines = text.output.splitlines()
    assert "1 keep a key that no selection of their arguments gives:" in lines
    assert f"  other {UNMATCHED[0][:12]}" in lines
    for recording in (DIFFERENT[1], near[1]):
        assert f"    {json.dumps(recording)}" in lines
    result = command("--json", path)
    assert result.exit_code == 1
    report = json.loads(result.output)
    new_key = own("pay", DIFFERENT[1]["args"])
    assert report == {
        "to": "default",
        "recordings": 3,
        "changed": [{"name": "pay", "from": DIFFERENT[0], "to": new_key, "match_on": None}],
        "unmatched": [{"from": UNMATCHED[0], "to": UNMATCHED[0], "recording": UNMATCHED[1]}],
        "collisions": [
            {
                "key": new_key,
                "recordings": [
                    {"from": DIFFERENT[0], "to": new_key, "recording": DIFFERENT[1]},
                    {"from": near[0], "to": near[0], "recording": near[1]},
                ],
            }
        ],
    }
    assert json.loads(path.read_text("utf-8")) == {
        new_key: DIFFERENT[1],
        near[0]: near[1],
        UNMATCHED[0]: UNMATCHED[1],
    }


def test_no_key_steers_the_terminal(command: Any, path: Path) -> None:
    path.write_text(text_of(("\x1b[31m\n", {"name": "t\x1b", "args": 1})), "utf-8")
    assert command(path).output.splitlines()[-1] == "  t\\u001b \\u001b[31m\\u000a"


def test_a_file_that_cannot_be_read_stays_what_it_is(command: Any, path: Path) -> None:
    for content, message in (
        (b"[1]", f"{NO_RECORDINGS}: line 1, column 1"),
        (b'{"\xff":1}', "not UTF-8 at byte 2"),
    ):
        path.write_bytes(content)
        result = command(path)
        assert result.exit_code == 2
        assert message in result.output
        assert path.read_bytes() == content
    assert command(path.parent / "missing.json").exit_code == 2
    assert command(path, "--to", "jcs").exit_code == 2
