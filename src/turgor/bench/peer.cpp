// The same step by hand: springs, pressure, floor, symplectic Euler; scalar C++, one thread. A yardstick for `turgor bench`.
// Reads a mesh (counts, then positions, springs, faces) from stdin; prints seconds per substep, best of several rounds.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

struct Vec { float x, y, z; };
static Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vec operator*(float s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
static void operator+=(Vec& a, Vec b) { a.x += b.x; a.y += b.y; a.z += b.z; }
static void operator-=(Vec& a, Vec b) { a.x -= b.x; a.y -= b.y; a.z -= b.z; }
static float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

int main() {
    int n, springs, faces, substeps;
    float k, kd, nRT, ambient, dt;
    if (std::scanf("%d %d %d %d %f %f %f %f %f", &n, &springs, &faces, &substeps, &k, &kd, &nRT, &ambient, &dt) != 9) return 2;
    std::vector<Vec> x(n), v(n, Vec{0, 0, 0}), f(n, Vec{0, 0, 0}), g(n, Vec{0, 0, 0});
    std::vector<int> ends(2 * springs), corners(3 * faces);
    std::vector<float> rest(springs);
    for (auto& p : x) if (std::scanf("%f %f %f", &p.x, &p.y, &p.z) != 3) return 2;
    for (auto& e : ends) if (std::scanf("%d", &e) != 1) return 2;
    for (auto& c : corners) if (std::scanf("%d", &c) != 1) return 2;
    for (int s = 0; s < springs; ++s) { Vec d = x[ends[2 * s + 1]] - x[ends[2 * s]]; rest[s] = std::sqrt(dot(d, d)); }
    const float inverse_mass = float(n);
    double best = 1e9;
    for (int round = 0; round < 7; ++round) {
        auto start = std::chrono::steady_clock::now();
        for (int step = 0; step < substeps; ++step) {
            for (int s = 0; s < springs; ++s) {
                int i = ends[2 * s], j = ends[2 * s + 1];
                Vec d = x[j] - x[i];
                float l2 = dot(d, d);
                if (l2 <= 0) continue;
                float l = std::sqrt(l2);
                Vec force = ((k * (l - rest[s]) * l + kd * dot(v[j] - v[i], d)) / l2) * d;
                f[i] += force;
                f[j] -= force;
            }
            float volume = 0;
            for (int t = 0; t < faces; ++t) {
                int a = corners[3 * t], b = corners[3 * t + 1], c = corners[3 * t + 2];
                Vec normal = cross(x[b] - x[a], x[c] - x[a]);
                volume += dot(x[a] - x[0], normal);
                g[a] += normal;
                g[b] += normal;
                g[c] += normal;
            }
            float push = (nRT / (volume / 6) - ambient) / 6;
            for (int i = 0; i < n; ++i) {
                f[i] += push * g[i];
                v[i] += (dt * inverse_mass) * f[i];
                v[i].z -= dt * 9.81f;
                Vec move = dt * v[i];
                if (x[i].z + move.z < 0) {
                    move.z = -x[i].z;
                    if (v[i].z < 0) {
                        float speed = std::sqrt(v[i].x * v[i].x + v[i].y * v[i].y), rub = 0.5f * 1.1f * -v[i].z;
                        float kept = speed > rub ? 1 - rub / speed : 0;
                        v[i] = Vec{kept * v[i].x, kept * v[i].y, -0.1f * v[i].z};
                    }
                }
                x[i] += move;
                f[i] = g[i] = Vec{0, 0, 0};
            }
        }
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (took.count() / substeps < best) best = took.count() / substeps;
    }
    std::printf("%.9g %.9g\n", best, double(x[0].z));
    return 0;
}
