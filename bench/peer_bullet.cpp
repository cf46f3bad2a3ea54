// Bullet's soft body on a mesh of ours: how long its position solver takes for a link, and a step for the whole body.
//
// A program of its own: Bullet is C++ and lives in another process, so its crash is none of ours. Reads numbers as text
// from stdin: nodes, links, iterations, steps; per node x y z and its mass (kg, 0: held); per link its two nodes.
// Prints one line of JSON. Steps with one iteration and with all take turns; the difference of two neighbours,
// divided by the links and the iterations between, is the time of a link without all else of a step. Collisions are
// off. Bullet's links come in our order and in its own (ReoptimizeLinkOrder); the faster one counts.

#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sys/resource.h>
#include <vector>

namespace {

const btScalar kStep = btScalar(1) / 240; // s
const rlim_t kSeconds = 120;              // of the processor

struct Mesh
{
    int nodes = 0, links = 0, iterations = 0, steps = 0;
    std::vector<btVector3> places;
    std::vector<btScalar> masses;
    std::vector<int> ends; // two per link
};

bool Read(Mesh& mesh)
{
    const int most = 10000000;
    if (std::scanf("%d %d %d %d", &mesh.nodes, &mesh.links, &mesh.iterations, &mesh.steps) != 4 || mesh.nodes < 1 ||
        mesh.nodes > most || mesh.links < 1 || mesh.links > most || mesh.iterations < 2 || mesh.steps < 1)
        return false;
    for (int i = 0; i < mesh.nodes; ++i)
    {
        double x, y, z, mass;
        if (std::scanf("%lf %lf %lf %lf", &x, &y, &z, &mass) != 4)
            return false;
        mesh.places.emplace_back(btScalar(x), btScalar(y), btScalar(z));
        mesh.masses.push_back(btScalar(mass));
    }
    for (int i = 0; i < 2 * mesh.links; ++i)
    {
        int node;
        if (std::scanf("%d", &node) != 1 || node < 0 || node >= mesh.nodes)
            return false;
        mesh.ends.push_back(node);
    }
    return true;
}

// A world with one soft body in it.
struct World
{
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btSoftRigidDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btSoftBody* body = nullptr; // the world's info is asked for first, so it is made here and not in a list

    World(const Mesh& mesh, bool reorder)
    {
        btSoftBodyWorldInfo& info = world.getWorldInfo();
        info.m_gravity = btVector3(0, btScalar(-9.81), 0);
        world.setGravity(info.m_gravity);
        body = new btSoftBody(&info, mesh.nodes, mesh.places.data(), mesh.masses.data());
        for (int i = 0; i < mesh.links; ++i)
            body->appendLink(mesh.ends[2 * i], mesh.ends[2 * i + 1]);
        if (reorder)
            btSoftBodyHelpers::ReoptimizeLinkOrder(body);
        body->m_cfg.collisions = 0;
        world.addSoftBody(body);
    }

    ~World()
    {
        world.removeSoftBody(body);
        delete body;
    }

    double Step(int iterations) // s
    {
        body->m_cfg.piterations = iterations;
        auto start = std::chrono::steady_clock::now();
        world.stepSimulation(kStep, 0);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};

double Median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Times
{
    double link, step; // s
};

Times Measure(const Mesh& mesh, bool reorder)
{
    auto world = std::make_unique<World>(mesh, reorder);
    std::vector<double> links, steps;
    world->Step(mesh.iterations); // warms up
    for (int i = 0; i < mesh.steps; ++i)
    {
        double one = world->Step(1), all = world->Step(mesh.iterations);
        links.push_back((all - one) / (double(mesh.iterations - 1) * mesh.links));
        steps.push_back(all);
    }
    return {Median(links), Median(steps)};
}

} // namespace

int main()
{
    const rlimit limit = {kSeconds, kSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    Mesh mesh;
    if (!Read(mesh))
    {
        std::fputs("sinew-peer-bullet: no mesh on stdin\n", stderr);
        return 2;
    }
    Times plain = Measure(mesh, false), own = Measure(mesh, true);
    const Times& best = own.link < plain.link ? own : plain;
    std::printf("{\"version\": %d, \"scalar_bytes\": %d, \"links\": %d, \"link_ns\": %.6g, \"step_ms\": %.6g, "
                "\"plain_link_ns\": %.6g, \"reordered_link_ns\": %.6g}\n",
        BT_BULLET_VERSION, int(sizeof(btScalar)), mesh.links, best.link * 1e9, best.step * 1e3, plain.link * 1e9,
        own.link * 1e9);
    return 0;
}
