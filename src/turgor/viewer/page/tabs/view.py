"""The tab "View": what is drawn over the bodies, and what their colours mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turgor.output.frame import Frame
from turgor.viewer.draw.arrows import MOST, Normals, Velocities
from turgor.viewer.draw.color_values import KINDS
from turgor.viewer.draw.legend import legend_of
from turgor.viewer.draw.overlays import Bounds, Contacts, Overlay, Particles, Pins
from turgor.viewer.draw.painter import Painter
from turgor.viewer.page.tabs.tab import Tab

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["ViewTab"]

BODY = "body"
COLORS = {
    "Body colour": BODY, "Pressure": "pressure", "Stretch": "stretch", "Speed": "speed", "Stress": "stress",
    "Wrinkles": "wrinkled",
}  # fmt: skip
SEE_THROUGH = 0.35  # opacity of the bodies
OUTLINE_ONLY = 0.12  # opacity of filled shapes that are shown as outlines
NO_PARTICLES = (
    "Collision particles exist only with the contact methods *particles* and *particles-adaptive*: choose one in the "
    'tab **Change**, or write `contact = "particles"` into the scene.'
)

# key: label, class, on at first, hotkey, hint
OVERLAYS: dict[str, tuple[str, type[Overlay], bool, str | None, str]] = {
    "velocities": (
        "Velocity vectors", Velocities, False, "V",
        f"Red arrows at the vertices. Of more than {MOST} vertices an even choice is shown.",
    ),
    "normals": (
        "Outward normals", Normals, False, "O",
        f"Thin lines at the vertices, out of the body. Of more than {MOST} vertices an even choice is shown.",
    ),
    "bounds": (
        "Bounds", Bounds, False, "B",
        "Bounding volumes: the box along the axes and the ball that hold each body, as the contact method of 2003 has.",
    ),
    "contacts": (
        "Contact points", Contacts, False, "C",
        "Where bodies and walls touch, with normals; not in a replay. Bodies become see-through.",
    ),
    "particles": (
        "Collision particles", Particles, False, None,
        "The points that the contact method 'particles' works with; not in a replay. Bodies become see-through.",
    ),
    "pins": ("Pinned vertices", Pins, True, None, "Dark dots on vertices that are held in place."),
}  # fmt: skip
INSIDE = ("contacts", "particles")  # hidden by bodies that are not see-through


class ViewTab(Tab):
    """Toggles of the overlays, colours by value with their legend, and how the bodies are drawn."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        self._frame: Frame | None = None
        self._version = -1  # of the world, that the nodes and all that is drawn over them are of
        self.overlays: dict[str, Overlay] = {}
        self.painter: Painter | None = None
        self._build()
        self._add_keys()
        playground.on_new_nodes(self._renew)
        playground.on_show(self._show)

    # what is on the page ----------------------------------------------------------------------------------------------

    def _build(self) -> None:
        gui, do = self._playground.server.gui, self._playground.do
        self.color_by = gui.add_dropdown(
            "Colour by",
            tuple(COLORS),
            hint="Key K: the next one. The range grows with what is seen. Stress and wrinkles are those of materials.",
        )
        self.color_by.on_update(lambda _: do(self._apply))
        self.legend = gui.add_html("", visible=False)
        self.reset_range = gui.add_button("Range: reset", visible=False, hint="Begin with what is to be seen now.")
        self.reset_range.on_click(lambda _: do(self._reset_range))
        self.toggles: dict[str, Any] = {}
        with gui.add_folder("Show"):
            for key, (label, _, on, hotkey, hint) in OVERLAYS.items():
                box = gui.add_checkbox(label, on, hint=f"Key {hotkey}: {hint}" if hotkey else hint)
                box.on_update(lambda event, key=key: do(self._toggled, key, event.client is not None))
                self.toggles[key] = box
                if key == "particles":
                    self.note = gui.add_markdown(NO_PARTICLES, visible=False)
        with gui.add_folder("Bodies"):
            self.smooth = gui.add_checkbox(
                "Smooth skin",
                True,
                hint="Off: the triangles and segments that are computed with, as a wireframe shows.",
            )
            self.wireframe = gui.add_checkbox("Wireframe", False, hint="Key L: only the edges of the faces.")
            self.see_through = gui.add_checkbox("See-through", False, hint="Key X: look into and behind the bodies.")
            self.shadows = gui.add_checkbox(
                "Shadows", self._playground.shadows, hint="In 3D scenes. Without them old computers are faster."
            )
            self.texture = gui.add_checkbox("Texture on cloth", True, hint="The picture on a flag.")
        self.follow = gui.add_checkbox(
            "Camera follows",
            self._playground.follow,
            hint="Goes after what leaves the picture.",
        )
        self.follow.on_update(lambda _: setattr(self._playground, "follow", bool(self.follow.value)))
        for box in (self.smooth, self.wireframe, self.see_through, self.shadows):
            box.on_update(lambda _: do(self._apply))
        self.texture.on_update(lambda _: do(self._set_texture))

    def _add_keys(self) -> None:
        gui, do = self._playground.server.gui, self._playground.do
        keys = [(label, hotkey, self.toggles[key]) for key, (label, _, _, hotkey, _) in OVERLAYS.items()]
        keys += [("Wireframe", "L", self.wireframe), ("See-through bodies", "X", self.see_through)]
        keys += [("Shadows", None, self.shadows), ("Texture on cloth", None, self.texture)]
        keys += [("Smooth skin", None, self.smooth)]
        for label, hotkey, box in keys:
            command: Any = gui.add_command(f"{label}: on or off", hotkey=hotkey)
            command.on_trigger(lambda _, box=box: do(self._flip, box))
        gui.add_command("Colour by the next value", hotkey="K").on_trigger(lambda _: do(self._next_color))

    # on the world's thread --------------------------------------------------------------------------------------------

    def _flip(self, box: Any) -> None:
        box.value = not box.value
        key = next((key for key, toggle in self.toggles.items() if toggle is box), "")
        self._toggled(key, by_hand=True)

    def _next_color(self) -> None:
        labels = list(COLORS)
        self.color_by.value = labels[(labels.index(self.color_by.value) + 1) % len(labels)]
        self._apply()

    def _toggled(self, key: str, by_hand: bool) -> None:
        if by_hand and key in INSIDE and self.toggles[key].value:
            self.see_through.value = True
        self._apply()

    def _reset_range(self) -> None:
        if self.painter is not None:
            self.painter.range.reset()
        self._refresh()

    def _set_texture(self) -> None:
        if self._playground.textured != self.texture.value:
            self._playground.textured = self.texture.value
            self._playground.redraw()

    def _renew(self) -> None:
        """New nodes of the bodies: what was drawn over the old ones is removed and made again."""
        self._frame, self._version = None, self._playground.world.version
        for overlay in self.overlays.values():
            overlay.close()
        self.overlays.clear()
        if self.painter is not None:
            self.painter.close()
            self.painter = None
        self._apply()

    def _show(self, frame: Frame) -> None:
        self._frame = frame
        self._refresh()

    def _apply(self) -> None:
        """Make what is wanted and not there yet, and take away what is not wanted."""
        if self._version != self._playground.world.version:
            return  # other bodies: their nodes come soon, and all is made then
        smooth = bool(self.smooth.value and not self.wireframe.value)
        if self._playground.smooth != smooth:
            self._playground.smooth = smooth
            self._playground.redraw()
        with self._playground.server.atomic():
            for key, (_, make, _, _, _) in OVERLAYS.items():
                wanted = self.toggles[key].value
                if wanted and key not in self.overlays:
                    self.overlays[key] = make(self._playground)
                elif not wanted and key in self.overlays:
                    self.overlays.pop(key).close()
            by = COLORS[self.color_by.value]
            if self.painter is not None and self.painter.by != by:
                self.painter.close()
                self.painter = None
            if self.painter is None and by in KINDS:
                self.painter = Painter(self._playground, by)
            self._dress()
            self.legend.visible = self.reset_range.visible = self.painter is not None
            self._refresh()

    def _dress(self) -> None:
        """Wireframe, see-through and shadows. In 2D the wires are the outlines, which are drawn anyway."""
        nodes = self._playground.nodes
        solid = nodes.layout.dim == 3
        wires, opacity = self.wireframe.value and solid, SEE_THROUGH if self.see_through.value else None
        if self.wireframe.value and not solid:
            opacity = OUTLINE_ONLY
        nodes.set_wireframe(wires)
        for node in nodes.bodies:
            node.handle.opacity = opacity
        if self.painter is not None:
            self.painter.set_finish(wires, opacity)
        nodes.set_shadows(bool(self.shadows.value))

    def _refresh(self) -> None:
        """Draw what is on, of the frame that is shown."""
        frame = self._frame
        if not self.overlays and self.painter is None:
            frame = None
        note = "particles" in self.overlays and not Particles.available(self._playground)
        if self.note.visible != note:
            self.note.visible = note
        if frame is None or self._version != self._playground.world.version:
            return
        with self._playground.server.atomic():
            for overlay in self.overlays.values():
                overlay.show(frame)
            if self.painter is not None:
                self.painter.show(frame)
                text = legend_of(self.painter)
                if self.legend.content != text:
                    self.legend.content = text
