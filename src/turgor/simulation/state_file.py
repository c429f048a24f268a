"""Saving a simulation and going on bit for bit: one .npz with the scene as text and every array that changes."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.scene.data import Body
from turgor.scene.scene import Scene

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["load", "save"]

VERSION = 1


def _inline(body: Body) -> Body:
    """The body with a mesh from a file written out, so that the saved state needs no other file."""
    if "file" not in body.shape.recipe:
        return body
    recipe: dict[str, dict[str, Any]] = {
        "mesh": {"vertices": body.shape.vertices.tolist(), "faces": body.shape.faces.tolist()}
    }
    if body.shape.kind == "sheet":
        recipe["mesh"]["cloth"] = True
    return replace(body, shape=replace(body.shape, recipe=recipe))


def save(sim: Simulation, path: str | os.PathLike[str]) -> None:
    """Write atomically: a temporary file in the same folder, then a rename."""
    target = Path(path)
    if not target.parent.is_dir():
        raise SceneError(f"{target}: the folder {str(target.parent)!r} does not exist; create it first")
    scene = Scene(dim=sim.scene.dim, gravity=sim.scene.gravity, wind=sim.scene.wind, name=sim.scene.name,
                  description=sim.scene.description, simulation=sim.scene.simulation)  # fmt: skip
    for thing in (*sim.scene.bodies, *sim.scene.walls):
        scene.add(_inline(thing) if isinstance(thing, Body) else thing)
    header = {
        "version": VERSION,
        "scene": scene.to_toml(),
        "settings": asdict(sim.settings),
        "worlds": sim.worlds,
        "ledger": sim.ledger,
        "assembly": sim.assembly,
    }
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".tmp", delete=False) as file:
        try:
            arrays: dict[str, Any] = sim.changing()
            np.savez(file, header=json.dumps(header), **arrays)
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, target)


def load(cls: type[Simulation], path: str | os.PathLike[str], device: str) -> Simulation:
    """Build the simulation again from its scene, then put every array back."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header: dict[str, Any] = json.loads(str(file["header"]))
            arrays = {name: file[name] for name in file.files if name != "header"}
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise SceneError(f"{path}: not a saved simulation ({error}); write one with sim.save(path)") from None
    if header.get("version") != VERSION:
        raise SceneError(f"{path}: saved by another version of turgor (format {header.get('version')!r})")
    scene = Scene.from_toml(header["scene"], source=str(path))
    for body in [body for body in scene.bodies if getattr(body, "settled", False)]:
        scene.set(f"{body.name}.settled", False)  # it has settled already
    sim = cls(scene, device, worlds=header["worlds"], ledger=header["ledger"], assembly=header["assembly"], **{
        key: value for key, value in header["settings"].items() if key != "seconds"
    })  # fmt: skip
    sim.restore(arrays)
    sim.scene = Scene.from_toml(header["scene"], source=str(path))
    return sim
