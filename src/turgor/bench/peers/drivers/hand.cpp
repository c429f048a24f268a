// The same step by hand: springs, pressure, floor, symplectic Euler; scalar C++, one thread. A yardstick for `turgor bench`.
// Reads a problem from stdin (bench/peers/problem.py), then numbers of frames; answers with a line of JSON to each.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

struct Vec { float x, y, z; };
static Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vec operator*(float s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
static void operator+=(Vec& a, Vec b) { a.x += b.x; a.y += b.y; a.z += b.z; }
static void operator-=(Vec& a, Vec b) { a.x -= b.x; a.y -= b.y; a.z -= b.z; }
static float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

int main() {
    int balls, n, springs, faces, substeps;
    float mass, k, kd, nRT, friction, gravity, fps;
    if (std::scanf("%d %d %d %d %d", &balls, &n, &springs, &faces, &substeps) != 5) return 2;
    if (std::scanf("%f %f %f %f %f %f %f", &mass, &k, &kd, &nRT, &friction, &gravity, &fps) != 7) return 2;
    std::vector<Vec> place(balls), rest_shape(n);
    std::vector<int> ends(2 * springs), corners(3 * faces);
    for (auto& p : place) if (std::scanf("%f %f %f", &p.x, &p.y, &p.z) != 3) return 2;
    for (auto& p : rest_shape) if (std::scanf("%f %f %f", &p.x, &p.y, &p.z) != 3) return 2;
    for (auto& e : ends) if (std::scanf("%d", &e) != 1) return 2;
    for (auto& c : corners) if (std::scanf("%d", &c) != 1) return 2;
    std::vector<Vec> all_x(balls * n), all_v(balls * n, Vec{0, 0, 0}), f(n, Vec{0, 0, 0}), g(n, Vec{0, 0, 0});
    std::vector<float> rest(springs);
    for (int b = 0; b < balls; ++b)
        for (int i = 0; i < n; ++i) { all_x[b * n + i] = rest_shape[i]; all_x[b * n + i] += place[b]; }
    for (int s = 0; s < springs; ++s) {
        Vec d = rest_shape[ends[2 * s + 1]] - rest_shape[ends[2 * s]];
        rest[s] = std::sqrt(dot(d, d));
    }
    const float inverse_mass = float(n) / mass, dt = 1.0f / fps / float(substeps);
    std::printf("{\"engine\": \"C++ by hand, %s\"}\n", __VERSION__);
    std::fflush(stdout);
    for (int frames; std::scanf("%d", &frames) == 1;) {
        auto start = std::chrono::steady_clock::now();
        std::clock_t busy = std::clock();
        for (int step = 0; step < frames * substeps; ++step) {
            for (int b = 0; b < balls; ++b) {
                Vec *x = &all_x[b * n], *v = &all_v[b * n];
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
                    int p = corners[3 * t], q = corners[3 * t + 1], r = corners[3 * t + 2];
                    Vec normal = cross(x[q] - x[p], x[r] - x[p]);
                    volume += dot(x[p] - x[0], normal);
                    g[p] += normal;
                    g[q] += normal;
                    g[r] += normal;
                }
                float push = nRT / volume;  // pressure nRT / (volume / 6), a sixth of each normal's
                for (int i = 0; i < n; ++i) {
                    f[i] += push * g[i];
                    v[i] += (dt * inverse_mass) * f[i];
                    v[i].z -= dt * gravity;
                    Vec move = dt * v[i];
                    if (x[i].z + move.z < 0) {
                        move.z = -x[i].z;
                        if (v[i].z < 0) {
                            float speed = std::sqrt(v[i].x * v[i].x + v[i].y * v[i].y), rub = friction * -v[i].z;
                            float kept = speed > rub ? 1 - rub / speed : 0;
                            v[i] = Vec{kept * v[i].x, kept * v[i].y, 0};
                        }
                    }
                    x[i] += move;
                    f[i] = g[i] = Vec{0, 0, 0};
                }
            }
        }
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        double processor = double(std::clock() - busy) / CLOCKS_PER_SEC;
        double height = 0, lowest = 1e9, volume = 0;
        for (int i = 0; i < n; ++i) { height += all_x[i].z / n; lowest = std::fmin(lowest, all_x[i].z); }
        for (int t = 0; t < faces; ++t)
            volume += dot(all_x[corners[3 * t]], cross(all_x[corners[3 * t + 1]], all_x[corners[3 * t + 2]])) / 6;
        std::printf("{\"seconds\": %.9g, \"processor\": %.9g, \"height\": %.6g, \"lowest\": %.6g, \"volume\": %.6g}\n",
                    took.count() / frames, processor / frames, height, lowest, volume);
        std::fflush(stdout);
    }
    return 0;
}
