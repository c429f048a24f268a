"""The scene: everything a user describes before a simulation starts, in Python or in a TOML file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from turgor.errors import SceneError, did_you_mean
from turgor.files import replacing
from turgor.scene import attachments, toml, validate
from turgor.scene.attachments import Attachment
from turgor.scene.data import Body, Cloth, Placed, SoftBody
from turgor.scene.described import options_of
from turgor.scene.options import (
    ClothOptions,
    ContainerOptions,
    GroundOptions,
    PlaneOptions,
    RigidBodyOptions,
    SoftBodyOptions,
)
from turgor.scene.references import References
from turgor.scene.rigid import RigidBody
from turgor.scene.settings import Settings
from turgor.scene.validate import (
    ZERO,
    Vector,
    VectorLike,
    VerticesLike,
    check_keys,
    context,
    instance,
    text,
    vector,
)
from turgor.scene.walls import Container, Ground, Plane, Wall
from turgor.shapes.files import ShapeLike
from turgor.shapes.limits import Limits, current, limited, with_vertices_left

__all__ = ["Scene"]

# Tables of a scene file, the lists of Scene that hold them, and their types: in the order of the simulation's bodies.
KINDS: dict[str, tuple[str, type[Any]]] = {
    "soft_body": ("soft_bodies", SoftBody),
    "cloth": ("cloths", Cloth),
    "rigid_body": ("rigid_bodies", RigidBody),
    "ground": ("grounds", Ground),
    "plane": ("planes", Plane),
    "container": ("containers", Container),
}
HEAD = ("name", "description", "dim", "gravity", "wind", "air_density")  # plain values of a scene
ATTACH = "attach"  # the table of attachments, which have no names
RESERVED = (*HEAD, "simulation")  # not free as names, since `set` reads them
EARTH = 9.81  # m/s²
AIR = 1.2  # kg/m³, at 20 °C and 1013 hPa

Thing = Body | RigidBody | Wall


class Scene:
    """Bodies, walls, gravity and wind, and how to simulate them.

    dim: 2 or 3. gravity: m/s², 9.81 downwards if left out (-y in 2D, -z in 3D). wind: m/s, velocity of the air.
    air_density: kg/m³ (kg/m² in 2D); 0 is a vacuum. Bodies with a drag coefficient feel wind and air.
    `add_*` checks and stores; each thing has a unique name. Scenes are equal when their data is.
    """

    dim: int  # 2 or 3; fixed
    gravity: Vector  # m/s²; default 9.81 downwards: -y in 2D, -z in 3D
    wind: Vector  # m/s, velocity of the air
    air_density: float  # kg/m³; kg/m² in 2D
    name: str
    description: str
    simulation: Settings
    soft_bodies: list[SoftBody]
    cloths: list[Cloth]
    rigid_bodies: list[RigidBody]
    attachments: list[Attachment]
    grounds: list[Ground]
    planes: list[Plane]
    containers: list[Container]

    def __init__(
        self,
        dim: int = 3,
        gravity: VectorLike | None = None,
        wind: VectorLike | None = None,
        name: str = "scene",
        description: str = "",
        simulation: Settings | None = None,
        air_density: float = AIR,
    ) -> None:
        self.dim = dim
        self.gravity = (0.0,) * (self.dim - 1) + (-EARTH,) if gravity is None else cast(Vector, gravity)
        self.wind = ZERO if wind is None else cast(Vector, wind)
        self.air_density = air_density
        self.name = name
        self.description = description
        self.simulation = Settings() if simulation is None else simulation
        for attribute, _ in KINDS.values():
            setattr(self, attribute, [])
        self.attachments = []

    if not TYPE_CHECKING:  # a type checker takes a class with __setattr__ to have every attribute

        def __setattr__(self, key: str, value: Any) -> None:
            """Checks what is assigned, so that `scene.gravity = 3` fails here and not in a simulation."""
            if key == "dim":
                if type(value) is not int or value not in (2, 3):
                    raise SceneError(f"dim must be 2 or 3, got {value!r}")
                if getattr(self, "dim", value) != value:
                    raise SceneError("dim of a scene cannot change: make a new scene")
            elif key in ("gravity", "wind"):
                value = vector(key, value, self.dim)
            elif key == "air_density":
                value = validate.number(key, value, low=0.0)
            elif key in ("name", "description"):
                value = text(key, value)
            elif key == "simulation":
                value = instance(key, value, Settings)
            elif key not in ("attachments", *(attribute for attribute, _ in KINDS.values())):
                raise SceneError(f"a scene has no {key!r}; {did_you_mean(key, Scene.__annotations__)}")
            object.__setattr__(self, key, value)

    def copy(self) -> Scene:
        """A scene with the same bodies and walls (which are frozen), that may be changed without harm to this one."""
        other = Scene(self.dim, self.gravity, self.wind, self.name, self.description, self.simulation, self.air_density)
        for attribute in ("attachments", *(attribute for attribute, _ in KINDS.values())):
            getattr(other, attribute).extend(getattr(self, attribute))
        return other

    # --- what is in it

    @property
    def bodies(self) -> list[Body]:
        """Soft bodies, then cloths, each in the order added. Rigid bodies are in `rigid_bodies`."""
        return [*self.soft_bodies, *self.cloths]

    @property
    def walls(self) -> list[Wall]:
        """Grounds, then planes, then containers, each in the order added."""
        return [*self.grounds, *self.planes, *self.containers]

    @property
    def names(self) -> list[str]:
        """Of all bodies, then all rigid bodies, then all walls."""
        return [thing.name for thing in (*self.bodies, *self.rigid_bodies, *self.walls)]

    def __getitem__(self, name: str) -> Thing:
        for thing in (*self.bodies, *self.rigid_bodies, *self.walls):
            if thing.name == name:
                return thing
        raise SceneError(f"the scene has no {name!r}; {did_you_mean(name, self.names)}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return all(getattr(self, key) == getattr(other, key) for key in Scene.__annotations__)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}: {self.dim}D, {', '.join(self.names) or 'empty'}>"

    # --- building it

    @options_of(SoftBody)
    def add_soft_body(self, shape: ShapeLike, **options: Unpack[SoftBodyOptions]) -> SoftBody:
        """Adds a closed body of springs and masses, with gas in it or empty."""
        return cast(SoftBody, self._add("soft_body", {"shape": shape, **options}))

    @options_of(Cloth)
    def add_cloth(self, shape: ShapeLike, **options: Unpack[ClothOptions]) -> Cloth:
        """Adds a sheet of springs and masses."""
        return cast(Cloth, self._add("cloth", {"shape": shape, **options}))

    @options_of(RigidBody)
    def add_rigid_body(self, shape: ShapeLike, **options: Unpack[RigidBodyOptions]) -> RigidBody:
        """Adds a solid that does not change its shape."""
        return cast(RigidBody, self._add("rigid_body", {"shape": shape, **options}))

    @options_of(Ground)
    def add_ground(self, height: float = 0.0, **options: Unpack[GroundOptions]) -> Ground:
        """Adds a horizontal floor; bodies stay above it."""
        return cast(Ground, self._add("ground", {"height": height, **options}))

    @options_of(Plane)
    def add_plane(self, point: VectorLike, normal: VectorLike, **options: Unpack[PlaneOptions]) -> Plane:
        """Adds a half space; bodies stay on the side its normal points to."""
        return cast(Plane, self._add("plane", {"point": point, "normal": normal, **options}))

    @options_of(Container)
    def add_container(self, size: VectorLike, **options: Unpack[ContainerOptions]) -> Container:
        """Adds a box (2D: rectangle) seen from inside, that may turn about its centre."""
        return cast(Container, self._add("container", {"size": size, **options}))

    @options_of(Attachment)
    def attach(self, body: str | Body, vertices: VerticesLike, rigid: str | RigidBody) -> Attachment:
        """Glues vertices of a soft body or cloth to a rigid body, with which they then move."""
        names = [thing.name if isinstance(thing, Placed) else thing for thing in (body, rigid)]
        with context(ATTACH):
            return self._attach({"body": names[0], "vertices": vertices, "rigid": names[1]})

    def _attach(self, values: Mapping[str, Any]) -> Attachment:
        attachment = self._fitting(toml.make(Attachment, values), self.attachments)
        self.attachments.append(attachment)
        return attachment

    def _fitting(self, attachment: Attachment, others: Sequence[Attachment]) -> Attachment:
        """The attachment, if it fits into this scene beside the others."""
        soft = {body.name: body for body in self.bodies}
        rigid = [body.name for body in self.rigid_bodies]
        if attachment.body not in soft:
            hint = did_you_mean(attachment.body, soft)
            raise SceneError(f"body: the scene has no soft body or cloth {attachment.body!r}; {hint}")
        if attachment.rigid not in rigid:
            hint = did_you_mean(attachment.rigid, rigid)
            raise SceneError(f"rigid: the scene has no rigid body {attachment.rigid!r}; {hint}")
        return attachments.checked(attachment, soft[attachment.body], others)

    def add(self, thing: Thing) -> None:
        """Adds a ready made body or wall; an empty name is filled in."""
        for kind, (_, cls) in KINDS.items():
            if isinstance(thing, cls):
                with context(f"{kind} {thing.name!r}" if thing.name else kind):
                    self._store(kind, thing)
                return
        raise SceneError(
            f"a scene holds soft bodies, cloths, rigid bodies, grounds, planes and containers, got {thing!r}"
        )

    def _add(self, kind: str, options: Mapping[str, Any]) -> Thing:
        name = options.get("name")
        with context(f"{kind} {name!r}" if isinstance(name, str) and name else kind):
            return self._make(kind, options)

    def _make(self, kind: str, options: Mapping[str, Any]) -> Thing:
        cls = KINDS[kind][1]
        name = options.get("name", "")
        if isinstance(name, str) and not name:
            check_keys(cls, options)
            options = {**options, "name": self._free_name(kind)}
        return self._store(kind, toml.make(cls, options))

    def _store(self, kind: str, thing: Thing) -> Thing:
        if not thing.name:
            thing = toml.changed(thing, ["name"], self._free_name(kind))
        self._check(thing, self.names)
        getattr(self, KINDS[kind][0]).append(thing)
        return thing

    def _free_name(self, kind: str) -> str:
        """ "soft_body-1", "soft_body-2", ...; the first ground is just "ground"."""
        count = len(getattr(self, KINDS[kind][0])) + 1
        name = kind if kind == "ground" and count == 1 else f"{kind}-{count}"
        while name in self.names:
            count += 1
            name = f"{kind}-{count}"
        return name

    def _check(self, thing: Thing, taken: list[str]) -> None:
        """Whether the thing fits into this scene beside those with the names `taken`."""
        if thing.name in taken:
            raise SceneError(f"the name {thing.name!r} is already used: choose another")
        if thing.name in RESERVED:
            raise SceneError(f"the name {thing.name!r} is reserved for the scene: choose another")
        if isinstance(thing, Cloth) and self.dim != 3:
            raise SceneError("cloth needs a 3D scene: set dim = 3")
        if not isinstance(thing, Ground) and thing.dim != self.dim:
            what = "shape" if isinstance(thing, Placed) else "point" if isinstance(thing, Plane) else "size"
            raise SceneError(f"{what} is {thing.dim}D but the scene has dim = {self.dim}: make them agree")

    def check(self) -> None:
        """Raises if the lists were changed by hand so that names or dimensions no longer fit."""
        taken: list[str] = []
        for kind, (attribute, cls) in KINDS.items():
            for number, thing in enumerate(getattr(self, attribute), 1):
                with context(f"{kind} number {number}"):
                    self._check(instance("entry", thing, cls), taken)
                taken.append(thing.name)
        for number, attachment in enumerate(self.attachments, 1):
            with context(f"{ATTACH} number {number}"):
                self._fitting(instance("entry", attachment, Attachment), self.attachments[: number - 1])

    def set(self, path: str, value: Any) -> None:
        """Changes one value by its path: `set("ball.springs.stiffness", "200")`, `set("gravity", (0, 0, -1.6))`.

        A string is read as a TOML value where it is one (this is `--set` of the command line); "none" clears an
        optional value. The first part of the path is a name in the scene, `simulation`, `gravity`, `wind` or
        `air_density`. A vector may be set by component: `gravity.z`, `ball.velocity.0`.
        """
        value = toml.parse_value(value) if isinstance(value, str) else value
        head, *keys = text("path", path).split(".")
        if head in HEAD:
            setattr(self, head, toml.with_component(head, getattr(self, head), keys, value) if keys else value)
        elif head == "simulation":
            self.simulation = toml.changed(self.simulation, keys, value, head)
        elif head not in self.names:
            raise SceneError(f"set {path}: the scene has no {head!r}; {did_you_mean(head, [*self.names, *RESERVED])}")
        else:
            self._replace(head, keys, value)

    def _replace(self, name: str, keys: list[str], value: Any) -> None:
        for attribute, _ in KINDS.values():
            things = getattr(self, attribute)
            for index, old in enumerate(things):
                if old.name == name:
                    with context(name):
                        new = toml.changed(old, keys, value)
                        self._check(new, [other for other in self.names if other != name])
                    things[index] = new
                    self._rename(name, new.name)
                    return

    def _rename(self, old: str, new: str) -> None:
        """Attachments follow a body that gets another name."""
        for index, entry in enumerate(self.attachments):
            if old != new and old in (entry.body, entry.rigid):
                ends = {key: new for key in ("body", "rigid") if getattr(entry, key) == old}
                self.attachments[index] = replace(entry, **ends)

    # --- files

    def to_toml(self, folder: str | os.PathLike[str] | None = None) -> str:
        """The scene as TOML; `from_toml` gives an equal scene. Paths are written relative to `folder` if given."""
        self.check()
        base = None if folder is None else Path(folder)
        document: dict[str, Any] = {key: getattr(self, key) for key in HEAD}
        for key in ("description", "wind"):
            if not document[key] or document[key] == (0.0,) * self.dim:
                del document[key]
        if document["air_density"] == AIR:
            del document["air_density"]
        if settings := toml.encode(self.simulation):
            document["simulation"] = settings
        for kind, (attribute, _) in KINDS.items():
            if things := getattr(self, attribute):
                document[kind] = []
                for thing in things:
                    with context(f"{kind} {thing.name!r}"):
                        document[kind].append(toml.encode(thing, base))
        if self.attachments:
            document[ATTACH] = [toml.encode(attachment) for attachment in self.attachments]
        return toml.write(document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scene file: all of it, or (on an error) nothing."""
        target = Path(path)
        content = self.to_toml(target.parent)
        try:
            with replacing(target) as temporary:
                temporary.write_text(content, encoding="utf-8", newline="\n")
        except OSError as error:
            raise SceneError(f"{target}: cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, allow_outside: bool = False, limits: Limits | None = None) -> Scene:
        """Reads a scene file; paths in it are relative to its folder.

        allow_outside: whether it may name files outside its folder. limits: `turgor.shapes.Limits` on what it asks for.
        """
        source = Path(path)
        most = (limits or current()).scene_bytes
        try:
            with source.open("rb") as file:
                data = file.read(most + 1)
            if len(data) > most:
                raise SceneError(
                    f"{source}: more than the limit of {most / 1e6:,.1f} MB; put its meshes into files, or raise the "
                    "limit with --limit scene_bytes=N"
                )
            content = data.decode("utf-8")
        except FileNotFoundError:
            raise SceneError(f"{source}: no such file") from None
        except OSError as error:
            raise SceneError(f"{source}: cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise SceneError(f"{source}: not a text file in UTF-8 (byte {error.start})") from None
        return cls.from_toml(content, source.parent, str(source), allow_outside=allow_outside, limits=limits)

    @classmethod
    def from_toml(
        cls, content: str, folder: str | os.PathLike[str] | None = None, source: str = "<text>", *,
        allow_outside: bool = True, limits: Limits | None = None,
    ) -> Scene:  # fmt: skip
        """The scene of a TOML text; `source` names it in errors, paths are relative to `folder`.

        allow_outside: whether it may name files outside that folder; for a text from elsewhere say False.
        limits: `turgor.shapes.Limits` on what it asks for.
        """
        with context(source), limited(limits):
            document = toml.parse(text("scene", content))
            files = References(None if folder is None else Path(folder), allow_outside)
            for key in document:
                if key not in (known := (*RESERVED, *KINDS, ATTACH)):
                    raise SceneError(f"unknown key {key!r}; {did_you_mean(key, known)}")
            scene = cls(**{key: document[key] for key in HEAD if key in document})
            settings = document.get("simulation", {})
            if not isinstance(settings, dict):
                raise SceneError("simulation must be a table: write [simulation]")
            with context("simulation"):
                check_keys(Settings, settings)
            scene.simulation = Settings(**settings)
            for kind in (*KINDS, ATTACH):
                scene._read(kind, document.get(kind, []), files)
            return scene

    def _read(self, kind: str, tables: Any, files: References) -> None:
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise SceneError(f"{kind} must be a list of tables: write [[{kind}]] above each")
        for number, table in enumerate(tables, 1):
            name = table.get("name")
            where = (
                f"{kind} {name!r} (number {number})" if isinstance(name, str) and name else f"{kind} number {number}"
            )
            with context(where):
                if kind == ATTACH:
                    self._attach(table)
                    continue
                with with_vertices_left(sum(len(body.shape.vertices) for body in (*self.bodies, *self.rigid_bodies))):
                    made = [toml.decode(KINDS[kind][1], one, files) for one in toml.one_each(table, files)]
                for options in made:
                    self._make(kind, options)
