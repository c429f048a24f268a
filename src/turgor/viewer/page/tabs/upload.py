"""The part of the tab "Add" for a mesh of one's own: first the mesh doctor's verdict, then choices, then the body."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turgor.errors import MeshError, TurgorError
from turgor.shapes import Report, Shape
from turgor.viewer.page.notices import Remedy
from turgor.viewer.server.upload_limits import MAX_UPLOAD_BYTES
from turgor.viewer.server.uploaded_mesh import MAX_VERTICES, UploadedMesh
from turgor.viewer.world.added_bodies import add_shapes, common_size
from turgor.viewer.world.material_choice import AS_SCENE, BLOWN_UP, RIGID, preset
from turgor.viewer.world.parameter_access import Span

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["UploadFolder", "plain"]

UPWARDS = ("z", "y", "x", "-z", "-y", "-x")  # turgor's own first: the file as it is
LARGEST, ALL, UNION = "the largest", "all, a body each", "joined (overlapping)"
PARTS = {LARGEST: None, ALL: "all", UNION: "union"}
FEWEST = 20  # vertices: it still looks like something
# The first choice, measured on one core with the skin of TOY, 0.95 m long, alone on a floor: a cow runs at 0.53 of real
# time with 400 vertices and at 0.72 with 300, a simpler one ("spot") at 1.05 and 1.5. Their forms change by 2 to 5 %.
VERTICES = 400
FINER = 1.6  # times as many vertices, where a skin of few gives way
TOY = "beach ball"  # keeps the form of most meshes within some 3 % (docs/materials.md)
SIZES = (0.4, 2.5)  # of the size that bodies of the scene have
TOLD = 4  # bodies of a file that are listed
FOUND = 3  # kinds of defects that are listed
FIRST = "Its verdict comes here; then you choose size and material, and add it."
WORKING = "Working ..."


class UploadFolder:
    """The last file that a page has sent, and what is to become of it."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._mesh: UploadedMesh | None = None
        gui = playground.server.gui
        self._folder = gui.add_folder("Your own mesh")
        with self._folder:
            self._upload = gui.add_upload_button(
                "Upload .obj .stl .ply .off .glb", hint=f"A file of up to {MAX_UPLOAD_BYTES // 1024**2} MiB."
            )
            self._verdict = gui.add_markdown(FIRST)
            self.size = gui.add_slider(
                "Its size (m)", 0.1, 2.0, 0.01, 0.6, hint="Its longest side. At first that of the scene's bodies."
            )
            self.vertices = gui.add_slider(
                "Vertices", FEWEST, VERTICES, 1, VERTICES,
                hint="How fine it is: a finer mesh is simplified to so many. Fewer run faster.",
            )  # fmt: skip
            self.material = gui.add_dropdown(
                "Its material", (*BLOWN_UP, AS_SCENE, RIGID), initial_value=TOY, hint="What its skin is made of."
            )
            self.up = gui.add_dropdown("Up in the file", UPWARDS, hint="This axis of the file is turned up; often y.")
            self.parts = gui.add_dropdown(
                "Of several parts", tuple(PARTS), hint="Shells that hang together by no edge."
            )
            self.self_contact = gui.add_checkbox(
                "Touches itself", True,
                hint="Without it, it runs up to three times as fast, but legs may pass through a belly.",
            )  # fmt: skip
            self._close = gui.add_button("Close the holes", visible=False)
            self._add = gui.add_button("Add it")
            self._forget = gui.add_button("Forget it", color="gray")
        self._choices = (
            self.size, self.vertices, self.material, self.up, self.parts, self.self_contact, self._add, self._forget,
        )  # fmt: skip
        self._offer(False)
        self._upload.on_upload(self.take)
        self._close.on_click(lambda _: playground.do(self.close_holes))
        self._add.on_click(self._wanted)
        self._forget.on_click(lambda _: playground.do(self.forget))

    @property
    def verdict(self) -> str:
        """What the mesh doctor said about the last upload."""
        return str(self._verdict.content)

    def show(self, visible: bool) -> None:
        """In 3D: a flat scene has no place for it."""
        self._folder.visible = visible

    # viser's threads --------------------------------------------------------------------------------------------------

    def take(self, event: Any) -> None:
        """Reads an uploaded mesh on a thread of viser's pool, as it may take seconds; the world runs on meanwhile."""
        self._read(event.target.value)

    def take_dropped(self, event: Any) -> None:
        """The same for a file that is dropped on the page, where the tab may not be in front: a message offers it."""
        if (mesh := self._read(event.target.value)) is not None and mesh.report.ok:
            self._playground.do(self._announce, mesh)

    def _read(self, file: Any) -> UploadedMesh | None:
        try:
            mesh = UploadedMesh(file.name, file.content)
        except MeshError as error:
            self._playground.do(self._refuse, str(error))
            return None
        self._playground.do(self._examined, mesh)
        return mesh

    def _wanted(self, event: Any = None) -> None:
        """Fits the mesh, on such a thread too, and hands the bodies over."""
        mesh = self._mesh
        if mesh is None:
            return
        self._verdict.content = WORKING
        try:
            shapes, report = mesh.fitted(
                size=self.size.value, up=self.up.value, vertices=int(self.vertices.value), parts=PARTS[self.parts.value]
            )
        except MeshError as error:
            self._playground.do(self._refuse, str(error), mesh)
        else:
            self._playground.do(self._add_bodies, shapes, report)

    # the world's thread -----------------------------------------------------------------------------------------------

    def _announce(self, mesh: UploadedMesh) -> None:
        self._playground.notices.say(
            "A mesh has come",
            f"{mesh.report.source}: {mesh.vertices} vertices. Its size and its material are in the tab Add.",
            "info",
            [("Add it", lambda: threading.Thread(target=self._wanted, daemon=True).start())],
        )

    def _examined(self, mesh: UploadedMesh) -> None:
        """The verdict, and what can be chosen."""
        self._mesh = mesh
        report, playground = mesh.report, self._playground
        if report.ok:
            self._fit(mesh)
        self._close.visible = mesh.only_holes
        self._offer(report.ok)
        self._verdict.content = told(report)  # once the choices suit it
        if mesh.only_holes:
            count = report.findings["holes"].count
            playground.notices.say(
                "The mesh is open",
                f"{report.source} has {count} {'hole' if count == 1 else 'holes'}, and its gas would leak out.",
                "error",
                [("Close the holes", self.close_holes)],
            )
        elif not report.ok:
            self._refuse(f"{report.source}: {report.problems[0] if report.problems else 'there is no surface in it'}")

    def _fit(self, mesh: UploadedMesh) -> None:
        """Ranges and first values for this mesh in this scene."""
        size = common_size(self._playground.world)
        span, most = Span.of(SIZES[0] * size, SIZES[1] * size), min(max(mesh.vertices, FEWEST), MAX_VERTICES)
        with self._playground.server.atomic():
            slider = self.size
            slider.min, slider.max, slider.step, slider.precision = span.low, span.high, span.step, span.digits
            slider.value = round(size, span.digits)
            self.vertices.max = max(most, FEWEST + 1)
            self.vertices.value = min(VERTICES, self.vertices.max)
            self.parts.visible = len(mesh.report.shapes) > 1
            self.parts.value = LARGEST

    def close_holes(self) -> None:
        """Of the mesh that was sent."""
        if self._mesh is not None:
            self._mesh.close_holes()
            self._playground.notices.close()
            self._examined(self._mesh)

    def _add_bodies(self, shapes: list[Shape], report: Report) -> None:
        try:
            names = add_shapes(
                self._playground.world, shapes, "mesh", self.material.value == RIGID,
                material=preset(self.material.value), self_contact=self.self_contact.value,
            )  # fmt: skip
        except TurgorError as error:
            self._refuse(f"{report.source}: {error}", self._mesh, self._remedies(str(error)))
            return
        self._verdict.content = told(report, shapes, names)
        self._playground.selection.select(names[-1])

    def _remedies(self, sentence: str) -> list[Remedy]:
        """What helps where a body cannot be added."""
        if "no free place" in sentence:
            return [("Make it half as large", self._smaller)]
        finer: list[Remedy] = [("Make it of more vertices", self._finer)]
        of_springs: list[Remedy] = [("Make it as the scene's bodies are", self._as_scene)]
        remedies = finer if self.vertices.value < self.vertices.max else []
        return remedies + (of_springs if preset(self.material.value) is not None else [])

    def _smaller(self) -> None:
        self.size.min, self.size.value = min(self.size.min, self.size.value / 2.0), self.size.value / 2.0
        self._try_again()

    def _finer(self) -> None:
        self.vertices.value = min(int(FINER * self.vertices.value), self.vertices.max)
        self._try_again()

    def _as_scene(self) -> None:
        self.material.value = AS_SCENE
        self._try_again()

    def _try_again(self) -> None:
        threading.Thread(target=self._wanted, args=(None,), name="turgor fits a mesh", daemon=True).start()

    def forget(self) -> None:
        """The mesh that was sent is not wanted."""
        self._mesh = None
        self._verdict.content = FIRST
        self._close.visible = False
        self._offer(False)

    def _refuse(self, sentence: str, kept: UploadedMesh | None = None, remedies: Sequence[Remedy] = ()) -> None:
        """`kept`: the mesh is fine, with other choices it may be added."""
        self._mesh = kept
        self._offer(kept is not None)
        self._close.visible = False
        words = self._playground.notices.say("The mesh cannot be used", sentence, "error", remedies)
        self._verdict.content = f"**Not added.** {plain(words)}"

    def _offer(self, ready: bool) -> None:
        for control in self._choices:
            control.visible = ready
        if ready and self._mesh is not None:
            self.parts.visible = len(self._mesh.report.shapes) > 1


def told(report: Report, shapes: list[Shape] | None = None, names: list[str] | None = None) -> str:
    """The doctor's verdict in a few lines; with the bodies, once they are there."""
    name = plain(report.source)
    verdict = "is fine." if report.clean else "was repaired." if report.ok else "cannot hold gas."
    lines = [f"**{name}** {verdict}", f"- {report.vertices:,} vertices and {report.faces:,} faces as given"]
    findings = list(report.findings.items())[:FOUND]
    lines += [f"- found: {kind.replace('_', ' ')} ({found.count:,})" for kind, found in findings]
    lines += [f"- {plain(sentence)}" for sentence in (*report.repaired, *report.fitted)]
    if len(report.shells) > 1 and (shapes is None or len(shapes) < len(report.shells)):
        lines.append(f"- {len(report.shells)} separate parts" + (": the largest was taken" if shapes else ""))
    parts = list(zip(names or (), shapes or (), strict=True))
    lines += [f"- added as **{name}**, {len(shape.vertices):,} vertices" for name, shape in parts[:TOLD]]
    if len(parts) > TOLD:
        lines.append(f"- and {len(parts) - TOLD} more")
    return "\n".join(lines)


def plain(sentence: str) -> str:
    """Without what markdown would take for markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in sentence)
