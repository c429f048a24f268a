"""Each world of a batch moves, bit for bit, as it would alone at the same substeps: contact lists are its own (X6).

Worlds differ in where their bodies start, how fast, and in their parameters, so that their lists are renewed at
different times, their rounds of impulses end at different times, and some touch themselves while others do not.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support.laws import DEVICE
from support.worlds import KINDS, check_each_world_alone
from turgor.contact.features.launch import FeatureLauncher
from turgor.simulation.step.split import SplitEnd

WORLDS = 3

scenes = st.sampled_from([2, 3]).flatmap(
    lambda dim: st.tuples(st.just(dim), st.lists(st.sampled_from(KINDS[dim]), min_size=2, max_size=3))
)
numbers = st.lists(st.integers(0, 10_000), min_size=WORLDS, max_size=WORLDS)


@pytest.mark.req("X6")
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(scene=scenes, rows=numbers, precision=st.sampled_from(["single", "double"]))
@example(scene=(3, ["ball", "cloth"]), rows=[1, 2, 3], precision="double")
@example(scene=(3, ["torus"]), rows=[1, 2, 3], precision="single")  # alone in its world: some skip contact
@example(scene=(2, ["star"]), rows=[4, 4, 5], precision="double")
@example(scene=(3, ["box", "torus", "ball"]), rows=[7, 8, 7], precision="single")
def test_each_world_is_what_it_is_alone(scene, rows, precision):
    dim, kinds = scene
    check_each_world_alone(dim, kinds, rows, precision, device=DEVICE)


@pytest.mark.req("X6")
def test_a_lone_body_that_folds_is_what_it_is_alone():
    check_each_world_alone(2, ["star"], [0, 190, 1400], "single", device=DEVICE)


@pytest.fixture
def all_at_once(monkeypatch):
    """The GPU's way to solve contacts, on the CPU."""
    monkeypatch.setattr(FeatureLauncher, "parallel", property(lambda self: True))
    made = SplitEnd.__init__

    def init(self, *args, **options):
        made(self, *args, **options)
        self.parallel = True

    monkeypatch.setattr(SplitEnd, "__init__", init)


@pytest.mark.req("X6")
@pytest.mark.parametrize("kinds", [["ball", "cloth"], ["torus", "ball"]])
def test_each_world_is_what_it_is_alone_where_contacts_are_solved_at_once(all_at_once, kinds):
    check_each_world_alone(3, kinds, [11, 12, 13], "single", frames=12)
