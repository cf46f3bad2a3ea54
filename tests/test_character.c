// Labels: kernels

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
    int elementBones[1];
    float colors[4][3], texcoords[4][2];
    uint8_t pixels[2][4];
    snwKey keys[3];
    snwTrackDef tracks[2];
    snwMotionDef motions[2];
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

// With what blocks of version 1 could not hold.
static void MakeFull(Rigged* r)
{
    MakeRigged(r);
    r->bones[1].parent = 0;
    r->elementBones[0] = 1;
    for (int i = 0; i < 4; ++i)
    {
        r->colors[i][0] = 0.25f * (float)i, r->colors[i][2] = 1.0f;
        r->texcoords[i][1] = 0.125f * (float)i;
    }
    r->pixels[1][0] = 200, r->pixels[1][3] = 255;
    for (int i = 0; i < 3; ++i)
        r->keys[i] = (snwKey){0.25 * i, {{0.1 * (i % 2), 0, 0}, {0, 0, 0, 1}}};
    r->tracks[0] = (snwTrackDef){0, r->keys, 3};
    r->tracks[1] = (snwTrackDef){1, r->keys, 1};
    r->motions[0] = (snwMotionDef){.name = "nod", .duration = 0.5, .loop = true, .tracks = r->tracks, .trackCount = 2};
    r->motions[1] = (snwMotionDef){.name = "rest", .duration = 2.0};
    r->def.elementBones = r->elementBones;
    r->def.colors = (const float(*)[3])r->colors;
    r->def.texcoords = (const float(*)[2])r->texcoords;
    r->def.texture = (snwTexture){1, 2, &r->pixels[0][0]};
    r->def.motions = r->motions, r->def.motionCount = 2;
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
    if (rigged->def.motions != NULL)
        MakeFull(rigged);
    else
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

static void CheckSameFull(const snwCharacterDef* a, const snwCharacterDef* b)
{
    CHECK_INT(b->bones[1].parent, 0);
    CHECK_INT(b->elementBones[0], 1);
    CHECK(memcmp(a->colors, b->colors, 4 * sizeof *a->colors) == 0);
    CHECK(memcmp(a->texcoords, b->texcoords, 4 * sizeof *a->texcoords) == 0);
    CHECK(b->texture.width == 1 && b->texture.height == 2 && memcmp(a->texture.pixels, b->texture.pixels, 8) == 0);
    CHECK_INT(b->motionCount, 2);
    CHECK(strcmp(b->motions[0].name, "nod") == 0 && b->motions[0].loop && b->motions[0].duration == 0.5);
    CHECK(!b->motions[1].loop && b->motions[1].trackCount == 0);
    CHECK_INT(b->motions[0].tracks[1].bone, 1);
    CHECK(memcmp(a->motions[0].tracks[0].keys, b->motions[0].tracks[0].keys, 3 * sizeof(snwKey)) == 0);
}

TEST(character, saveAndLoadKeepLooksAndMotions)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Rigged r;
    MakeFull(&r);
    snwCharacter *a, *b;
    REQUIRE(snwCreateCharacter(context, &r.def, &a, NULL) == snw_ok);
    void* block;
    size_t size;
    REQUIRE(snwCharacter_Save(a, &block, &size, NULL) == snw_ok);
    REQUIRE(snwCharacter_Load(context, block, size, &b, NULL) == snw_ok);
    CHECK_INT(a->hash, b->hash);
    CheckSameFull(&r.def, snwCharacter_GetDef(b));
    snwCharacterInfo info = snwCharacter_GetInfo(b);
    CHECK(info.textured && info.motionCount == 2 && info.elasticVertexCount == 0);
    snwContext_Free(context, block);
    snwCharacter_Release(a);
    snwCharacter_Release(b);
    r.def.motions = NULL, r.def.motionCount = 0; // every part is in the hash
    uint64_t with = 0, without = 0;
    for (int k = 0; k < 2; ++k)
    {
        r.pixels[0][1] = (uint8_t)k;
        REQUIRE(snwCreateCharacter(context, &r.def, &a, NULL) == snw_ok);
        without = with, with = a->hash;
        snwCharacter_Release(a);
    }
    CHECK(with != without);
    snwDestroyContext(context);
}

