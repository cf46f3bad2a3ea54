// sinew-peer-dart: a soft box of DART, the library of the paper's authors, that falls on the ground and lies. A program
// of its own: DART is C++ and ends in an assertion where it does not like what it is given. Reads from its input, as
// text: points along x, y and z; half sizes (m); mass of the bone and of the skin (kg); stiffness of vertices and edges
// (N/m); damping (N s/m); friction; the height it falls from (m); seconds of a step; steps; first step of rest; 1: by
// projected Gauss-Seidel, 0: by its default, Dantzig's pivots with Gauss-Seidel where these fail. Prints one line of
// JSON; times are the processor's, medians of the steps with contact before and after the first step of rest.

#include <dart/collision/fcl/FCLCollisionDetector.hpp>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/constraint/DantzigBoxedLcpSolver.hpp>
#include <dart/constraint/PgsBoxedLcpSolver.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PointMass.hpp>
#include <dart/dynamics/ShapeNode.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SoftBodyNode.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace dart::dynamics;

namespace {

struct Setup
{
    int points[3];
    double half[3], boneMass, skinMass, vertex, edge, damping, friction, height, h;
    int steps, firstAtRest, sweeps;
};

bool Read(Setup& s)
{
    bool good = std::scanf("%d %d %d", &s.points[0], &s.points[1], &s.points[2]) == 3;
    good = good && std::scanf("%lf %lf %lf", &s.half[0], &s.half[1], &s.half[2]) == 3;
    good = good && std::scanf("%lf %lf %lf %lf %lf %lf %lf %lf", &s.boneMass, &s.skinMass, &s.vertex, &s.edge,
                       &s.damping, &s.friction, &s.height, &s.h) == 8;
    return good && std::scanf("%d %d %d", &s.steps, &s.firstAtRest, &s.sweeps) == 3;
}

double Milliseconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
}

double Median(std::vector<double> values)
{
    if (values.empty())
        return -1;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

SkeletonPtr MakeBox(const Setup& s)
{
    SkeletonPtr box = Skeleton::create("box");
    Eigen::Vector3d size(2 * s.half[0], 2 * s.half[1], 2 * s.half[2]);
    SoftBodyNode::UniqueProperties soft = SoftBodyNodeHelper::makeBoxProperties(size, Eigen::Isometry3d::Identity(),
        Eigen::Vector3i(s.points[0], s.points[1], s.points[2]), s.skinMass, s.vertex, s.edge, s.damping);
    SoftBodyNode::Properties properties(BodyNode::AspectProperties("box"), soft);
    SoftBodyNode* node =
        box->createJointAndBodyNodePair<FreeJoint, SoftBodyNode>(nullptr, FreeJoint::Properties(), properties).second;
    Inertia inertia;
    inertia.setMass(s.boneMass);
    double x = size[0] * size[0], y = size[1] * size[1], z = size[2] * size[2], part = s.boneMass / 12;
    inertia.setMoment(part * (y + z), part * (x + z), part * (x + y), 0, 0, 0);
    node->setInertia(inertia);
    for (ShapeNode* shape : node->getShapeNodesWith<CollisionAspect>())
        if (shape->getDynamicsAspect() != nullptr)
            shape->getDynamicsAspect()->setFrictionCoeff(s.friction);
    Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
    place.translation() = Eigen::Vector3d(0, s.half[1] + s.height, 0);
    box->getJoint(0)->setPositions(FreeJoint::convertToPositions(place));
    return box;
}

SkeletonPtr MakeGround(const Setup& s)
{
    SkeletonPtr ground = Skeleton::create("ground");
    BodyNode* node = ground->createJointAndBodyNodePair<WeldJoint>().second;
    auto shape = std::make_shared<BoxShape>(Eigen::Vector3d(10, 1, 10));
    ShapeNode* shapeNode = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
    shapeNode->getDynamicsAspect()->setFrictionCoeff(s.friction);
    Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
    place.translation() = Eigen::Vector3d(0, -0.5, 0);
    node->getParentJoint()->setTransformFromParentBodyNode(place);
    return ground;
}

} // namespace

int main()
{
    Setup s;
    if (!Read(s))
        return 1;
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    world->setGravity(Eigen::Vector3d(0, -9.81, 0));
    world->setTimeStep(s.h);
    if (s.sweeps == 1)
        world->setConstraintSolver(std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(
            std::make_shared<dart::constraint::PgsBoxedLcpSolver>()));
    world->getConstraintSolver()->getCollisionOption().maxNumContacts = 2000;
    SkeletonPtr box = MakeBox(s);
    world->addSkeleton(MakeGround(s));
    world->addSkeleton(box);

    std::vector<double> settling, resting;
    std::size_t contacts = 0;
    const SoftBodyNode* node = static_cast<SoftBodyNode*>(box->getBodyNode(0));
    for (int i = 0; i < s.steps; ++i)
    {
        double before = Milliseconds();
        world->step();
        double ms = Milliseconds() - before;
        std::size_t now = world->getLastCollisionResult().getNumContacts();
        if (now == 0)
            continue;
        contacts = now;
        (i < s.firstAtRest ? settling : resting).push_back(ms);
    }
    double lowest = 1e9, speed = 0;
    for (std::size_t i = 0; i < node->getNumPointMasses(); ++i)
    {
        lowest = std::min(lowest, node->getPointMass(i)->getWorldPosition()[1]);
        speed = std::max(speed, node->getPointMass(i)->getWorldVelocity().norm());
    }
    double height = node->getTransform().translation()[1];
    std::printf("{\"version\": \"%s\", \"points\": %d, \"contacts\": %d, \"settling_ms\": %.9g, \"resting_ms\": %.9g, "
                "\"lowest\": %.9g, \"speed\": %.9g, \"height\": %.9g}\n",
        DART_VERSION, int(node->getNumPointMasses()), int(contacts), Median(settling), Median(resting), lowest, speed,
        height);
    return 0;
}
