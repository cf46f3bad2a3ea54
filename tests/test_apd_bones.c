// The small problem of the bones where it is hard: a chain that swings by most of a radian in one step.

#include "test.h"

#include "apd_bench.h"
#include "truth.h"

#include <math.h>

static const char s_chain[] =
    "{\"sinew\": 1, \"name\": \"chain\", \"method\": \"apd\", \"rate\": 10, \"duration\": 2,"
    " \"settings\": {\"sim.substeps\": 1, \"apd.iterations\": 10},"
    " \"bodies\": [{\"name\": \"chain\", \"character\": {\"blueprint\": {\"sinew\": 1, \"name\": \"chain\","
    "  \"material\": {\"density\": 700, \"young\": 1000000, \"poisson\": 0.45, \"damping\": 0},"
    "  \"size\": {\"tets\": 500},"
    "  \"bones\": [{\"name\": \"a\", \"head\": [-0.37, 0, 0], \"tail\": [-0.07, 0, 0], \"radius\": 0},"
    "   {\"name\": \"b\", \"parent\": \"a\", \"head\": [0.07, 0, 0], \"tail\": [0.37, 0, 0], \"radius\": 0}],"
    "  \"joints\": [{\"type\": \"ball\", \"bone\": \"b\", \"at\": [0, 0, 0], \"axis\": [1, 0, 0]}],"
    "  \"parts\": [{\"kind\": \"box\", \"group\": \"a\", \"bone\": \"a\", \"rigid\": true, \"at\": [-0.22, 0, 0],"
    "    \"half\": [0.2, 0.1, 0.1]},"
    "   {\"kind\": \"box\", \"group\": \"b\", \"bone\": \"b\", \"rigid\": true, \"at\": [0.22, 0, 0],"
    "    \"half\": [0.2, 0.1, 0.1]}]}}}]}";

// Backward Euler loses energy in every step and joints stay closed, though a step turns a bone by 0.7 rad and the pull
// at its ends is more than its own inertia.
TEST(apdBones, fastChainSettlesInLargeSteps)
{
    snwMessage message = {0};
    snwApdStage stage;
    snwSim* sim = NULL;
    REQUIRE(snwApdStage_Parse(&stage, s_chain, &message) == snw_ok);
    snwSceneDef def = *stage.def;
    const snwCharacter* character = def.bodies[0].character;
    snwVec3 at = character->def.vertices[snwNunchuck_Corner(character)], slack = {1e-5, 1e-5, 1e-5};
    snwPinDef pin = snwDefaultPinDef();
    pin.name = "nail";
    pin.held = true;
    pin.lower = snwVec3_Sub(at, slack);
    pin.upper = snwVec3_Add(at, slack);
    def.pins = &pin;
    def.pinCount = 1;
    snwApdVariant variant = {snw_apdArticulated, 10, 1, -1};
    REQUIRE(snwCreateApdSim(stage.context, &def, &variant, &sim, &message) == snw_ok);
    double energy = INFINITY, fastest = 0;
    for (int i = 0; i < 20; ++i)
    {
        snwMeasures measures;
        REQUIRE(snwSim_Step(sim, 0.1, &message) == snw_ok);
        REQUIRE(snwSim_GetMeasures(sim, -1, &measures) == snw_ok);
        CHECK(snwApdSim_JointGap(sim) < 1e-9);
        CHECK(measures.energy < energy);
        energy = measures.energy;
        fastest = fmax(fastest, measures.maxSpeed);
    }
    CHECK(fastest > 2); // m/s: it did swing
    snwDestroySim(sim);
    snwApdStage_Close(&stage);
}
