"""Glyph outlines of a font as flat polygons: the drawing of letters, before they become bodies."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.shape import FloatArray

__all__ = ["DEFAULT_FONT", "Region", "regions"]

# DejaVu Sans Bold 2.35 (licence beside it), without hints and kerning: Latin with all its European accents and those of
# Vietnamese, Greek, Cyrillic, punctuation and a few signs. Bold stems are a quarter of the cap height: room for gas.
DEFAULT_FONT = Path(__file__).parent / "data" / "DejaVuSans-Bold-subset.ttf"
# Straight pieces for each curve of the font: a quarter circle is then within 0.1 % of its radius; meshing resamples it.
PIECES = 16
# Extra room between characters, part of the cap height: inflated letters bulge, and should not start in contact.
TRACKING = 0.1
# A font is text and curves; more than this is not one (the largest CJK collections are about 20 MB).
MAX_FONT_BYTES = 64 * 1024**2

Region = list[FloatArray]  # outer ring counter-clockwise, then holes clockwise; each (n, 2), not repeated at the end


def regions(string: str, size: float, font: str | os.PathLike[str] | None) -> list[Region]:
    """Connected regions of the written string, left to right (the lowest first within a glyph), in metres.

    `size` is the height of a capital letter. The line is centred at the origin. An accent that was typed after its
    letter is joined to it (Unicode's NFC), since fonts draw the two as one.
    """
    if not isinstance(string, str) or not string.strip():
        raise MeshError(f"text: there is nothing to write in {string!r}; give at least one visible character")
    string = unicodedata.normalize("NFC", string)
    drawing = _open(font)
    drawing.check(string)
    found: list[Region] = []
    pen_x = 0.0
    for character in string:
        contours, advance = drawing.draw(character)
        for polygon in _polygons(contours):
            rings = [np.asarray(ring.coords)[:-1] for ring in (polygon.exterior, *polygon.interiors)]
            found.append([(ring + np.array([pen_x, 0.0])) * (size / drawing.cap_height) for ring in rings])
        pen_x += advance + TRACKING * drawing.cap_height
    if not found:
        raise MeshError(f"text: the font has no outline for any character of {string!r}")
    outer = np.concatenate([region[0] for region in found])
    middle = 0.5 * (outer.min(axis=0) + outer.max(axis=0))
    return [[ring - middle for ring in region] for region in found]


class _Font:
    """A font file that can draw characters, in font units."""

    def __init__(self, path: Path) -> None:
        from fontTools.ttLib import TTFont

        self.font = TTFont(path, lazy=True, fontNumber=0)
        self.glyphs = self.font.getGlyphSet()
        self.names: dict[int, str] = self.font.getBestCmap() or {}
        self.name = "built-in font (Latin, Greek, Cyrillic)" if path == DEFAULT_FONT else f"font {path.name}"
        self.cap_height = 0.7 * float(self.font["head"].unitsPerEm)  # a usual value, for fonts without capitals
        if ord("H") in self.names:  # measured: the OS/2 table often says nothing or not the truth
            contours, _ = self.draw("H")
            if contours:
                self.cap_height = float(np.ptp(np.concatenate(contours)[:, 1])) or self.cap_height

    def check(self, string: str) -> None:
        """Refuses characters that the font has not, all of them at once."""
        missing = [f"{one!r} (U+{ord(one):04X})" for one in dict.fromkeys(string) if ord(one) not in self.names]
        if missing:
            listed = " and ".join([", ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
            it = "it" if len(missing) == 1 else "them"
            remedy = f"leave {it} out, or give font = the path of a .ttf or .otf file that has {it}"
            raise MeshError(f"text: the {self.name} has no {listed}; {remedy}")

    def draw(self, character: str) -> tuple[list[FloatArray], float]:
        """Contours of a character that the font has, and the distance to the next one."""
        name = self.names[ord(character)]
        pen = _pen(self.glyphs)
        self.glyphs[name].draw(pen)
        contours = [np.array(contour) for contour in pen.contours if len(contour) >= 3]
        return contours, float(self.glyphs[name].width)


def _open(font: str | os.PathLike[str] | None) -> _Font:
    path = DEFAULT_FONT if font is None else Path(font)
    if not path.is_file():
        raise MeshError(f"text: there is no font file {path}; give the path of a .ttf or .otf file")
    if path.stat().st_size > MAX_FONT_BYTES:
        raise MeshError(f"text: {path} is larger than {MAX_FONT_BYTES // 1024**2} MB, so it is hardly a font")
    try:
        return _Font(path)
    except Exception as error:  # fontTools raises many kinds on damaged files
        raise MeshError(f"text: {path} is not a readable font ({error}); give a .ttf or .otf file") from None


def _pen(glyphs: Any) -> Any:
    """A fontTools pen that flattens lines, quadratic and cubic curves into contours of points."""
    from fontTools.pens.basePen import BasePen

    s = (np.arange(1, PIECES + 1) / PIECES)[:, None]

    class Flatten(BasePen):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(glyphs)
            self.contours: list[list[Any]] = []

        def _moveTo(self, point: Any) -> None:  # noqa: N802
            self.contours.append([point])

        def _lineTo(self, point: Any) -> None:  # noqa: N802
            self.contours[-1].append(point)

        def _qCurveToOne(self, control: Any, end: Any) -> None:  # noqa: N802
            a, b, c = (np.array(p, float) for p in (self._getCurrentPoint(), control, end))
            self.contours[-1] += list((1 - s) ** 2 * a + 2 * s * (1 - s) * b + s**2 * c)

        def _curveToOne(self, first: Any, second: Any, end: Any) -> None:  # noqa: N802
            a, b, c, d = (np.array(p, float) for p in (self._getCurrentPoint(), first, second, end))
            curve = (1 - s) ** 3 * a + 3 * s * (1 - s) ** 2 * b + 3 * s**2 * (1 - s) * c + s**3 * d
            self.contours[-1] += list(curve)

    return Flatten()


def _polygons(contours: list[FloatArray]) -> list[Any]:
    """Connected polygons with holes by the non-zero winding rule, outer rings counter-clockwise, lowest first.

    Contours from the largest down: those wound like the largest add ink, the others take it away. Overlapping strokes
    then merge, and an R inside the ring of ® stays.
    """
    import shapely
    from shapely.geometry import Polygon
    from shapely.geometry.polygon import orient

    ink = Polygon()
    signs = [_signed_area(contour) for contour in contours]
    outward = signs[int(np.argmax(np.abs(signs)))] if signs else 0.0
    for index in np.argsort(-np.abs(signs), kind="stable"):
        blob = shapely.make_valid(Polygon(contours[index]))
        ink = ink.union(blob) if signs[index] * outward > 0.0 else ink.difference(blob)
    parts = [part for part in getattr(ink, "geoms", [ink]) if part.geom_type == "Polygon" and part.area > 0.0]
    return [orient(part) for part in sorted(parts, key=lambda part: (part.bounds[1], part.bounds[0]))]


def _signed_area(contour: FloatArray) -> float:
    x, y = contour.T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
