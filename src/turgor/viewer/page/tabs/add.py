"""The tab "Hands": add bodies, upload meshes, pin vertices, and how to drag and throw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turgor.errors import MeshError, SceneError, TurgorError
from turgor.scene.data import Body
from turgor.shapes import Report, Shape
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.server.upload_limits import MAX_UPLOAD_BYTES
from turgor.viewer.server.uploaded_mesh import MAX_VERTICES, read_mesh
from turgor.viewer.world.added_bodies import FLAT, SOLID, add_shape, add_shapes, common_size, is_fine, made
from turgor.viewer.world.parameter_access import Span

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["AddTab"]

SOFT, RIGID = "soft", "rigid"
HELP = (
    "**Drag** a body to pull it as on a rubber band; let go while it moves, and it is **thrown**. Drag beside the "
    "bodies to turn the view. **Click** a body to select it; **shift-click** a point to pin it, and again to free it."
)
UPWARDS = ("z", "y", "x", "-z", "-y", "-x")  # turgor's own first: the file as it is
LARGEST, ALL, UNION = "the largest", "all, a body each", "joined (overlapping)"
PARTS = {LARGEST: None, ALL: "all", UNION: "union"}
FEWEST, VERTICES = 20, 1000  # of an uploaded body: it still looks like something; it runs at an interactive rate
SIZES = (0.4, 1.6)  # of the size that bodies of the scene have
TOLD = 4  # bodies of a file that are listed
FOUND = 3  # kinds of defects that are listed


class AddTab(Tab):
    """Adding, removing, pinning."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        self._selection = playground.selection
        self._scene: Any = None  # whose sizes the slider has
        gui = playground.server.gui
        gui.add_markdown(HELP)
        with gui.add_folder("Add a body"):
            self._shape = gui.add_dropdown("Shape", SOLID)
            self._letter = gui.add_text("Letter", "A", visible=False)
            self._kind = gui.add_dropdown("Kind", (SOFT, RIGID))
            self._size = gui.add_slider("Size (m)", 0.1, 2.0, 0.01, 0.6)
            self._add = gui.add_button("Add", hint="above the middle of the scene")
        self._files = gui.add_folder("Upload a mesh")
        with self._files:
            self._up = gui.add_dropdown("Up in the file", UPWARDS, hint="this axis of the file is turned up; often y")
            self._vertices = gui.add_number(
                "Vertices", VERTICES, min=FEWEST, max=MAX_VERTICES, step=1,
                hint="a mesh with more is simplified to so many",
            )  # fmt: skip
            self._parts = gui.add_dropdown(
                "Of several parts", tuple(PARTS), hint="shells that hang together by no edge"
            )
            self._holes = gui.add_checkbox("Close holes", False, hint="else a mesh with holes is refused")
            self._upload = gui.add_upload_button(
                "Upload .obj .stl .ply .off .glb", hint=f"up to {MAX_UPLOAD_BYTES // 1024**2} MiB; of the size above"
            )
            self._verdict = gui.add_markdown("It becomes a body of the kind and size above.")
        with gui.add_folder("Selected body"):
            self._selection.add_dropdown()
            self._state = gui.add_markdown("")
            self._unpin = gui.add_button("Unpin all its points")
            self._remove = gui.add_button("Remove it")
        self._shape.on_update(self._shape_chosen)
        self._add.on_click(lambda _: playground.do(self._add_shape))
        self._upload.on_upload(self._uploaded)
        playground.share.on_mesh(self._uploaded)
        self._unpin.on_click(lambda _: playground.do(self._unpin_all))
        self._remove.on_click(lambda _: playground.do(self._remove_it))
        playground.pointers.on_click(self._clicked)
        self._selection.on_change(self._arrange)
        playground.every(0.2, self._refresh)

    @property
    def verdict(self) -> str:
        """What the mesh doctor said about the last upload."""
        return str(self._verdict.content)

    # viser's threads --------------------------------------------------------------------------------------------------

    async def _shape_chosen(self, event: Any) -> None:
        self._letter.visible = self._shape.value == "letter"

    def _uploaded(self, event: Any) -> None:
        """Reads the mesh on a thread of viser's pool, as it may take seconds; the world runs on meanwhile."""
        file = event.target.value
        try:
            shapes, report = read_mesh(
                file.name, file.content, size=self._size.value, up=self._up.value, vertices=int(self._vertices.value),
                parts=PARTS[self._parts.value], close_holes=self._holes.value,
            )  # fmt: skip
        except MeshError as error:
            self._playground.do(self._refuse, str(error))
        else:
            self._playground.do(self._add_mesh, shapes, report)

    # the world's thread -----------------------------------------------------------------------------------------------

    def _add_shape(self) -> None:
        world, what = self._playground.world, self._shape.value
        shape = made(what, self._size.value, self._letter.value, is_fine(world))
        self._selection.select(add_shape(world, shape, what, self._kind.value == RIGID))

    def _add_mesh(self, shapes: list[Shape], report: Report) -> None:
        try:
            names = add_shapes(self._playground.world, shapes, "mesh", self._kind.value == RIGID)
        except TurgorError as error:
            self._refuse(f"{report.source}: {error}")
            return
        self._verdict.content = _told(report, shapes, names)
        self._selection.select(names[-1])

    def _refuse(self, sentence: str) -> None:
        self._verdict.content = f"**Not added.** {_plain(sentence)}"
        self._playground.notify("The mesh cannot be used", sentence, "error")

    def _clicked(self, name: str, vertex: int, modifier: str | None) -> None:
        if modifier == "shift":
            self._playground.world.pin(name, vertex)
            self._selection.select(name)
            self._refresh()

    def _unpin_all(self) -> None:
        self._playground.world.unpin(self._selected())

    def _remove_it(self) -> None:
        self._playground.world.remove(self._selected())

    def _selected(self) -> str:
        if self._selection.name is None:
            raise SceneError("no body is selected: click one, or choose it in the list")
        return self._selection.name

    def _arrange(self) -> None:
        """Another body is selected, or there are other bodies."""
        world = self._playground.world
        flat = world.scene.dim == 2
        options = FLAT if flat else SOLID
        if self._shape.options != options:
            self._shape.options = options
            self._letter.visible = self._shape.value == "letter"
        self._files.visible = not flat
        if self._scene != (world.scene.name, world.scene.dim):
            self._scene = (world.scene.name, world.scene.dim)
            self._fit_size(common_size(world))

    def _fit_size(self, size: float) -> None:
        span, slider = Span.of(SIZES[0] * size, SIZES[1] * size), self._size
        slider.min, slider.max, slider.step, slider.precision = span.low, span.high, span.step, span.digits
        slider.value = round(size, span.digits)

    def _refresh(self) -> None:
        """How many points of the selected body are pinned; the tab View draws them."""
        scene, name = self._playground.world.scene, self._selection.name
        body = scene[name] if name in scene.names else None
        count = len(body.pinned) if isinstance(body, Body) else 0
        self._state.content = f"{count} of its points pinned" if count else ""


def _told(report: Report, shapes: list[Shape], names: list[str]) -> str:
    """The doctor's verdict in a few lines."""
    lines = [f"**{_plain(report.source)}** is fine." if report.clean else f"**{_plain(report.source)}** was repaired."]
    lines.append(f"- {report.vertices:,} vertices and {report.faces:,} faces as given")
    findings = list(report.findings.items())[:FOUND]
    lines += [f"- found: {kind.replace('_', ' ')} ({found.count:,})" for kind, found in findings]
    lines += [f"- {_plain(sentence)}" for sentence in report.repaired]
    if len(report.shells) > len(shapes):
        lines.append(f"- {len(report.shells)} separate shells: the largest was taken")
    lines += [f"- {_plain(sentence)}" for sentence in report.fitted]
    parts = list(zip(names, shapes, strict=True))
    lines += [f"- added as **{name}**, {len(shape.vertices):,} vertices" for name, shape in parts[:TOLD]]
    if len(parts) > TOLD:
        lines.append(f"- and {len(parts) - TOLD} more")
    return "\n".join(lines)


def _plain(sentence: str) -> str:
    """Without what markdown would take for markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in sentence)
