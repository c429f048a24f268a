"""What glues soft bodies and cloths to rigid bodies: plain frozen data, and whether its vertices are free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from turgor.errors import SceneError
from turgor.scene.data import Body
from turgor.scene.described import described
from turgor.scene.validate import Vertices, put, text

__all__ = ["Attachment", "checked"]


@described
@dataclass(frozen=True, kw_only=True)
class Attachment:
    """Vertices of a soft body or cloth that are glued to a rigid body and move with it."""

    body: Annotated[str, "", "name of the soft body or cloth"]
    vertices: Annotated[Vertices, "", 'indices, a group of its shape, "top" or "bottom"; as pins']
    rigid: Annotated[str, "", "name of the rigid body"]

    def __post_init__(self) -> None:
        put(self, body=text("body", self.body), rigid=text("rigid", self.rigid))
        if isinstance(self.vertices, (list, np.ndarray)):
            put(self, vertices=tuple(np.asarray(self.vertices).tolist()))


def checked(attachment: Attachment, body: Body, others: Sequence[Attachment]) -> Attachment:
    """The attachment with checked vertices of its body, if they are free of pins and of the `others`."""
    attachment = replace(attachment, vertices=body.checked_vertices("vertices", attachment.vertices))
    chosen = body.chosen_vertices(attachment.vertices)
    if not len(chosen):
        raise SceneError("vertices is empty: say which vertices are glued")
    taken = [("is pinned", body.pinned)]
    taken += [
        (f"is already glued to {other.rigid!r}", body.chosen_vertices(other.vertices))
        for other in others
        if other.body == body.name
    ]
    for what, vertices in taken:
        if both := sorted({*chosen.tolist()} & {*vertices.tolist()}):
            raise SceneError(f"vertex {both[0]} of {body.name!r} {what}: leave it out of one of the two")
    return attachment
