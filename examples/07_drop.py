"""Lesson 7: into space. A ball in 3D falls on the floor, and a ledger is kept of where its energy goes.

At first all of it is height. On the way down it becomes motion, in the bounce the stretch of the springs and the work
on the gas, and bit by bit the dashpots and the floor turn it into heat. What is there and what was lost always add up
to what there was: energy is conserved, and an engine that breaks this law will sooner or later explode.
Lying on the floor costs nothing: the floor pushes, but nothing moves, so it does no work.
Try: damping=0.0, restitution=1.0, friction=0.0 (nothing is lost). Or substeps=12: a step as coarse as that is stable,
but the account is only as exact as the step is short (one per cent of the fall, instead of one in a thousand).
"""

import turgor

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_ground(friction=0.5, restitution=0.1)
scene.add_soft_body(
    turgor.shapes.icosphere(radius=0.5, subdivisions=2),
    name="ball",
    at=(0, 0, 2),
    mass=2.0,
    springs=turgor.Springs(stiffness=150.0, damping=0.5),
    gas=turgor.Gas.at(gauge=100.0, ambient=1000.0),
    settled=True,  # the skin is stretched from the start, so that the gas does not make it jump
)
sim = turgor.Simulation(scene, ledger=True, substeps=120)
start = sim.energy().total
worst = 0.0

print("   time   height   motion  springs+gas     lost   sum (all J)")
for frame in range(181):
    energy = sim.energy()
    stored = energy.elastic + energy.gas
    account = energy.total + energy.dissipated - energy.work
    worst = max(worst, abs(account - start))
    if frame % 30 == 0:
        print(f"{sim.time:5.2f} s {energy.gravity:8.3f} {energy.kinetic:8.3f} {stored:12.3f} ", end="")
        print(f"{energy.dissipated:8.3f} {account:8.3f}")
    sim.step()

fallen = 2.0 * 9.81 * 1.5  # J: 2 kg fall by 1.5 m
assert worst < 0.003 * fallen, f"the ledger is wrong by {worst} J"
assert energy.dissipated > 0.7 * fallen, "most of the energy of the fall is heat in the end"