// Blocks as they were before there were motions, written then and kept among the seeds of the fuzzer.
// What bones weigh and touch with, and ranges per axis of joints.
static void MakeBodies(Rigged* r)
{
    MakeFull(r);
    r->bones[0].mass = 2.5;
    r->bones[1].mass = 1, r->bones[1].centre = (snwVec3){0.1, 0.2, 0.3};
    const double inertia[6] = {0.02, 0.03, 0.04, 0.001, -0.002, 0.003};
    memcpy(r->bones[1].inertia, inertia, sizeof inertia);
    r->bones[1].shape = (snwBoneShape){
        .kind = snw_colliderBox, .place = {{1, 2, 3}, {0.6, 0, 0, 0.8}}, .size = {0.1, 0.2, 0.3}, .cells = {2, 3, 4}};
    r->joints[0].type = snw_jointUniversal;
    r->joints[0].lower2 = -0.5, r->joints[0].upper2 = 0.25;
}

TEST(character, saveAndLoadKeepBodiesAndRanges)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Rigged r;
    snwCharacter *made, *loaded, *plain;
    void *data, *again;
    size_t size, sizeAgain;
    MakeFull(&r);
    CHECK(snwCreateCharacter(context, &r.def, &plain, NULL) == snw_ok);
    MakeBodies(&r);
    CHECK(snwCreateCharacter(context, &r.def, &made, NULL) == snw_ok);
    CHECK(made->hash != plain->hash);
    CHECK(snwCharacter_Save(made, &data, &size, NULL) == snw_ok);
    CHECK(snwCharacter_Load(context, data, size, &loaded, NULL) == snw_ok);
    CHECK(snwCharacter_Save(loaded, &again, &sizeAgain, NULL) == snw_ok);
    CHECK(size == sizeAgain && memcmp(data, again, size) == 0);
    const snwBoneDef* bone = &loaded->def.bones[1];
    CHECK_NEAR(loaded->def.bones[0].mass, 2.5, 0);
    CHECK_NEAR(bone->centre.z, 0.3, 0);
    CHECK_NEAR(bone->inertia[5], 0.003, 0);
    CHECK_NEAR(bone->shape.place.rotation.w, 0.8, 0);
    CHECK_NEAR(bone->shape.size.y, 0.2, 0);
    CHECK_INT(bone->shape.cells[2], 4);
    CHECK_NEAR(loaded->def.joints[0].upper2, 0.25, 0);
    snwFree(context, data), snwFree(context, again);
    snwCharacter_Release(plain), snwCharacter_Release(made), snwCharacter_Release(loaded);
    snwDestroyContext(context);
}

TEST(character, refusesBodiesThatCannotBe)
{
    Rigged r;
    MakeBodies(&r);
    r.bones[0].mass = -1;
    CheckRefused(&r, "bones[0] 'upper' must weigh");
    MakeBodies(&r), r.bones[0].mass = NAN;
    CheckRefused(&r, "bones[0] 'upper' must weigh");
    MakeBodies(&r), r.bones[1].mass = 0;
    CheckRefused(&r, "'lower' has an inertia and no mass");
    MakeBodies(&r), r.bones[1].inertia[0] = 0.1;
    CheckRefused(&r, "'lower' has an inertia that no body has");
    MakeBodies(&r), r.bones[1].inertia[3] = 0.05;
    CheckRefused(&r, "'lower' has an inertia that no body has");
    MakeBodies(&r), r.bones[1].inertia[2] = INFINITY;
    CheckRefused(&r, "'lower' has an inertia that no body has");
    MakeBodies(&r), r.bones[1].centre.x = NAN;
    CheckRefused(&r, "'lower' has its centre out of range");
    MakeBodies(&r), r.bones[1].shape.kind = snw_colliderMesh;
    CheckRefused(&r, "'lower' has a shape of kind");
    MakeBodies(&r), r.bones[1].shape.size.y = 0;
    CheckRefused(&r, "the shape of bones[1] 'lower'");
    MakeBodies(&r), r.bones[1].shape.place.rotation.w = 2;
    CheckRefused(&r, "the shape of bones[1] 'lower'");
    MakeBodies(&r), r.bones[1].shape.cells[1] = 0;
    CheckRefused(&r, "cells along each axis");
    MakeBodies(&r), r.bones[1].shape.cells[1] = 1000000;
    CheckRefused(&r, "cells along each axis");
    MakeBodies(&r), r.joints[0].type = snw_jointHinge;
    CheckRefused(&r, "has a range too many");
    MakeBodies(&r), r.joints[0].upper2 = INFINITY;
    CheckRefused(&r, "joints[0] has a number out of range");
    MakeBodies(&r), r.joints[0].type = snw_jointBall, r.joints[0].axis2 = r.joints[0].axis;
    CheckRefused(&r, "not at a right angle");
}

