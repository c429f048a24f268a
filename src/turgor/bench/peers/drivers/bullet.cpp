// Balls of Bullet's btSoftBody with pressure, on a static plane; soft bodies do not meet each other. One thread.
// Reads a problem from stdin (bench/peers/problem.py), then numbers of frames; answers with a line of JSON to each.
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

int main() {
    int balls, n, edges, faces, iterations;
    float mass, k, kd, nRT, friction, gravity, fps;
    if (std::scanf("%d %d %d %d %d", &balls, &n, &edges, &faces, &iterations) != 5) return 2;
    if (std::scanf("%f %f %f %f %f %f %f", &mass, &k, &kd, &nRT, &friction, &gravity, &fps) != 7) return 2;
    auto points = [](int count) {
        std::vector<btVector3> read(count);
        for (auto& p : read) {
            float x, y, z;
            if (std::scanf("%f %f %f", &x, &y, &z) != 3) std::exit(2);
            p = btVector3(x, y, z);
        }
        return read;
    };
    std::vector<btVector3> place = points(balls), shape = points(n);
    std::vector<int> ends(2 * edges), corners(3 * faces);
    for (auto& e : ends) if (std::scanf("%d", &e) != 1) return 2;
    for (auto& c : corners) if (std::scanf("%d", &c) != 1) return 2;

    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btSoftRigidDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    btVector3 down(0, 0, -gravity);
    world.setGravity(down);
    btSoftBodyWorldInfo& info = world.getWorldInfo();
    info.m_gravity = down;
    info.air_density = 0;
    info.m_sparsesdf.Initialize();
    btBoxShape box(btVector3(100, 100, 5));  // soft bodies sink through a btStaticPlaneShape
    btRigidBody floor(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &box));
    floor.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, 0, -5)));
    floor.setFriction(friction);
    world.addRigidBody(&floor);

    btSoftBody* first = nullptr;
    for (const btVector3& at : place) {
        std::vector<btVector3> nodes(shape);
        for (auto& p : nodes) p += at;
        auto* body = new btSoftBody(&info, n, nodes.data(), nullptr);
        body->m_materials[0]->m_kLST = 1;  // a share of the correction in each iteration, not N/m
        for (int e = 0; e < edges; ++e) body->appendLink(ends[2 * e], ends[2 * e + 1]);
        for (int t = 0; t < faces; ++t) body->appendFace(corners[3 * t], corners[3 * t + 1], corners[3 * t + 2]);
        body->setTotalMass(mass);
        body->m_cfg.kPR = nRT;  // the force on a node is its normal times its area times kPR / volume
        body->m_cfg.kDF = friction;
        body->m_cfg.piterations = iterations;
        body->m_cfg.collisions = btSoftBody::fCollision::SDF_RS;  // against rigid bodies, node by node
        body->getCollisionShape()->setMargin(0.01f);
        body->setActivationState(DISABLE_DEACTIVATION);
        world.addSoftBody(body);
        if (!first) first = body;
    }
    std::printf("{\"engine\": \"Bullet %d.%02d\"}\n", btGetVersion() / 100, btGetVersion() % 100);
    std::fflush(stdout);
    for (int frames; std::scanf("%d", &frames) == 1;) {
        auto start = std::chrono::steady_clock::now();
        std::clock_t busy = std::clock();
        for (int frame = 0; frame < frames; ++frame) world.stepSimulation(1 / fps, 0);
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        double processor = double(std::clock() - busy) / CLOCKS_PER_SEC;
        double height = 0, lowest = 1e9;
        for (int i = 0; i < n; ++i) {
            height += first->m_nodes[i].m_x.z() / n;
            lowest = std::min(lowest, double(first->m_nodes[i].m_x.z()));
        }
        std::printf("{\"seconds\": %.9g, \"processor\": %.9g, \"height\": %.6g, \"lowest\": %.6g, \"volume\": %.6g}\n",
                    took.count() / frames, processor / frames, height, lowest, double(first->getVolume()));
        std::fflush(stdout);
    }
    return 0;
}
