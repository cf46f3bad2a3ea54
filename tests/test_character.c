#include "fixture.h"
#include "sim/character.h"
#include "test.h"

#include <stdlib.h>

// One tet with everything a character can have.
typedef struct Rigged
{
    snwVec3 vertices[4];
    int tets[1][4];
    snwMaterial materials[1];
    snwBoneDef bones[2];
    snwJointDef joints[1];
    snwHandleDef handles[1];
    snwLinearTerm terms[1];
    snwLinearConstraintDef constraints[1];
    snwCharacterDef def;
} Rigged;

static void MakeRigged(Rigged* r)
{
    *r = (Rigged){.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .tets = {{0, 1, 2, 3}}};
    r->materials[0] = snwDefaultMaterial();
    r->bones[0] = r->bones[1] = snwDefaultBoneDef();
    r->bones[0].name = "upper", r->bones[1].name = "lower";
    r->joints[0] = snwDefaultJointDef();
    r->joints[0].name = "elbow", r->joints[0].type = snw_jointHinge, r->joints[0].parentBone = 0, r->joints[0].bone = 1;
    r->handles[0] = snwDefaultHandleDef();
    r->handles[0].name = "tip", r->handles[0].given = snw_dofX | snw_dofRotationZ;
    r->terms[0] = (snwLinearTerm){0, snw_dofY, 2.0};
    r->constraints[0] = (snwLinearConstraintDef){r->terms, 1, 0.5};
    r->def = snwDefaultCharacterDef();
    r->def.name = "arm", r->def.source = "{\"by\":\"hand\"}";
    r->def.vertices = r->vertices, r->def.vertexCount = 4;
    r->def.tets = (const int(*)[4])r->tets, r->def.tetCount = 1;
    r->def.materials = r->materials, r->def.materialCount = 1;
    r->def.bones = r->bones, r->def.boneCount = 2;
    r->def.joints = r->joints, r->def.jointCount = 1;
    r->def.handles = r->handles, r->def.handleCount = 1;
    r->def.constraints = r->constraints, r->def.constraintCount = 1;
}

static void CheckRefused(Rigged* rigged, const char* part)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character;
    snwMessage message;
    CHECK_INT(snwCreateCharacter(context, &rigged->def, &character, &message), snw_errorArgument);
    CHECK(character == NULL);
    CHECK_CONTAINS(message.text, part);
    snwDestroyContext(context);
    MakeRigged(rigged);
}

TEST(character, refusesNonsenseWithAMessage)
{
    Rigged r;
    MakeRigged(&r);
    r.tets[0][3] = 4;
    CheckRefused(&r, "tets[0] names vertex 4 of 4");
    r.tets[0][0] = 1, r.tets[0][1] = 0;
    CheckRefused(&r, "tets[0] has volume");
    r.vertices[2].y = NAN;
    CheckRefused(&r, "vertices[2] is not finite");
    r.materials[0].poisson = 0.51;
    CheckRefused(&r, "poisson must be");
    r.joints[0].bone = 2;
    CheckRefused(&r, "joints[0] joins bones 0 and 2 of 2");
    r.joints[0].axis.x = 2.0;
    CheckRefused(&r, "not unit");
    r.terms[0].dof = 3;
    CheckRefused(&r, "constraints[0].terms[0]");
    r.def.vertexCount = 0;
    CheckRefused(&r, "needs vertices");
    r.def.color[1] = NAN;
    CheckRefused(&r, "color[1]");
}

TEST(character, masslessVertexIsRefused)
{
    Rigged r;
    MakeRigged(&r);
    snwVec3 five[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 2, 2}};
    r.def.vertices = five, r.def.vertexCount = 5;
    CheckRefused(&r, "vertex 4 belongs to no tet");
}

