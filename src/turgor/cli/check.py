"""`turgor check`: the mesh doctor."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["check"]


def check(
    mesh: Annotated[str, typer.Argument(metavar="MESH", help="A mesh file: .obj, .stl, .ply, .off or .glb.")],
    repair: Annotated[
        str | None,
        typer.Option(
            "--repair", metavar="OUT", help="Also close holes, and write the repaired mesh here (format by its ending)."
        ),
    ] = None,
    cloth: Annotated[bool, typer.Option("--cloth", help="Check it as cloth: open surfaces are fine.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Check whether a mesh can hold gas.

    If it cannot, the report says why, where, and what to do. As in a scene that uses the file, seams are welded,
    duplicate and degenerate faces dropped, faces turned outward and separate shells recognised; with --repair holes
    are closed too. Exit code 0: the mesh can be used; 2: it cannot.

    \b
    turgor check cat.obj
    turgor check scan.stl --repair repaired.obj
    """
    from turgor import shapes
    from turgor.cli.printing import human_size, print_json
    from turgor.errors import MeshError

    report = shapes.check(mesh, close_holes=repair is not None, cloth=cloth)
    written = shapes.write(report.shapes, repair) if repair is not None and report.ok else None
    if as_json:
        print_json(report.as_dict() | {"written": None if written is None else str(written)})
    else:
        print(report)
        if written is not None:
            print(f"  wrote     {written} ({human_size(written.stat().st_size)})")
    if not report.ok:
        more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
        raise MeshError(f"{report.source}: {report.problems[0]}{more}")
