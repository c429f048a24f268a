"""What the mesh doctor found, did and could not do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from turgor.shapes.shape import FloatArray, Shape

__all__ = ["EXAMPLES", "Finding", "Report", "many", "place"]

EXAMPLES = 3  # places shown for each finding: enough to find it in a modeller, few enough to read


@dataclass(frozen=True)
class Finding:
    """One kind of defect: how often, and where the first few are."""

    count: int
    where: tuple[tuple[float, ...], ...] = ()  # up to EXAMPLES points (x, y, z) in metres, as in the file

    def __str__(self) -> str:
        places = ", ".join(place(point) for point in self.where)
        return f"{self.count:,}" + (f", such as at {places}" if places else "")


@dataclass
class Report:
    """The doctor's answer. `ok`: every shell can hold gas (after the repairs listed); `clean`: it needed none.

    Self-intersections are not looked for: a surface may pass through itself and still hold gas in this model.
    """

    source: str  # file name, or what the mesh was
    vertices: int = 0  # as given
    faces: int = 0  # as given
    findings: dict[str, Finding] = field(default_factory=dict)  # by name, only those with a count above zero
    repaired: list[str] = field(default_factory=list)  # a sentence for each repair that was made
    fitted: list[str] = field(default_factory=list)  # a sentence for each change that was asked for: size, up, ...
    notes: list[str] = field(default_factory=list)  # a sentence for what of the look (textures) could not be kept
    problems: list[str] = field(default_factory=list)  # a sentence, with a remedy, for each that is left
    shells: list[dict[str, Any]] = field(
        default_factory=list
    )  # per shell: vertices, faces, volume (m³), genus, ok, ...
    shapes: list[Shape] = field(default_factory=list)  # the shells that can be simulated, in the order of the file

    def found(self, name: str, count: int, where: FloatArray) -> None:
        """Add to the count of a finding; keep the first places."""
        old = self.findings.get(name, Finding(0))
        places = [tuple(float(x) for x in point) for point in where[:EXAMPLES]]
        self.findings[name] = Finding(old.count + count, (*old.where, *places)[:EXAMPLES])

    @property
    def ok(self) -> bool:
        """Whether everything in the mesh can be simulated."""
        return not self.problems and bool(self.shapes)

    @property
    def clean(self) -> bool:
        """Whether it was fine before any repair."""
        return self.ok and not self.repaired

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for --json."""
        return {
            "source": self.source,
            "ok": self.ok,
            "clean": self.clean,
            "vertices": self.vertices,
            "faces": self.faces,
            "findings": {
                name: {"count": found.count, "where": [list(point) for point in found.where]}
                for name, found in self.findings.items()
            },
            "repaired": list(self.repaired),
            "fitted": list(self.fitted),
            "notes": list(self.notes),
            "problems": list(self.problems),
            "shells": [dict(shell) for shell in self.shells],
        }

    def __str__(self) -> str:
        verdict = "can hold gas" if self.ok else "cannot hold gas"
        if self.ok and self.shapes[0].kind == "sheet":
            verdict = "can be simulated as cloth"
        if self.ok and self.repaired:
            verdict += ", after repairs"
        lines = [f"{self.source}: {verdict}", f"  {self.vertices:,} vertices, {self.faces:,} faces as given"]
        lines += [f"  found     {name.replace('_', ' ')}: {found}" for name, found in self.findings.items()]
        lines += [f"  repaired  {sentence}" for sentence in self.repaired]
        lines += [f"  fitted    {sentence}" for sentence in self.fitted]
        lines += [f"  note      {sentence}" for sentence in self.notes]
        lines += [f"  problem   {sentence}" for sentence in self.problems]
        for index, shell in enumerate(self.shells):
            text = f"{shell['vertices']:,} vertices, {shell['faces']:,} faces"
            if shell["volume"] is not None:
                text += f", volume {shell['volume']:.6g} m³"
            if shell["genus"]:
                text += f", {shell['genus']} handle{'s' if shell['genus'] > 1 else ''}"
            lines.append(f"  shell {index}   {text}" + ("" if shell["ok"] else ": not usable"))
        if len(self.shells) > 1:
            lines.append(
                "  note      load the shells one by one with load(path, shell=0), load(path, shell=1), ...; "
                'all with parts="all"; overlapping ones joined with parts="union"'
            )
        return "\n".join(lines)


def place(point: Any) -> str:
    """'(1, 0.5, 0)': a point in a sentence."""
    return "(" + ", ".join(f"{x:.4g}" for x in point) + ")"


def many(count: int, noun: str) -> str:
    """'1 face', '2 faces', '3 vertices'."""
    plural = noun[:-2] + "ices" if noun.endswith("vertex") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"
