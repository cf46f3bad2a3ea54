// Bullet's soft bodies on a mesh of ours: how long its position solver takes for a link, and a step for the whole body;
// or an implicit step of its deformable finite elements.
//
// A program of its own: Bullet is C++ and lives in another process, so its crash is none of ours. Reads text from
// stdin. "links", then nodes, links, iterations, steps; per node x y z and its mass (kg, 0: held); per link its two
// nodes. Prints one line of JSON. Steps with one iteration and with all take turns; the difference of two neighbours,
// divided by the links and the iterations between, is the time of a link without all else of a step. Collisions are
// off. Bullet's links come in our order and in its own (ReoptimizeLinkOrder); the faster one counts.
//
// "tets", then nodes, tetrahedra, steps, mu, lambda (Pa), seconds of a step; the same of nodes; per tetrahedron its
// four nodes. Median of the steps' processor time; one linearisation a step, projection, no line search, no collisions.

#include <BulletSoftBody/btDeformableBodySolver.h>
#include <BulletSoftBody/btDeformableGravityForce.h>
#include <BulletSoftBody/btDeformableLinearElasticityForce.h>
#include <BulletSoftBody/btDeformableMultiBodyConstraintSolver.h>
#include <BulletSoftBody/btDeformableMultiBodyDynamicsWorld.h>
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
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
    std::vector<int> ends; // two per link, four per tetrahedron
};

const int kMost = 10000000;

bool ReadNodes(Mesh& mesh)
{
    for (int i = 0; i < mesh.nodes; ++i)
    {
        double x, y, z, mass;
        if (std::scanf("%lf %lf %lf %lf", &x, &y, &z, &mass) != 4)
            return false;
        mesh.places.emplace_back(btScalar(x), btScalar(y), btScalar(z));
        mesh.masses.push_back(btScalar(mass));
    }
    return true;
}

bool ReadEnds(Mesh& mesh, int count)
{
    for (int i = 0; i < count; ++i)
    {
        int node;
        if (std::scanf("%d", &node) != 1 || node < 0 || node >= mesh.nodes)
            return false;
        mesh.ends.push_back(node);
    }
    return true;
}

bool Read(Mesh& mesh)
{
    if (std::scanf("%d %d %d %d", &mesh.nodes, &mesh.links, &mesh.iterations, &mesh.steps) != 4 || mesh.nodes < 1 ||
        mesh.nodes > kMost || mesh.links < 1 || mesh.links > kMost || mesh.iterations < 2 || mesh.steps < 1)
        return false;
    return ReadNodes(mesh) && ReadEnds(mesh, 2 * mesh.links);
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

// ---------------------------------------------------------------------------------------------------------------------
// Deformable finite elements

struct Flesh
{
    btSoftBodyRigidBodyCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btDeformableBodySolver solver;
    btDeformableMultiBodyConstraintSolver constraints;
    btDeformableMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &constraints, &configuration, &solver};
    btSoftBody* body = nullptr;
    btDeformableLinearElasticityForce elastic;
    btDeformableGravityForce gravity{btVector3(0, btScalar(-9.81), 0)};

    Flesh(const Mesh& mesh, double mu, double lambda) : elastic(btScalar(mu), btScalar(lambda), btScalar(0))
    {
        constraints.setDeformableSolver(&solver);
        world.setGravity(btVector3(0, btScalar(-9.81), 0));
        world.getWorldInfo().m_gravity = btVector3(0, btScalar(-9.81), 0);
        std::vector<btScalar> ones(mesh.masses.size(), 1);
        body = new btSoftBody(&world.getWorldInfo(), mesh.nodes, mesh.places.data(), ones.data());
        for (size_t e = 0; e < mesh.ends.size(); e += 4)
            body->appendTetra(mesh.ends[e], mesh.ends[e + 1], mesh.ends[e + 2], mesh.ends[e + 3]);
        for (int i = 0; i < mesh.nodes; ++i)
            body->setMass(i, mesh.masses[size_t(i)]);
        body->initializeDmInverse();
        body->m_tetraScratches.resize(body->m_tetras.size());
        body->m_tetraScratchesTn.resize(body->m_tetras.size());
        body->m_cfg.collisions = 0;
        body->m_sleepingThreshold = 0;
        body->setSelfCollision(false);
        world.addSoftBody(body);
        world.addForce(body, &elastic);
        world.addForce(body, &gravity);
        world.setImplicit(true);
        world.setLineSearch(false);
        world.setUseProjection(true);
    }

    ~Flesh()
    {
        world.removeSoftBody(body);
        delete body;
    }
};

double CpuMs()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
}

int MeasureFlesh()
{
    Mesh mesh;
    int tets;
    double mu, lambda, step;
    if (std::scanf("%d %d %d %lf %lf %lf", &mesh.nodes, &tets, &mesh.steps, &mu, &lambda, &step) != 6 ||
        mesh.nodes < 4 || mesh.nodes > kMost || tets < 1 || tets > kMost || mesh.steps < 1 || !(step > 0) ||
        !ReadNodes(mesh) || !ReadEnds(mesh, 4 * tets))
        return 2;
    auto flesh = std::make_unique<Flesh>(mesh, mu, lambda);
    std::vector<double> times;
    for (int i = 0; i < mesh.steps; ++i)
    {
        double start = CpuMs();
        flesh->world.stepSimulation(btScalar(step), 1, btScalar(step));
        times.push_back(CpuMs() - start);
    }
    double lowest = 0;
    for (int i = 0; i < mesh.nodes; ++i)
        lowest = std::max(lowest, double(mesh.places[size_t(i)].y() - flesh->body->m_nodes[i].m_x.y()));
    std::printf("{\"version\": %d, \"step_ms\": %.6g, \"lowest\": %.6g}\n", BT_BULLET_VERSION, Median(times), lowest);
    return 0;
}

} // namespace

int main()
{
    const rlimit limit = {kSeconds, kSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    char kind[8] = "";
    if (std::scanf("%7s", kind) == 1 && std::strcmp(kind, "tets") == 0)
        return MeasureFlesh();
    Mesh mesh;
    if (std::strcmp(kind, "links") != 0 || !Read(mesh))
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
