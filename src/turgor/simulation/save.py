"""Saving a simulation and going on bit for bit: one .npz with the scene as text and every array that changes."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.model.model import BODY_PARAMETERS
from turgor.model.state import State
from turgor.scene.data import Placed
from turgor.scene.scene import Scene
from turgor.simulation.failure import ensure_fine

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["digest", "load", "save"]

T = TypeVar("T", bound=Placed)

VERSION = 2
PARAMETERS = (*BODY_PARAMETERS, "mass", "inverse_mass", "gravity", "wind")


def _changing(sim: Simulation) -> dict[str, npt.NDArray[Any]]:
    """All that changes, by name, in internal order: state, settable parameters, walls, rigid bodies."""
    ensure_fine(sim)
    m, s = sim.model, sim.state
    arrays = {name: getattr(s, name).numpy() for name in State.PROPER}
    arrays |= {name: getattr(m, name).numpy() for name in PARAMETERS}
    arrays |= {f"wall_{name}": getattr(m.walls, name).numpy() for name in m.walls.CHANGING}
    arrays |= {f"rigid_{name}": getattr(m.rigids, name).numpy() for name in m.rigids.PROPER}
    return arrays | {"temperatures": sim.temperatures, "frame_index": np.array(sim.frame_index)}


def _restore(sim: Simulation, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Put back what `_changing` gave."""
    sim.temperatures = arrays.pop("temperatures")
    sim.frame_index = int(arrays.pop("frame_index"))
    memory = {name: arrays.pop(name) for name in list(arrays) if name.startswith("touch_")}
    for name, values in arrays.items():
        if name.startswith("wall_"):
            getattr(sim.model.walls, name.removeprefix("wall_")).assign(values)
        elif name.startswith("rigid_"):
            getattr(sim.model.rigids, name.removeprefix("rigid_")).assign(values)
        else:
            getattr(sim.state if name in State.PROPER else sim.model, name).assign(values)
    sim.model.windy = sim.model.windy or bool(np.any(sim.model.wind_drag.numpy()))
    sim.engine.changed()
    if sim.engine.touch is not None:
        sim.engine.touch.remember({name.removeprefix("touch_"): values for name, values in memory.items()})


def digest(sim: Simulation) -> str:
    """Hex digest (SHA-256) of all that changes."""
    sha = hashlib.sha256()
    for name, array in sorted(_changing(sim).items()):
        sha.update(name.encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def _inline(body: T) -> T:
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
    if target.is_dir():
        raise SceneError(f"{target}: is a folder; give the name of a file in it, such as state.npz")
    if not target.parent.is_dir():
        raise SceneError(f"{target}: the folder {str(target.parent)!r} does not exist; create it first")
    scene = Scene(dim=sim.scene.dim, gravity=sim.scene.gravity, wind=sim.scene.wind, name=sim.scene.name,
                  description=sim.scene.description, simulation=sim.scene.simulation)  # fmt: skip
    for body in sim.scene.bodies:
        scene.add(_inline(body))
    for rigid in sim.scene.rigid_bodies:
        scene.add(_inline(rigid))
    for wall in sim.scene.walls:
        scene.add(wall)
    for entry in sim.scene.attachments:
        scene.attach(entry.body, entry.vertices, entry.rigid)
    header = {
        "version": VERSION,
        "scene": scene.to_toml(),
        "settings": {key: value for key, value in sim.settings.arguments().items() if key != "device"},
    }
    arrays: dict[str, Any] = _changing(sim)
    if sim.engine.touch is not None:
        arrays |= {f"touch_{name}": values for name, values in sim.engine.touch.memory().items()}
    partial = target.with_name(f".{target.name}.part")
    try:
        with partial.open("wb") as file:
            np.savez(file, header=json.dumps(header), **arrays)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def load(cls: type[Simulation], path: str | os.PathLike[str], device: str) -> Simulation:
    """Build the simulation again from its scene, then put every array back."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header: dict[str, Any] = json.loads(str(file["header"]))
            arrays = {name: file[name] for name in file.files if name != "header"}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise SceneError(f"{path}: not a saved simulation ({error}); write one with sim.save(path)") from None
    if header.get("version") != VERSION:
        raise SceneError(f"{path}: saved by another version of turgor (format {header.get('version')!r})")
    scene = Scene.from_toml(header["scene"], source=str(path))
    for body in [body for body in scene.bodies if getattr(body, "settled", False)]:
        scene.set(f"{body.name}.settled", False)  # it has settled already
    sim = cls(scene, device, **header["settings"])
    _restore(sim, arrays)
    sim.scene = Scene.from_toml(header["scene"], source=str(path))
    return sim
