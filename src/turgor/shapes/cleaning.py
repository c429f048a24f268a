"""Before its shells are looked at, a mesh is welded; degenerate and double faces and unused vertices are dropped."""

from __future__ import annotations

import numpy as np

from turgor.shapes.report import EXAMPLES, Report, many
from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Edges, Flags, Integers, components, weld

__all__ = ["clean"]

# Vertices closer than this part of the bounding box's diagonal are one vertex. float32 files carry 6e-8 of the
# coordinates, and no modeller makes edges of a millionth of the object.
WELD = 1e-6


def clean(report: Report, vertices: FloatArray, faces: Integers, cloth: bool) -> tuple[FloatArray, Integers, Integers]:
    """Vertices and faces after all of this, and which of those given each face is (m,).

    Each repair is noted in the report.
    """
    faces = _weld(report, vertices, faces)
    a, b, c = faces.T
    degenerate = (a == b) | (b == c) | (c == a)
    if degenerate.any():
        report.found("degenerate_faces", int(degenerate.sum()), vertices[faces[degenerate][:, 0]])
        report.repaired.append(f"dropped {many(int(degenerate.sum()), 'degenerate face')}")
    origin = np.flatnonzero(~degenerate)
    origin = origin[_single(report, vertices, faces[origin], cloth)]
    faces = faces[origin]
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    loose = np.flatnonzero(~used)
    welded = report.findings["duplicate_vertices"].count if "duplicate_vertices" in report.findings else 0
    if len(loose) - welded > 0:
        report.found("unreferenced_vertices", len(loose) - welded, vertices[loose])
        report.repaired.append(f"dropped {many(len(loose) - welded, 'unused vertex')}")
    renumber = np.cumsum(used) - 1
    return vertices[used], renumber[faces], origin


def _weld(report: Report, vertices: FloatArray, faces: Integers) -> Integers:
    """Faces with vertices in the same place made one.

    In a mesh that is closed as it is only the ends of edges without length are: a weld of all would join shells, and
    parts of a shell, that only touch.
    """
    diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    edges = Edges.of(faces)
    short = np.linalg.norm(vertices[edges.ends[:, 0]] - vertices[edges.ends[:, 1]], axis=1) <= WELD * diagonal
    if len(edges.open):
        keep = weld(vertices, WELD * diagonal)
    elif short.any():
        keep = components(len(vertices), *edges.ends[short].T)
    else:
        return faces
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    moved = np.flatnonzero((keep != np.arange(len(vertices))) & used)
    if not len(moved):
        return faces
    report.found("duplicate_vertices", len(moved), vertices[moved])
    report.repaired.append(f"welded {many(len(moved), 'vertex')} at seams")
    return keep[faces]


def _single(report: Report, vertices: FloatArray, faces: Integers, cloth: bool) -> Integers:
    """Indices of faces of which no two have the same vertices.

    Of copies with the same winding the first stays. Two faces with opposite winding lie back to back and enclose
    nothing: both go, unless the surface needs one of them.
    """
    ring = np.sort(faces, axis=1)
    order = np.lexsort(ring.T)  # stable: of equal faces the first of the file comes first
    starts = np.concatenate([[True], (ring[order[1:]] != ring[order[:-1]]).any(axis=1)])
    if starts.all():
        return np.arange(len(faces))
    group = np.empty(len(faces), np.int64)  # the first of the faces with the same vertices
    group[order] = order[np.flatnonzero(starts)][np.cumsum(starts) - 1]
    a, b, c = faces.T
    odd = ((a < b).astype(int) + (b < c) + (c < a)) == 1  # winding, against the sorted corners
    doubled = np.zeros(len(faces), bool)  # firsts of groups in which both windings occur
    doubled[group[odd != odd[group]]] = True
    dropped = np.zeros(len(faces), bool)
    if doubled.any():
        dropped[np.flatnonzero(doubled)[_back_to_back(vertices, faces, group, doubled, cloth)]] = True
    first = group == np.arange(len(faces))
    both, again = dropped[group], ~first & ~dropped[group]
    if both.any():
        report.found(
            "back_to_back_faces", int(both.sum()), vertices[faces[np.flatnonzero(both)[:EXAMPLES]]].mean(axis=1)
        )
        report.repaired.append(f"dropped {many(int(both.sum()), 'face')} that lie back to back")
    if again.any():
        where = vertices[faces[np.flatnonzero(again)[:EXAMPLES]]].mean(axis=1)
        report.found("duplicate_faces", int(again.sum()), where)
        report.repaired.append(f"dropped {many(int(again.sum()), 'duplicate face')}")
    return np.flatnonzero(first & ~both)


def _back_to_back(vertices: FloatArray, faces: Integers, group: Integers, doubled: Flags, cloth: bool) -> Flags:
    """Which of the doubled faces are to go for good, both of them.

    Doubled faces that hang together are judged as one patch, by the faces that its edges have without it and with one
    layer of it: an edge of a closed surface has two (of cloth: one or two), and none is no edge. The patch goes, as a
    fin or an inner wall does, unless the surface is better with one layer of it. Patches that touch nothing else are
    two-sided surfaces when they close, or make up most of the mesh; else they are debris. Cloth keeps a layer.
    """
    first = group == np.arange(len(faces))
    names = np.flatnonzero(doubled)
    edges = Edges.of(faces[first])
    layer = np.repeat(doubled[first], 3)  # sides that belong to a doubled face
    inside = np.bincount(edges.edge_of_side[layer], minlength=len(edges.ends))
    others = edges.count - inside
    # patches: doubled faces that share an edge
    sides = np.flatnonzero(layer)
    sides = sides[np.argsort(edges.edge_of_side[sides], kind="stable")]
    same = edges.edge_of_side[sides[1:]] == edges.edge_of_side[sides[:-1]]
    place = np.cumsum(doubled[first]) - 1  # of a face among the doubled ones
    patch = components(len(names), place[sides[:-1][same] // 3], place[sides[1:][same] // 3])
    # what is wrong with the edges of each patch, without it and with one layer
    regular = (0, 1, 2) if cloth else (0, 2)
    edge, at = np.unique(edges.edge_of_side[sides], return_index=True)
    of_patch = patch[place[sides[at] // 3]]
    without = np.bincount(of_patch[~np.isin(others[edge], regular)], minlength=len(names))
    with_one = np.bincount(of_patch[~np.isin((others + inside)[edge], regular)], minlength=len(names))
    touching = np.bincount(of_patch[others[edge] > 0], minlength=len(names)) > 0
    rim = np.bincount(of_patch[inside[edge] == 1], minlength=len(names)) > 0
    if cloth:
        return (with_one > without)[patch]
    goes = with_one >= without
    corner = vertices[faces]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    alone = ~touching[patch]
    debris = area[names[alone & rim[patch]]].sum() < area[first & ~doubled].sum()
    goes[~touching] = rim[~touching] & debris
    return goes[patch]
