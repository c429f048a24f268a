"""Running a scene."""