TEST(character, blocksOfVersionOneStillLoad)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    FILE* file = fopen(SNW_SOURCE_DIR "/fuzz/seeds/character/rigged.block", "rb");
    REQUIRE(file != NULL);
    static unsigned char block[65536];
    size_t size = fread(block, 1, sizeof block, file);
    fclose(file);
    CHECK(memcmp(block, "SNC1", 4) == 0);
    snwCharacter* character = NULL;
    REQUIRE(snwCharacter_Load(context, block, size, &character, NULL) == snw_ok);
    CHECK(character->def.boneCount > 0 && character->def.bones[0].parent == -1);
    void* again;
    size_t sizeAgain;
    REQUIRE(snwCharacter_Save(character, &again, &sizeAgain, NULL) == snw_ok); // and keep their hash
    CHECK(sizeAgain == size && memcmp(again, block, size) == 0);
    snwContext_Free(context, again);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// Weights of the bones and of the handle.
typedef struct Weighted
{
    Rigged rigged;
    int starts[5], handles[5], starts2[5], handles2[4];
    double values[5], values2[4];
} Weighted;

static void MakeWeighted(Weighted* w)
{
    *w = (Weighted){.starts = {0, 1, 2, 3, 5},
        .handles = {0, 0, 1, 0, 1},
        .values = {1, 1, 1, 0.25, 0.75},
        .starts2 = {0, 1, 2, 3, 4},
        .values2 = {1, 1, 1, 1}};
    MakeFull(&w->rigged);
    w->rigged.def.boneWeights = (snwWeights){4, 2, w->starts, w->handles, w->values};
    w->rigged.def.handleWeights = (snwWeights){4, 1, w->starts2, w->handles2, w->values2};
}

TEST(character, saveAndLoadKeepWeights)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Weighted w;
    MakeWeighted(&w);
    snwCharacter *a, *b, *plain;
    void* block;
    size_t size;
    REQUIRE(snwCreateCharacter(context, &w.rigged.def, &a, NULL) == snw_ok);
    REQUIRE(snwCharacter_Save(a, &block, &size, NULL) == snw_ok);
    CHECK(memcmp(block, "SNC3", 4) == 0);
    REQUIRE(snwCharacter_Load(context, block, size, &b, NULL) == snw_ok);
    CHECK_INT(a->hash, b->hash);
    const snwWeights* got = &b->def.boneWeights;
    CHECK(got->vertexCount == 4 && got->handleCount == 2 && memcmp(got->starts, w.starts, sizeof w.starts) == 0);
    CHECK(memcmp(got->handles, w.handles, sizeof w.handles) == 0);
    CHECK(memcmp(got->values, w.values, sizeof w.values) == 0);
    CHECK(b->def.handleWeights.vertexCount == 4 && b->def.handleWeights.handles != w.handles2);
    w.rigged.def.handleWeights = w.rigged.def.boneWeights = (snwWeights){0};
    REQUIRE(snwCreateCharacter(context, &w.rigged.def, &plain, NULL) == snw_ok);
    CHECK(plain->hash != a->hash); // they belong to the character
    for (size_t i = 0; i < size; i += 1)
    {
        snwCharacter* cut = NULL;
        CHECK(snwCharacter_Load(context, block, i, &cut, NULL) < 0 && cut == NULL);
    }
    snwContext_Free(context, block);
    snwCharacter_Release(plain);
    snwCharacter_Release(a);
    snwCharacter_Release(b);
    snwDestroyContext(context);
}

static void CheckWeightsRefused(Weighted* w, const char* part, const char* place)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character;
    snwMessage message;
    CHECK_INT(snwCreateCharacter(context, &w->rigged.def, &character, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, part);
    CHECK_CONTAINS(message.place, place);
    snwDestroyContext(context);
    MakeWeighted(w);
}

