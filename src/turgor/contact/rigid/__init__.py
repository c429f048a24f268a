"""Contact of rigid bodies with each other, with meshes and with walls."""
