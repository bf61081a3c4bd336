"""Labelled files become rows, and rows are parted so that nothing leaks."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from faithguard.errors import ConfigError
from faithguard.train._rows import CAPS, REPEATS, Row, digest, epoch, read_rows, split
from tests.train.facts import fact_rows, write_rows


def read(tmp_path: Path, *rows: Any, languages: tuple[str, ...] = ("en",)) -> list[Row]:
    """Write rows and read them."""
    return read_rows(write_rows(tmp_path / "rows.jsonl", list(rows)), languages)


def test_each_form_of_label_is_known(tmp_path: Path) -> None:
    """NLI wins; a label of 0 says only what a pair is not."""
    given = [
        {"nli": "e", "label": 1},
        {"nli": "n", "label": 0},
        {"nli": "c"},
        {"label": 1},
        {"nli": None, "label": 0},
    ]
    rows = read(tmp_path, *({"context": ["x y"], "claim": "It is so.", **one} for one in given))

    assert [row.target for row in rows] == ["e", "n", "c", "e", "nc"]


def test_a_fragment_takes_its_question(tmp_path: Path) -> None:
    """As a claim does when it is served; a sentence stands for itself."""
    about = {"context": "It costs 9 EUR.", "label": 1, "question": "What does it cost?"}
    short, long = read(
        tmp_path,
        {**about, "claim": "9 EUR"},
        {**about, "claim": "The ticket costs 9 EUR."},
    )

    assert short.claim == "What does it cost? 9 EUR"
    assert long.claim == "The ticket costs 9 EUR."


def test_only_languages_that_the_encoder_knows_are_taken(tmp_path: Path) -> None:
    """Rows that say no language count as the first."""
    row = {"context": "x", "claim": "y z", "label": 1}
    given = [{**row, "lang": "en"}, {**row, "lang": "fa"}, row]

    assert len(read(tmp_path, *given)) == 2
    assert len(read(tmp_path, *given, languages=("en", "fa"))) == 3
    with pytest.raises(ConfigError, match=r"no rows in the languages ja; name others with --lang"):
        read(tmp_path, *given[:2], languages=("ja",))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"claim": "Secret.", "label": 1}, "line 2 of .* has no 'context'"),
        ({"context": [], "claim": "Secret.", "label": 1}, "has no 'context'"),
        ({"context": ["x", " "], "claim": "Secret.", "label": 1}, "empty passage"),
        ({"context": "Secret.", "label": 1}, "has no 'claim'"),
        ({"context": "x", "claim": "Secret."}, "nli None and label None"),
        ({"context": "x", "claim": "Secret.", "label": 2}, "label 2"),
        ({"context": "x", "claim": "Secret.", "nli": "yes", "label": 1}, "nli 'yes'"),
        (["Secret."], "is not an object"),
    ],
)
def test_a_row_that_lacks_something_is_told_by_its_line(
    tmp_path: Path, row: object, message: str
) -> None:
    """And without its texts."""
    good = {"context": "x", "claim": "y", "label": 1}
    with pytest.raises(ConfigError, match=message) as caught:
        read(tmp_path, good, row)
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe{}", None])
def test_a_file_that_is_none_is_told(tmp_path: Path, content: bytes | None) -> None:
    """Broken JSON, another encoding, a missing file."""
    path = tmp_path / "rows.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError):
        read_rows(path)


def test_gzip_is_read_and_a_torn_one_is_told(tmp_path: Path) -> None:
    """By the name of the file."""
    lines = "".join(json.dumps(row) + "\n" for row in fact_rows())
    whole = gzip.compress(lines.encode())
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(whole)
    assert len(read_rows(path)) == 200
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="cannot be read"):
        read_rows(path)


def test_parts_share_no_context(tmp_path: Path) -> None:
    """Whatever the number of rows; and every row is used."""
    for count in (40, 200, 12_000):
        rows = read(tmp_path, *fact_rows(count))
        parts = split(rows)
        training = {row.context for row in parts.training}
        for apart in (parts.choosing, parts.calibration):
            assert apart
            assert not training & {row.context for row in apart}
        assert len(parts.training) < len(rows)
    assert not {r.context for r in parts.choosing} & {r.context for r in parts.calibration}
    assert sum(map(len, (parts.training, parts.choosing, parts.calibration))) == 12_000


def test_an_epoch_caps_and_repeats(tmp_path: Path) -> None:
    """Large sets are shown in part, another part in the next epoch."""
    capped, repeated = "conjnli", "fm2"
    rows = [
        Row(context=(f"{name} {n}",), claim="It is so.", target="e", dataset=name)
        for name in (capped, repeated)
        for n in range(CAPS[capped] * 2)
    ]
    first, second = epoch(rows, 0, 1), epoch(rows, 1, 1)
    counts = Counter(row.dataset for row in first)

    assert counts == {capped: CAPS[capped], repeated: CAPS[capped] * 2 * REPEATS[repeated]}
    assert first != second
    assert first == epoch(rows, 0, 1)
    assert first != epoch(rows, 0, 2)
    shown = [{r.context for r in part if r.dataset == capped} for part in (first, second)]
    assert not shown[0] & shown[1]


def test_the_digest_knows_other_rows(tmp_path: Path) -> None:
    """Also when only a label differs."""
    rows = read(tmp_path, *fact_rows(8))
    other = [*rows[:-1], Row(context=("x",), claim="y", target="e", dataset="z")]

    assert digest(rows) == digest(list(rows))
    assert digest(rows) != digest(other)
