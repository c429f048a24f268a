"""Inflatable letters: closed, of the genus the eye sees, with well-shaped triangles."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turgor import shapes
from turgor.errors import MeshError
from turgor.shapes import Shape
from turgor.shapes.glyphs import DEFAULT_FONT, _polygons, regions

GENUS = {
    "M": [0], "P": [1], "T": [0], "L": [0], "O": [1], "8": [2], "B": [2], "A": [1], "g": [1], "i": [0, 0], "j": [0, 0],
    "ä": [1, 0, 0], "%": [1, 0, 1], "®": [1, 1], "=": [0, 0], "ß": [0], "@": [1], "Ø": [2], ".": [0], "5": [0],
}  # fmt: skip


def smallest_angle(shape: Shape) -> float:
    """Over all corners of all triangles, in degrees."""
    corner = shape.vertices[shape.faces]
    angles = []
    for k in range(3):
        a, b = corner[:, (k + 1) % 3] - corner[:, k], corner[:, (k + 2) % 3] - corner[:, k]
        cosine = np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))).min())
    return float(min(angles))


def genus(shape: Shape) -> int:
    return (2 - (len(shape.vertices) - len(shape.edges) + len(shape.faces))) // 2


@pytest.mark.req("D6")
@pytest.mark.parametrize("character", GENUS)
def test_genus_and_shape_of_letters(character: str) -> None:
    shells = shapes.text(character)
    assert sorted(genus(shell) for shell in shells) == sorted(GENUS[character])
    for shell in shells:
        assert shapes.check(shell).clean
        assert smallest_angle(shell) > 18.0
        length = np.linalg.norm(np.diff(shell.vertices[shell.edges], axis=1)[:, 0], axis=1)
        assert length.min() > 0.2 / 12
        assert length.max() < 2.5 / 12


@pytest.mark.req("D6")
def test_text_lies_in_the_plane_of_writing_and_is_centred() -> None:
    shells = shapes.text("MPTL", size=2.0, depth=0.5)
    assert len(shells) == 4
    everything = np.concatenate([shell.vertices for shell in shells])
    low, high = everything.min(axis=0), everything.max(axis=0)
    assert low + high == pytest.approx(0.0, abs=1e-12)
    assert high[2] - low[2] == pytest.approx(2.0)  # capitals are `size` high
    assert high[1] - low[1] == pytest.approx(0.5)
    for one, two in itertools.pairwise(shells):
        assert one.vertices[:, 0].max() < two.vertices[:, 0].min()  # side by side, not in contact
    # the foot of the L points to the right and lies low
    foot = shells[3].vertices
    assert foot[foot[:, 0] > foot[:, 0].max() - 0.1, 2].max() < 0.0


@pytest.mark.req("D6")
def test_volume_is_depth_times_area_of_the_polygon_drawn() -> None:
    """Straight letters are meshed without loss: L is exact; O is inscribed and converges."""
    ring = regions("L", 1.0, None)[0][0]
    x, z = ring.T
    area = 0.5 * np.sum(x * np.roll(z, -1) - np.roll(x, -1) * z)
    assert shapes.letter("L", depth=0.3).volume == pytest.approx(0.3 * area, rel=1e-12)
    outer, inner = (
        0.5 * np.sum(x * np.roll(z, -1) - np.roll(x, -1) * z) for x, z in (r.T for r in regions("O", 1.0, None)[0])
    )
    errors = [abs(shapes.letter("O", depth=1.0, spacing=h).volume - outer - inner) for h in (0.16, 0.08, 0.04)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01 * outer


@pytest.mark.req("D6")
def test_letter_is_one_shell_of_text_and_its_recipe_makes_it_again() -> None:
    shells = shapes.text("Pi", size=0.5, depth=0.1, spacing=0.06)
    for index, shell in enumerate(shells):
        again = shapes.from_recipe(shell.recipe)
        alone = shapes.letter("Pi", index, size=0.5, depth=0.1, spacing=0.06)
        for other in (again, alone):
            assert np.array_equal(other.vertices, shell.vertices)
            assert np.array_equal(other.faces, shell.faces)
            assert dict(other.recipe) == dict(shell.recipe)
    with_font = shapes.letter("P", font=DEFAULT_FONT)
    assert np.array_equal(with_font.vertices, shapes.letter("P").vertices)
    assert isinstance(with_font.recipe["letter"]["font"], str)


@pytest.mark.req("D6")
@given(
    st.characters(min_codepoint=33, max_codepoint=126), st.floats(1e-3, 1e3), st.floats(0.03, 2.0), st.floats(0.01, 3.0)
)
@settings(max_examples=40, deadline=None)
def test_any_character_at_any_size_and_spacing_is_closed(ch: str, size: float, spacing: float, depth: float) -> None:
    """Even when the spacing is coarser than the letter, or the letter far thinner or thicker than usual."""
    for shell in shapes.text(ch, size=size, spacing=size * spacing, depth=size * depth):
        report = shapes.check(shell)
        assert report.clean, str(report)


def test_winding_rule_merges_strokes_and_keeps_islands() -> None:
    def square(half: float, clockwise: bool = False, at: float = 0.0) -> np.ndarray:
        ring = np.array([[-half, -half], [half, -half], [half, half], [-half, half]]) + at
        return ring[::-1] if clockwise else ring

    crossed = _polygons([square(1.0), square(1.0, at=0.5)])
    assert [part.area for part in crossed] == pytest.approx([2 * 4 - 1.5**2])
    target = _polygons([square(3.0, True), square(2.0), square(1.0, True)])  # clockwise ink, as in TrueType
    assert sorted(part.area for part in target) == pytest.approx([4.0, 36.0 - 16.0])


@pytest.mark.req("D6")
@pytest.mark.parametrize(
    ("string", "handles"),
    [
        ("WROCŁAW", [0, 1, 1, 0, 0, 1, 0]),
        ("ŻÓŁĆ", [0, 0, 1, 0, 0, 0, 0]),
        ("ΦΨΩ", [2, 0, 0]),
        ("ЖБЯ", [0, 1, 1]),
        ("ệ", [1, 0, 0]),
        ("ẞ€", [0, 0]),
    ],
)
def test_letters_beyond_latin_1(string: str, handles: list[int]) -> None:
    """Each part of each character is one closed shell with the holes that are seen."""
    shells = shapes.text(string)
    assert sorted(map(genus, shells)) == sorted(handles)
    assert all(shapes.check(shell).clean for shell in shells)


@pytest.mark.req("D6")
@pytest.mark.parametrize(("apart", "joined"), [("n\u0303", "ñ"), ("Z\u0307", "Ż"), ("e\u0323\u0302", "ệ")])
def test_an_accent_typed_apart_is_the_same_letter(apart: str, joined: str) -> None:
    for one, other in zip(shapes.text(apart), shapes.text(joined), strict=True):
        assert np.array_equal(one.vertices, other.vertices)
        assert np.array_equal(one.faces, other.faces)


@pytest.mark.req("D6")
def test_a_font_file_of_the_user_is_read(tmp_path: Path) -> None:
    """A copy under another name gives the same letter, and is named where it lacks one."""
    own = tmp_path / "own.ttf"
    own.write_bytes(DEFAULT_FONT.read_bytes())
    assert np.array_equal(shapes.letter("Ł", font=own).vertices, shapes.letter("Ł").vertices)
    with pytest.raises(MeshError, match=r"own\.ttf has no '漢'"):
        shapes.text("漢", font=own)


def test_all_missing_characters_are_named_in_one_sentence() -> None:
    with pytest.raises(MeshError) as caught:
        shapes.text("a漢b字a漢")
    assert str(caught.value) == (
        "text: the built-in font (Latin, Greek, Cyrillic) has no '漢' (U+6F22) and '字' (U+5B57); leave them out, or "
        "give font = the path of a .ttf or .otf file that has them"
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: shapes.text(""), "nothing to write"),
        (lambda: shapes.text(" \t"), "nothing to write"),
        (lambda: shapes.text(3), "nothing to write"),  # type: ignore[arg-type]
        (lambda: shapes.text("a漢"), "has no '漢'"),
        (lambda: shapes.text("x" * 2000), "2,000 characters"),
        (lambda: shapes.text("M", size=0), "size"),
        (lambda: shapes.text("M", depth=-1), "depth"),
        (lambda: shapes.text("M", spacing=0), "spacing"),
        (lambda: shapes.text("M", spacing=1e-9), "limit"),
        (lambda: shapes.text("M", font="nowhere.ttf"), "no font file"),
        (lambda: shapes.text("M", font=Path(__file__)), "not a readable font"),
        (lambda: shapes.letter("M", 1), "no shell 1"),
        (lambda: shapes.letter("M", -1), "index"),
    ],
)
def test_impossible_text_is_refused(call: object, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        call()  # type: ignore[operator]


def test_shipped_font_is_small_and_licensed() -> None:
    assert DEFAULT_FONT.stat().st_size < 100_000
    assert "Bitstream" in (DEFAULT_FONT.parent / "LICENSE_DEJAVU").read_text()