TEST(character, refusesNonsenseInWeights)
{
    Weighted w;
    MakeWeighted(&w);
    w.values[4] = 0.5;
    CheckWeightsRefused(&w, "vertex 3 sum to 0.75", "boneWeights");
    w.values2[1] = NAN;
    CheckWeightsRefused(&w, "vertex 1 has weight", "handleWeights");
    w.handles[4] = 2;
    CheckWeightsRefused(&w, "name handle 2 of 2", "boneWeights");
    w.starts[2] = 4;
    CheckWeightsRefused(&w, "vertex 1 go from 1 to 4", "boneWeights");
    w.rigged.def.boneWeights.vertexCount = 3;
    CheckWeightsRefused(&w, "weights are for 3 vertices and 2 handles, not 4 and 2", "boneWeights");
    w.rigged.def.handleWeights.handleCount = 3;
    CheckWeightsRefused(&w, "weights are for 4 vertices and 3 handles, not 4 and 1", "handleWeights");
}

TEST(character, refusesNonsenseInLooksAndMotions)
{
    Rigged r;
    MakeFull(&r);
    r.elementBones[0] = 2;
    CheckRefused(&r, "elementBones[0] is 2 of 2");
    r.colors[2][1] = 1.5f;
    CheckRefused(&r, "colors[2]");
    r.texcoords[3][0] = NAN;
    CheckRefused(&r, "texcoords[3]");
    r.def.texture.width = 8193;
    CheckRefused(&r, "texture must be 1..8192");
    r.def.texture.height = 0;
    CheckRefused(&r, "texture must be 1..8192");
    r.def.texture.pixels = NULL;
    CheckRefused(&r, "texture has no pixels");
    r.bones[1].name = "upper";
    CheckRefused(&r, "bones[0] and bones[1] are both called 'upper'");
    r.bones[0].parent = 2;
    CheckRefused(&r, "bones[0] follows bone 2 of 2");
    r.bones[0].parent = 1;
    CheckRefused(&r, "follows itself");
    r.motions[1].name = "nod";
    CheckRefused(&r, "are both called 'nod'");
    r.motions[0].duration = 0.0;
    CheckRefused(&r, "duration must be");
    r.motions[0].duration = 0.4;
    CheckRefused(&r, "time must rise from key to key, from 0 to 0.4 s");
    r.keys[1].time = 0.0;
    CheckRefused(&r, "time must rise");
    r.keys[1].time = 1e-9;
    CheckRefused(&r, "keys are 1e-09 s apart");
    r.keys[0].time = 1e-20; // nothing is left of the gap at the wrap
    CheckRefused(&r, "keys are 0 s apart");
    r.keys[2].transform.position.y = 0.1;
    CheckRefused(&r, "the loop does not close");
    r.keys[1].transform.rotation.w = 2.0;
    CheckRefused(&r, "unit quaternion");
    r.tracks[1].bone = 0;
    CheckRefused(&r, "bone 'upper' has a track already");
    r.tracks[1].bone = 2;
    CheckRefused(&r, "moves bone 2 of 2");
    r.tracks[1].keyCount = 0;
    CheckRefused(&r, "has 0 keys");
    r.motions[0].trackCount = 3;
    CheckRefused(&r, "has 3 tracks for 2 bones");
    r.def.thickness = 0.0;
    CheckRefused(&r, "thickness must be");
    r.keys[2].transform.position.y = 0.1;
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character;
    snwMessage message;
    CHECK_INT(snwCreateCharacter(context, &r.def, &character, &message), snw_errorArgument);
    CHECK_CONTAINS(message.place, "motions[0].tracks[0]");
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Hexes and flat characters

typedef struct Bricks
{
    snwVec3 vertices[16];
    int hexes[3][8];
    int elementBones[3];
    snwBoneDef bones[2];
    snwCharacterDef def;
} Bricks;

// Three unit cubes in a row along x.
static void MakeBricks(Bricks* b)
{
    *b = (Bricks){.elementBones = {0, -1, 1}};
    for (int i = 0; i < 16; ++i)
        b->vertices[i] = (snwVec3){i % 4, i / 4 % 2, i / 8};
    for (int i = 0; i < 3; ++i)
    {
        const int hex[8] = {i, i + 1, i + 5, i + 4, i + 8, i + 9, i + 13, i + 12};
        memcpy(b->hexes[i], hex, sizeof hex);
    }
    b->bones[0] = b->bones[1] = snwDefaultBoneDef();
    b->bones[0].name = "left", b->bones[1].name = "right";
    b->def = snwDefaultCharacterDef();
    b->def.vertices = b->vertices, b->def.vertexCount = 16;
    b->def.hexes = (const int(*)[8])b->hexes, b->def.hexCount = 3;
    b->def.bones = b->bones, b->def.boneCount = 2;
    b->def.elementBones = b->elementBones;
}

// Volume under the skin by the divergence theorem: right only if it is closed and points outwards.
static double SkinVolume(const snwSkin* skin)
{
    double volume = 0.0;
    for (int i = 0; i < skin->triangleCount; ++i)
    {
        snwVec3 p[3];
        for (int k = 0; k < 3; ++k)
        {
            const float* x = skin->positions + 3 * (size_t)skin->triangles[3 * i + k];
            p[k] = (snwVec3){x[0], x[1], x[2]};
        }
        volume += snwVec3_Dot(p[0], snwVec3_Cross(p[1], p[2])) / 6.0;
    }
    return volume;
}

TEST(character, hexesHaveSkinMassAndBones)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Bricks b;
    MakeBricks(&b);
    snwCharacter* c;
    REQUIRE(snwCreateCharacter(context, &b.def, &c, NULL) == snw_ok);
    snwCharacterInfo info = snwCharacter_GetInfo(c);
    CHECK_INT(info.hexCount, 3);
    CHECK_INT(info.edgeCount, 28);
    CHECK_INT(info.skinTriangleCount, 28);
    CHECK_INT(info.skinVertexCount, 16);
    CHECK_INT(info.elasticVertexCount, 0); // the flesh between two bones has no vertex of its own
    CHECK_INT(info.textured, 0);
    CHECK_NEAR(info.volume, 3.0, 1e-12);
    CHECK_NEAR(info.mass, 3000.0, 1e-9);
    CHECK_NEAR(c->masses[0], 125.0, 1e-9);
    CHECK_NEAR(c->masses[1], 250.0, 1e-9);
    snwSkin skin;
    CHECK(snwCharacter_GetRestSkin(c, &skin) == snw_ok);
    CHECK_NEAR(SkinVolume(&skin), 3.0, 1e-6);
    CHECK_INT(skin.vertices[15], 15);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        const float *x = skin.positions + 3 * (size_t)i, *n = skin.normals + 3 * (size_t)i;
        CHECK_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1.0, 1e-5);
        CHECK((x[1] - 0.5f) * n[1] > 0.0f && (x[2] - 0.5f) * n[2] > 0.0f);
    }
    snwCharacter_Release(c);
    b.def.elementBones = NULL;
    REQUIRE(snwCreateCharacter(context, &b.def, &c, NULL) == snw_ok);
    CHECK_INT(snwCharacter_GetInfo(c).elasticVertexCount, 16);
    snwCharacter_Release(c);
    snwDestroyContext(context);
}

