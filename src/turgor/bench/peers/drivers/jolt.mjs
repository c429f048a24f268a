// Balls of Jolt's soft bodies with pressure, on a static floor; soft bodies do not meet each other. WASM, one thread.
// Arguments: the module of jolt-physics, its version. Reads a problem from stdin (bench/peers/problem.py), then numbers
// of frames; answers with a line of JSON to each.
import { createInterface } from "node:readline";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const { default: init } = await import(pathToFileURL(process.argv[2]).href);
const Jolt = await init();
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const numbers = async () => (await lines.next()).value.split(" ").map(Number);
const rows = async (width) => {
  const flat = await numbers();
  return Array.from({ length: flat.length / width }, (_, row) => flat.slice(width * row, width * row + width));
};
const [balls, count, , , iterations] = await numbers();
const [mass, stiffness, , nRT, friction, gravity, fps] = await numbers();
const [places, vertices, edges, faces] = [await rows(3), await rows(3), await rows(2), await rows(3)];

const MOVING = 0, STILL = 1;
const filter = new Jolt.ObjectLayerPairFilterTable(2);
filter.EnableCollision(MOVING, STILL);
const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
layers.MapObjectToBroadPhaseLayer(MOVING, new Jolt.BroadPhaseLayer(0));
layers.MapObjectToBroadPhaseLayer(STILL, new Jolt.BroadPhaseLayer(1));
const settings = new Jolt.JoltSettings();
settings.mObjectLayerPairFilter = filter;
settings.mBroadPhaseLayerInterface = layers;
settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, filter, 2);
const jolt = new Jolt.JoltInterface(settings);
const system = jolt.GetPhysicsSystem(), bodies = system.GetBodyInterface();
system.SetGravity(new Jolt.Vec3(0, 0, -gravity));
const upright = new Jolt.Quat(0, 0, 0, 1);
const box = new Jolt.BoxShape(new Jolt.Vec3(100, 100, 1), 0.05, null);
const floor = new Jolt.BodyCreationSettings(box, new Jolt.RVec3(0, 0, -1), upright, Jolt.EMotionType_Static, STILL);
floor.mFriction = friction;
bodies.CreateAndAddBody(floor, Jolt.EActivation_DontActivate);

const shared = new Jolt.SoftBodySharedSettings();
const vertex = new Jolt.SoftBodySharedSettingsVertex();
vertex.mInvMass = count / mass;
for (const place of vertices) {
  vertex.mPosition = new Jolt.Float3(...place);
  shared.mVertices.push_back(vertex);
}
for (const [a, b, c] of faces) shared.AddFace(new Jolt.SoftBodySharedSettingsFace(a, b, c, 0));
for (const [a, b] of edges) shared.mEdgeConstraints.push_back(new Jolt.SoftBodySharedSettingsEdge(a, b, 1 / stiffness));
shared.CalculateEdgeLengths();
shared.Optimize(); // also reorders the constraints for parallel work
shared.AddRef();
const made = places.map((place) => {
  const ball = new Jolt.SoftBodyCreationSettings(shared, new Jolt.RVec3(...place), upright, MOVING);
  ball.mPressure = nRT;
  ball.mNumIterations = iterations;
  ball.mFriction = friction;
  ball.mAllowSleeping = false;
  const body = bodies.CreateSoftBody(ball);
  bodies.AddBody(body.GetID(), Jolt.EActivation_Activate);
  return body;
});

function measured(body) {
  const motion = Jolt.castObject(body.GetMotionProperties(), Jolt.SoftBodyMotionProperties);
  const base = body.GetCenterOfMassPosition();
  const at = vertices.map((_, index) => {
    const p = motion.GetVertex(index).mPosition;
    return [p.GetX() + base.GetX(), p.GetY() + base.GetY(), p.GetZ() + base.GetZ()];
  });
  const volume = faces.reduce((sum, [a, b, c]) => {
    const [p, q, r] = [at[a], at[b], at[c]];
    return sum + (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2])
      + p[2] * (q[0] * r[1] - q[1] * r[0])) / 6;
  }, 0);
  const heights = at.map((p) => p[2]);
  return { height: heights.reduce((a, b) => a + b) / count, lowest: Math.min(...heights), volume };
}

console.log(JSON.stringify({ engine: `Jolt, jolt-physics ${process.argv[3]} (WASM), node ${process.versions.node}` }));
for await (const line of lines) {
  const frames = Number(line);
  const start = performance.now(), busy = process.cpuUsage();
  for (let frame = 0; frame < frames; frame += 1) jolt.Step(1 / fps, 1);
  const seconds = (performance.now() - start) / 1e3 / frames, used = process.cpuUsage(busy);
  const processor = (used.user + used.system) / 1e6 / frames;
  console.log(JSON.stringify({ seconds, processor, ...measured(made[0]) }));
}
