"""Saving a simulation and going on bit for bit: one .npz with the scene as text and every array that changes.

Some arrays are lists of a contact method, whose entries are places in others: kernels go there without asking. So the
file has a digest of them all, and one whose arrays are not those that were saved is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing
from turgor.model.saved import Saved, restore, saved
from turgor.scene.data import AIR, Placed
from turgor.scene.scene import Scene
from turgor.scene.validate import choice, text
from turgor.shapes.paint import look_recipe
from turgor.simulation.choice import Choice, take
from turgor.simulation.failure import ensure_fine
from turgor.simulation.settings import RunSettings
from turgor.solvers.schemes import SCHEMES

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Described", "described", "digest", "digest_of", "inlined", "load", "owners", "save"]

T = TypeVar("T", bound=Placed)

VERSION = 7
OF_MACHINE = ("device", "threads")  # settings that are not saved
AWAKE = "awake_"  # prefix of the arrays of the bodies that are awake, where some sleep
CONTACT = "contact_"  # prefix of the arrays of contact methods


def _changing(sim: Simulation) -> dict[str, npt.NDArray[Any]]:
    """All that changes, by name, in internal order: state, settable parameters, walls, rigid bodies."""
    ensure_fine(sim)
    arrays = {"frame_index": np.array(sim.frame_index)}
    for prefix, owner in _owners_and_sleep(sim):
        arrays |= saved(owner, prefix)
    return arrays


def owners(sim: Simulation) -> list[tuple[str, Saved]]:
    """Who has arrays that are saved, and the prefix of their names."""
    m, s = sim.model, sim.state
    return [("", s), ("", m), ("wall_", s.walls), ("wall_", m.walls), ("rigid_", s.rigid), ("rigid_", m.rigids)]


def _owners_and_sleep(sim: Simulation) -> list[tuple[str, Saved]]:
    """And who sleeps, where bodies may."""
    return [*owners(sim), *([] if sim.sleep is None else [("sleep_", cast(Saved, sim.sleep))])]


def _restore(sim: Simulation, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Put back what `_changing` gave."""
    sim.frame_index = int(arrays["frame_index"])
    for prefix, owner in _owners_and_sleep(sim):
        restore(owner, arrays, prefix)
    model, rigids = sim.model, sim.model.rigids
    model.feels_air = model.feels_air or any(getattr(model, name).numpy().any() for name in (*AIR, "wind_drag"))
    rigids.feels_air = rigids.feels_air or any(getattr(rigids, name).numpy().any() for name in AIR)
    sim.engine.changed()
    contacts = {name: values for name, values in arrays.items() if name.startswith(CONTACT)}
    sim.engine.restore_contacts({name.removeprefix(CONTACT): values for name, values in contacts.items()})
    sim.engine.unsure = False


def digest(sim: Simulation) -> str:
    """Hex digest (SHA-256) of all that changes."""
    return digest_of(_changing(sim))