// A pyramid's stump from unit square to a square of side s: its volume is (1 + s + s^2) / 3. Six tets would not hit it
// once a face is warped; the twisted one is compared with the integral over many slices.
TEST(character, volumeOfHexesIsExact)
{
    snwVec3 x[8] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0.4, 0, 1}, {0.4, 0.4, 1}, {0, 0.4, 1}};
    CHECK_NEAR(snwHex_Volume(x), (1.0 + 0.4 + 0.16) / 3.0, 1e-14);
    x[6] = (snwVec3){0.7, 0.9, 1}, x[5] = (snwVec3){0.8, -0.3, 1};
    double sum = 0.0;
    int slices = 2000;
    for (int i = 0; i < slices; ++i)
    {
        double z = (i + 0.5) / slices;
        snwVec3 p[4];
        for (int k = 0; k < 4; ++k)
            p[k] = snwVec3_Lerp(x[k], x[4 + k], z);
        snwVec3 d = snwVec3_Sub(p[2], p[0]), e = snwVec3_Sub(p[3], p[1]);
        sum += 0.5 * snwVec3_Cross(d, e).z / slices;
    }
    CHECK_NEAR(snwHex_Volume(x), sum, 1e-6);
}

TEST(character, flatCharactersAreTrianglesInThePlane)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[4] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}};
    int triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    const int regions[2] = {0, 1};
    snwMaterial materials[2] = {snwDefaultMaterial(), snwDefaultMaterial()};
    materials[1].density = 2000.0;
    snwCharacterDef def = snwDefaultCharacterDef();
    def.vertices = vertices, def.vertexCount = 4;
    def.triangles = (const int(*)[3])triangles, def.triangleCount = 2;
    def.regions = regions, def.materials = materials, def.materialCount = 2, def.thickness = 0.1;
    snwCharacter* c;
    REQUIRE(snwCreateCharacter(context, &def, &c, NULL) == snw_ok);
    CHECK_NEAR(c->volume, 0.2, 1e-15);
    CHECK_NEAR(c->mass, 300.0, 1e-9);
    CHECK_NEAR(c->masses[1], 100.0 / 3.0, 1e-9);
    CHECK_INT(c->edgeCount, 5);
    snwSkin skin;
    CHECK(snwCharacter_GetRestSkin(c, &skin) == snw_ok && skin.triangleCount == 2 && skin.vertexCount == 4);
    CHECK_NEAR(skin.normals[2], 1.0, 1e-6);
    void* block;
    size_t size;
    snwCharacter* loaded;
    REQUIRE(snwCharacter_Save(c, &block, &size, NULL) == snw_ok);
    REQUIRE(snwCharacter_Load(context, block, size, &loaded, NULL) == snw_ok);
    CHECK(loaded->hash == c->hash && loaded->def.thickness == 0.1 && loaded->def.regions[1] == 1);
    snwContext_Free(context, block);
    snwCharacter_Release(loaded);
    snwCharacter_Release(c);
    snwMessage message;
    vertices[3].z = 1e-9;
    CHECK_INT(snwCreateCharacter(context, &def, &c, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "vertices[3] of a flat character");
    vertices[3].z = 0.0, triangles[1][1] = 3, triangles[1][2] = 2;
    CHECK_INT(snwCreateCharacter(context, &def, &c, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "triangles[1] has volume");
    snwDestroyContext(context);
}

static void CheckBricksRefused(Bricks* b, const char* part)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character;
    snwMessage message;
    CHECK_INT(snwCreateCharacter(context, &b->def, &character, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, part);
    snwDestroyContext(context);
    MakeBricks(b);
}

TEST(character, refusesBadHexesAndBonesThatTouch)
{
    Bricks b;
    MakeBricks(&b);
    b.elementBones[1] = 0;
    CheckBricksRefused(&b, "to bone 'left' and to bone 'right'");
    b.hexes[2][7] = 16;
    CheckBricksRefused(&b, "hexes[2] names vertex 16 of 16");
    b.hexes[2][7] = b.hexes[2][6];
    CheckBricksRefused(&b, "twice");
    for (int k = 0; k < 4; ++k)
        b.hexes[1][k] ^= b.hexes[1][k + 4], b.hexes[1][k + 4] ^= b.hexes[1][k], b.hexes[1][k] ^= b.hexes[1][k + 4];
    CheckBricksRefused(&b, "hexes[1] has volume");
    const int tets[1][4] = {{0, 1, 4, 8}};
    b.def.tets = tets, b.def.tetCount = 1;
    CheckBricksRefused(&b, "a character has one kind of elements");
    b.def.hexCount = 2;
    CheckBricksRefused(&b, "belongs to no hex");
    b.def.hexes = NULL;
    CheckBricksRefused(&b, "3 hexes but no array");
}

// ---------------------------------------------------------------------------------------------------------------------
// Damage and memory

// Any byte of a block flipped, and any length cut: an error or a sound character, never a crash or a leak.
static void DamageBlockOf(const snwCharacterDef* def)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwCharacter *character, *loaded;
    REQUIRE(snwCreateCharacter(context, def, &character, NULL) == snw_ok);
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

TEST(character, damagedBlocksDoNoHarm)
{
    Rigged r;
    Bricks b;
    MakeRigged(&r);
    DamageBlockOf(&r.def);
    MakeFull(&r);
    DamageBlockOf(&r.def);
    MakeBricks(&b);
    DamageBlockOf(&b.def);
    Weighted w;
    MakeWeighted(&w);
    DamageBlockOf(&w.rigged.def);
}

static void FailEveryAllocationOf(const snwCharacterDef* def)
{
    for (long n = 1;; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwCharacter *character = NULL, *loaded = NULL;
        void* block = NULL;
        size_t size;
        snwResult result = snwCreateCharacter(context, def, &character, NULL);
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

TEST(character, everyFailedAllocationIsAnErrorWithoutLeak)
{
    Rigged r;
    Bricks b;
    MakeRigged(&r);
    FailEveryAllocationOf(&r.def);
    MakeFull(&r);
    FailEveryAllocationOf(&r.def);
    MakeBricks(&b);
    FailEveryAllocationOf(&b.def);
    Weighted w;
    MakeWeighted(&w);
    FailEveryAllocationOf(&w.rigged.def);
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
