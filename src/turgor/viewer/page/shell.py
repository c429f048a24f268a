"""What the page's shell is told: what the playground does, how fast, what can be dragged, how to start it again."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import TYPE_CHECKING

from turgor import gallery
from turgor.scene.scene import Scene

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Shell", "hint_of"]

TELL_SECONDS = 0.1  # between two looks at what there is to tell
PATIENCE = 30  # looks: a scene that does not begin by then has another reason, which is told elsewhere
WORDS = {
    "icosphere": "ball", "uv_sphere": "ball", "circle": "ball", "sheet": "cloth", "torus": "ring", "box": "box",
    "cat": "cat", "hand": "hand", "letter": "letter", "star": "star", "capsule": "capsule", "cone": "cone",
}  # fmt: skip
OTHER = "body"


class Shell:
    """Belongs to the world's thread."""

    def __init__(self, playground: Playground, again: str, first: Scene, *, own: bool = False) -> None:
        """Made before the world. `again` starts the playground; where it is `own`, whatever scene is open by then."""
        self._playground = playground
        self._gallery = frozenset() if own else frozenset(gallery.names())
        self._start = secrets.token_hex(8)  # tells one start of the server from another
        self._again = again
        self._drags = 0
        self._holding = False
        self._busy = ""
        self._looks = 0  # since it is busy and can be seen
        self.opening(first)
        playground.every(TELL_SECONDS, self._look)

    def opening(self, scene: Scene) -> None:
        """A scene is about to be built; what follows may take seconds, when its kernels are compiled."""
        self._busy, self._looks = f"Opening {scene.name or 'your scene'}: preparing kernels", 0
        self.tell(scene)

    def opened(self) -> None:
        """It runs, or it could not be built."""
        self._busy = ""
        self.tell()

    def tell(self, scene: Scene | None = None) -> None:
        """All there is to know, now."""
        world = getattr(self._playground, "world", None)
        if scene is None:
            scene = self._playground.world.scene
        self._playground.gate.answers.news.tell(
            {
                "server": self._start,
                "scene": scene.name,
                "playing": world is None or (world.playing and not self._playground.replaying),
                "speed": world.speed if world else 1.0,
                "busy": self._busy,
                "hint": hint_of(scene),
                "drags": self._drags,
                "again": f"turgor play {scene.name}" if scene.name in self._gallery else self._again,
            }
        )

    def _look(self) -> None:
        world = self._playground.world
        holding = bool(world.grabbed)
        self._drags += holding and not self._holding
        self._holding = holding
        if self._busy:
            self._looks += 1
            waiting = world.playing and not self._playground.replaying and world.sim.frame_index == 0
            if not waiting or self._looks > PATIENCE:
                self._busy = ""
        self.tell()


def hint_of(scene: Scene) -> str:
    """What to do first with a scene, in its words."""
    words = [WORDS.get(next(iter(body.shape.recipe), OTHER), OTHER) for body in scene.bodies]
    if not words:
        return "Drag a body" if scene.rigid_bodies else ""
    word, count = Counter(words).most_common(1)[0]
    return f"Drag {'a' if count > 1 else 'the'} {word}"