def digest_of(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Hex digest (SHA-256) of arrays, by name."""
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
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
    recipe["mesh"] |= look_recipe(body.shape)
    if body.shape.kind == "sheet":
        recipe["mesh"]["cloth"] = True
    return replace(body, shape=replace(body.shape, recipe=recipe))


def inlined(old: Scene) -> Scene:
    """The scene with all meshes written out, as it is saved."""
    scene = Scene(dim=old.dim, gravity=old.gravity, wind=old.wind, name=old.name, description=old.description,
                  simulation=old.simulation, air_density=old.air_density)  # fmt: skip
    for body in old.bodies:
        scene.add(_inline(body))
    for rigid in old.rigid_bodies:
        scene.add(_inline(rigid))
    for wall in old.walls:
        scene.add(wall)
    for entry in old.attachments:
        scene.attach(entry.body, entry.vertices, entry.rigid)
    return scene


def save(sim: Simulation, path: str | os.PathLike[str]) -> None:
    """Write atomically: a temporary file in the same folder, then a rename."""
    target = Path(path)
    if sim.model.variants is not None:
        raise SceneError("a simulation whose worlds are scenes of their own (variants) cannot be saved")
    if target.is_dir():
        raise SceneError(f"{target}: is a folder; give the name of a file in it, such as state.npz")
    if not target.parent.is_dir():
        raise SceneError(f"{target}: the folder {str(target.parent)!r} does not exist; create it first")
    arrays: dict[str, Any] = _changing(sim)
    arrays |= {CONTACT + name: values for name, values in sim.engine.saved_contacts().items()}
    if sim.sleep is not None:
        arrays |= sim.sleep.saved_touches()
        if (awake := sim.sleep.awake) is not None:
            arrays |= {AWAKE + name: values for name, values in _changing(awake).items()}
            arrays |= {AWAKE + CONTACT + name: values for name, values in awake.engine.saved_contacts().items()}
    header = {
        "version": VERSION,
        "scene": inlined(sim.scene).to_toml(),
        "device": sim.device,
        "choice": list(sim.choice),
        "settings": {key: value for key, value in sim.settings.arguments().items() if key not in OF_MACHINE},
        "digest": digest_of(arrays),
    }
    with replacing(target) as temporary, temporary.open("wb") as file:
        np.savez(file, header=json.dumps(header), **arrays)


class Described(NamedTuple):
    """What a saved simulation says of itself, beside its arrays."""

    scene: str  # TOML, without references to mesh files
    device: str  # where it ran
    choice: Choice
    settings: dict[str, Any]  # arguments of `turgor.Simulation`
    digest: str  # of its arrays


def described(path: str | os.PathLike[str]) -> Described:
    """The description in a saved file; SceneError if it is none."""
    header = _read(path, ["header"])["header"]
    try:
        table = json.loads(str(header))
        version = table["version"] if isinstance(table, dict) else None
        if version != VERSION:
            raise SceneError(
                f"{path}: saved in format {version!r}, by another version of turgor; this one reads format {VERSION}; "
                "run its scene again and save that"
            )
        scene, device, settings = table["scene"], table.get("device", "cpu"), dict(table["settings"])
        solver, reason = map(str, table["choice"])
        sealed = str(table["digest"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SceneError(f"{path}: not a saved simulation ({error}); write one with sim.save(path)") from None
    if unknown := set(settings) - set(RunSettings.__dataclass_fields__) | {*OF_MACHINE, "seconds"} & set(settings):
        raise SceneError(f"{path}: the saved settings have an unknown entry {min(unknown)!r}; save it again")
    choice("solver", solver, [*SCHEMES, "implicit"])
    return Described(text("scene", scene), text("device", device), Choice(solver, reason), settings, sealed)


def _read(path: str | os.PathLike[str], names: Sequence[str] | None = None) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a saved file (those of `names`). Memory is taken only for what the file really holds."""
    try:
        room = os.stat(path).st_size
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                with archive.open(info) as member:
                    if info.compress_type != zipfile.ZIP_STORED or _bytes_of(member) > room:
                        raise ValueError(f"{info.filename} announces more than the file holds")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in (file.files if names is None else names)}
    except (OSError, EOFError, LookupError, ValueError, RuntimeError, MemoryError, zipfile.BadZipFile) as error:
        raise SceneError(f"{path}: not a saved simulation ({error}); write one with sim.save(path)") from None


def _bytes_of(member: IO[bytes]) -> int:
    """Size of the array that a member of the archive announces."""
    version = np.lib.format.read_magic(member)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(member)
    return math.prod(shape) * int(dtype.itemsize)


def load(cls: type[Simulation], path: str | os.PathLike[str], device: str, threads: int | str) -> Simulation:
    """Build the simulation again from its scene, then put every array back."""
    header, arrays = described(path), _read(path)
    arrays.pop("header")
    if digest_of(arrays) != header.digest:
        raise SceneError(
            f"{path}: damaged: its arrays are not those that were saved; use another copy, or run it again"
        )
    scene = Scene.from_toml(header.scene, source=str(path))
    for body in [body for body in scene.bodies if getattr(body, "settled", False)]:
        scene.set(f"{body.name}.settled", False)  # it has settled already
    sim = cls(scene, device, threads=threads, **header.settings)
    try:
        take(sim, header.choice)
        _restore(sim, arrays)
        if sim.sleep is not None:
            sim.engine.take_disturbances()
            sim.sleep.put_back(sim, arrays)
            if (awake := sim.sleep.awake) is not None:
                own = {name.removeprefix(AWAKE): array for name, array in arrays.items() if name.startswith(AWAKE)}
                _restore(awake, own)
    except KeyError as missing:
        raise SceneError(f"{path}: the saved simulation is not complete, it has no {missing}; save it again") from None
    except (ValueError, TypeError, IndexError, OverflowError, RuntimeError) as error:
        raise SceneError(f"{path}: the saved arrays do not fit their scene ({error}); save it again") from None
    sim.scene = Scene.from_toml(header.scene, source=str(path))
    return sim