TEST(character, saveAndLoadGiveTheSameCharacter)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Rigged r;
    MakeRigged(&r);
    snwCharacter *a, *b;
    REQUIRE(snwCreateCharacter(context, &r.def, &a, NULL) == snw_ok);
    void* block;
    size_t size;
    REQUIRE(snwCharacter_Save(a, &block, &size, NULL) == snw_ok);
    REQUIRE(snwCharacter_Load(context, block, size, &b, NULL) == snw_ok);
    CHECK_INT(a->hash, b->hash);
    CHECK(strcmp(b->def.name, "arm") == 0 && strcmp(b->def.source, "{\"by\":\"hand\"}") == 0);
    CHECK(strcmp(b->def.joints[0].name, "elbow") == 0 && b->def.joints[0].type == snw_jointHinge);
    CHECK_INT(b->def.handles[0].given, snw_dofX | snw_dofRotationZ);
    CHECK_NEAR(b->def.constraints[0].terms[0].coefficient, 2.0, 0);
    snwContext_Free(context, block);
    snwCharacter_Release(a);
    snwCharacter_Release(b);
    snwDestroyContext(context);
}

// Any byte of a block flipped, and any length cut: an error or a sound character, never a crash or a leak.
TEST(character, damagedBlocksDoNoHarm)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    Rigged r;
    MakeRigged(&r);
    snwCharacter *character, *loaded;
    REQUIRE(snwCreateCharacter(context, &r.def, &character, NULL) == snw_ok);
    void* block;
    size_t size;
    REQUIRE(snwCharacter_Save(character, &block, &size, NULL) == snw_ok);
    unsigned char* bytes = block;
    long live = counter.live;
    for (size_t i = 0; i < size; ++i)
    {
        for (int bit = 0; bit < 8; ++bit)
        {
            bytes[i] ^= (unsigned char)(1 << bit);
            if (snwCharacter_Load(context, block, size, &loaded, NULL) >= 0)
                snwCharacter_Release(loaded);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
        CHECK_INT(snwCharacter_Load(context, block, i, &loaded, NULL), snw_errorInput);
    }
    CHECK_INT(counter.live, live);
    snwContext_Free(context, block);
    snwCharacter_Release(character);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(character, everyFailedAllocationIsAnErrorWithoutLeak)
{
    Rigged r;
    MakeRigged(&r);
    for (long n = 1;; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwCharacter *character = NULL, *loaded = NULL;
        void* block = NULL;
        size_t size;
        snwResult result = snwCreateCharacter(context, &r.def, &character, NULL);
        result = result < 0 ? result : snwCharacter_Save(character, &block, &size, NULL);
        result = result < 0 ? result : snwCharacter_Load(context, block, size, &loaded, NULL);
        bool reached = counter.allocations >= counter.failAt;
        if (reached)
            CHECK_INT(result, snw_errorMemory);
        snwContext_Free(context, block);
        snwCharacter_Release(character);
        snwCharacter_Release(loaded);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
        {
            CHECK_INT(result, snw_ok);
            CHECK(n > 20);
            return;
        }
    }
}

TEST(character, simsShareOneModel)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwScene* scene = snwFixture_MakeScene(context, &fixture);
    snwSimDef def = snwDefaultSimDef();
    def.scene = scene;
    snwSim* sims[3];
    for (int i = 0; i < 3; ++i)
        REQUIRE(snwCreateSim(context, &def, &sims[i], NULL) == snw_ok);
    const snwSceneDef* sceneDef = snwScene_GetDef(scene);
    CHECK_INT(snwCharacter_GetInfo(sceneDef->bodies[0].character).modelCount, 1);
    snwFixture_Run(sims[1], 30, 1.0 / 60.0); // states are apart all the same
    CHECK(snwSim_Hash(sims[0]) == snwSim_Hash(sims[2]));
    CHECK(snwSim_Hash(sims[0]) != snwSim_Hash(sims[1]));
    for (int i = 0; i < 3; ++i)
        snwDestroySim(sims[i]);
    snwScene_Release(scene);
    snwDestroyContext(context);
}
