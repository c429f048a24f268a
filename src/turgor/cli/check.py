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
    size: Annotated[
        float | None,
        typer.Option("--size", metavar="METRES", help="Scale it: the longest side of the bounding box."),
    ] = None,
    up: Annotated[
        str, typer.Option("--up", metavar="AXIS", help="The axis of the file that points up: x, y, z, -x, -y or -z.")
    ] = "z",
    vertices: Annotated[
        int | None, typer.Option("--vertices", metavar="N", help="Simplify each shell to at most so many vertices.")
    ] = None,
    parts: Annotated[
        str,
        typer.Option("--parts", metavar="all|union", help="Several shells: keep all, or join those that overlap."),
    ] = "all",
    cloth: Annotated[bool, typer.Option("--cloth", help="Check it as cloth: open surfaces are fine.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Check whether a mesh can hold gas.

    If it cannot, the report says why, where, and what to do. As in a scene that uses the file, seams are welded,
    duplicate and degenerate faces dropped, faces turned outward and separate shells recognised; with --repair holes
    are closed too. --size, --up, --vertices and --parts do what the options of that name do in a scene; the report, and
    the file that --repair writes, are of the result. Exit code 0: the mesh can be used; 2: it cannot.

    \b
    turgor check cat.obj
    turgor check scan.stl --repair repaired.obj
    turgor check toy.glb --up y --size 0.3 --vertices 1000 --repair toy.obj
    """
    from turgor import shapes
    from turgor.cli.printing import human_size, print_json
    from turgor.errors import MeshError
    from turgor.shapes.fitting import Fit, fitted

    fit = Fit.of("check", size=size, up=up, vertices=vertices, parts=parts)
    report = fitted(shapes.check(mesh, close_holes=repair is not None, cloth=cloth), fit)
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
