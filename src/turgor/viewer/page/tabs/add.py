"""The tab "Add": add, duplicate and remove bodies, upload meshes, pin vertices, and tools for the selected body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turgor.errors import SceneError
from turgor.scene.data import Body
from turgor.viewer.page.placing import PlaceByClick
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.page.tabs.tools import ToolsFolder
from turgor.viewer.page.tabs.upload import UploadFolder
from turgor.viewer.world.added_bodies import FLAT, SOLID, Place, add_shape, common_size, duplicate, is_fine, made
from turgor.viewer.world.free_place import free_place
from turgor.viewer.world.material_choice import AS_SCENE, BLOWN_UP, RIGID, preset
from turgor.viewer.world.parameter_access import Span

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["AddTab"]

HELP = (
    "**Drag** a body to pull it as on a rubber band; let go while it moves, and it is **thrown**. Drag beside the "
    "bodies to turn the view. **Click** a body to select it; **shift-click** a point to pin it, and again to free it."
)
SIZES = (0.4, 1.6)  # of the size that bodies of the scene have


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
            self._material = gui.add_dropdown("Material", (AS_SCENE, *BLOWN_UP, RIGID), hint="What it is made of.")
            self._size = gui.add_slider("Size (m)", 0.1, 2.0, 0.01, 0.6)
            self._add = gui.add_button("Add", hint="above the middle of the scene")
            self.placing = PlaceByClick(playground, self._add_shape)
        self.upload = UploadFolder(playground)
        with gui.add_folder("Selected body"):
            self._selection.add_dropdown()
            self._state = gui.add_markdown("")
            self._duplicate = gui.add_button("Duplicate it", hint="Ctrl-D")
            self._remove = gui.add_button("Remove it", hint="Delete")
            self._unpin = gui.add_button("Unpin all its points")
        self.tools = ToolsFolder(playground)
        self._shape.on_update(self._shape_chosen)
        self._add.on_click(lambda _: playground.do(self._add_shape))
        playground.share.on_mesh(self.upload.take_dropped)
        self._unpin.on_click(lambda _: playground.do(self._unpin_all))
        self._duplicate.on_click(lambda _: playground.do(self._duplicate_it))
        self._remove.on_click(lambda _: playground.do(self._remove_it))
        self._add_keys()
        playground.pointers.on_click(self._clicked)
        self._selection.on_change(self._arrange)
        playground.every(0.2, self._refresh)

    def _add_keys(self) -> None:
        playground = self._playground
        for label, key, modifier, function in (
            ("Duplicate the selected body", "D", "cmd/ctrl", self._duplicate_it),
            ("Remove the selected body", "delete", None, self._remove_it),
            ("Remove the selected body (Backspace)", "backspace", None, self._remove_it),
        ):
            command = playground.server.gui.add_command(label, hotkey=key, modifier=modifier)
            command.on_trigger(lambda _, function=function: playground.do(function))

    # viser's threads --------------------------------------------------------------------------------------------------

    async def _shape_chosen(self, event: Any) -> None:
        self._letter.visible = self._shape.value == "letter"

    # the world's thread -----------------------------------------------------------------------------------------------

    def _add_shape(self, place: Place = free_place) -> None:
        world, what = self._playground.world, self._shape.value
        shape = made(what, self._size.value, self._letter.value, is_fine(world))
        made_of = self._material.value
        name = add_shape(world, shape, what, made_of == RIGID, material=preset(made_of), place=place)
        self._selection.select(name)

    def _clicked(self, name: str, vertex: int, modifier: str | None) -> None:
        if modifier == "shift":
            self._playground.world.pin(name, vertex)
            self._selection.select(name)
            self._refresh()

    def _unpin_all(self) -> None:
        self._playground.world.unpin(self._selected())

    def _duplicate_it(self) -> None:
        self._selection.select(duplicate(self._playground.world, self._selected()))

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
        self.upload.show(not flat)
        if self._scene != (world.scene.name, world.scene.dim):
            self._scene = (world.scene.name, world.scene.dim)
            self._fit_size(common_size(world))

    def _fit_size(self, size: float) -> None:
        span, slider = Span.of(SIZES[0] * size, SIZES[1] * size), self._size
        slider.min, slider.max, slider.step, slider.precision = span.low, span.high, span.step, span.digits
        slider.value = round(size, span.digits)

    def _refresh(self) -> None:
        """How many points of the selected body are pinned; the tab Look draws them."""
        scene, name = self._playground.world.scene, self._selection.name
        body = scene[name] if name in scene.names else None
        count = len(body.pinned) if isinstance(body, Body) else 0
        self._state.content = f"{count} of its points pinned" if count else ""
