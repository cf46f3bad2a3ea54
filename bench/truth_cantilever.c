// The cantilever of the paper's Fig. 9 to 11 in three versions, and their frames by IPOPT.

#include "truth_file.h"
#include "truth_parts.h"

#include "base/clock.h"
#include "scene/blueprint_file.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

const char* snwCantilever_Name(snwCantilever version)
{
    static const char* const names[snw_cantileverCount] = {"soft", "mixed", "rigid"};
    return names[version];
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

snwResult snwCantilever_CreateBuiltIn(snwContext* context, snwCharacter** builtIn, snwMessage* message)
{
    snwBlueprintFile file = {0};
    snwResult result = snwBlueprintFile_Open(context, "cantilever", &file, message);
    if (result >= 0)
        result = snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, builtIn, message);
    snwBlueprintFile_Free(&file);
    return result;
}

typedef struct Parts
{
    snwArena arena;
    snwMaterial material;
    snwCharacterDef def;
} Parts;

// What the truth knows of: no limits, no motors.
static const snwJointDef* PlainJoints(snwArena* arena, const snwCharacterDef* from)
{
    snwJointDef* joints = snwArena_Alloc(arena, (size_t)from->jointCount, sizeof *joints);
    for (int i = 0; i < from->jointCount && joints != NULL; ++i)
    {
        const snwJointDef* joint = &from->joints[i];
        joints[i] = snwDefaultJointDef();
        joints[i].name = joint->name;
        joints[i].type = joint->type;
        joints[i].parentBone = joint->parentBone;
        joints[i].bone = joint->bone;
        joints[i].position = joint->position;
        joints[i].axis = joint->axis;
        joints[i].cone = SNW_PI;
    }
    return joints;
}

// Only the vertices and tets of bones, numbered anew.
static void KeepBones(Parts* parts, const snwCharacter* from)
{
    const snwCharacterDef* def = &from->def;
    snwArena* arena = &parts->arena;
    int* numbers = snwArena_Alloc(arena, (size_t)def->vertexCount, sizeof *numbers);
    snwVec3* vertices = snwArena_Alloc(arena, (size_t)def->vertexCount, sizeof *vertices);
    int(*tets)[4] = snwArena_Alloc(arena, (size_t)def->tetCount, sizeof *tets);
    int* bones = snwArena_Alloc(arena, (size_t)def->tetCount, sizeof *bones);
    if (arena->failed)
        return;
    parts->def.vertexCount = parts->def.tetCount = 0;
    for (int v = 0; v < def->vertexCount; ++v)
    {
        numbers[v] = parts->def.vertexCount;
        if (from->vertexBones[v] >= 0)
            vertices[parts->def.vertexCount++] = def->vertices[v];
    }
    for (int e = 0; e < def->tetCount; ++e)
    {
        if (def->elementBones[e] < 0)
            continue;
        for (int a = 0; a < 4; ++a)
            tets[parts->def.tetCount][a] = numbers[def->tets[e][a]];
        bones[parts->def.tetCount++] = def->elementBones[e];
    }
    parts->def.vertices = vertices;
    parts->def.tets = (const int(*)[4])tets;
    parts->def.elementBones = bones;
}

static void FillParts(Parts* parts, const snwCharacter* from, snwCantilever version)
{
    parts->material = (snwMaterial){
        .density = SNW_CANTILEVER_DENSITY, .young = SNW_CANTILEVER_YOUNG, .poisson = SNW_CANTILEVER_POISSON};
    parts->def = snwDefaultCharacterDef();
    snwCharacterDef* def = &parts->def;
    def->name = "cantilever";
    def->vertices = from->def.vertices;
    def->vertexCount = from->def.vertexCount;
    def->tets = from->def.tets;
    def->tetCount = from->def.tetCount;
    def->materials = &parts->material;
    def->materialCount = 1;
    if (version == snw_cantileverSoft)
        return;
    def->elementBones = from->def.elementBones;
    def->bones = from->def.bones;
    def->boneCount = from->def.boneCount;
    def->joints = PlainJoints(&parts->arena, &from->def);
    def->jointCount = from->def.jointCount;
    if (version == snw_cantileverRigid)
        KeepBones(parts, from);
}

snwResult snwCantilever_CreateCharacter(
    const snwCharacter* builtIn, snwCantilever version, snwCharacter** character, snwMessage* message)
{
    snwContext* context = builtIn->context;
    Parts parts = {.arena = {.context = context}};
    FillParts(&parts, builtIn, version);
    snwResult result = parts.arena.failed ? snwFailMemory(message)
                                          : snwCreateCharacter(context, &parts.def, character, message);
    snwArena_Free(&parts.arena);
    return result;
}

// The corner of the left end that is farthest to the left, up and in front.
static int CornerVertex(const snwCharacterDef* def)
{
    int best = 0;
    for (int v = 1; v < def->vertexCount; ++v)
    {
        snwVec3 d = snwVec3_Sub(def->vertices[v], def->vertices[best]);
        if (d.y + d.z - d.x > 1e-9) // equally far: the first
            best = v;
    }
    return best;
}

void snwCantilever_Pin(const snwCharacter* character, snwCantilever version, snwVec3* lower, snwVec3* upper)
{
    const double slack = 1e-4; // m, well below the size of a tet
    snwVec3 margin = {slack, slack, slack};
    snwVec3 corner = character->def.vertices[CornerVertex(&character->def)];
    *lower = snwVec3_Sub(version == snw_cantileverRigid ? corner : character->lower, margin);
    *upper = snwVec3_Add(version == snw_cantileverRigid ? corner : character->upper, margin);
    if (version != snw_cantileverRigid)
        upper->x = character->lower.x + slack;
}

snwResult snwCantilever_CreateTruth(
    const snwCharacter* character, snwCantilever version, snwTruth** truth, snwMessage* message)
{
    snwContext* context = character->context;
    bool* held = snwAllocArray(context, (size_t)character->def.vertexCount, sizeof *held);
    if (held == NULL)
        return snwFailMemory(message);
    snwVec3 lower, upper;
    snwCantilever_Pin(character, version, &lower, &upper);
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        snwVec3 p = character->def.vertices[v];
        held[v] = p.x >= lower.x && p.y >= lower.y && p.z >= lower.z && p.x <= upper.x && p.y <= upper.y &&
                  p.z <= upper.z;
    }
    snwTruthDef def = {.character = character,
        .held = held,
        .gravity = {0, -SNW_CANTILEVER_GRAVITY, 0},
        .step = 1 / SNW_CANTILEVER_RATE};
    snwResult result = snwCreateTruth(context, &def, truth, message);
    snwFree(context, held);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames by IPOPT

typedef struct Film
{
    snwContext* context;
    snwCantilever version;
    snwCantileverTruth* kept;
    snwTruth* truth;
    snwTruthState states[3]; // before, now, next
    snwTruthProgressFn* progress;
    void* user;
} Film;

// Of x_n, with v_n = (x_n - x_n-1) / h.
static void MeasureEnergies(const Film* film, int frame)
{
    const snwCharacter* character = film->kept->character;
    const snwVec3 *before = film->states[0].positions, *now = film->states[1].positions;
    double* energies = film->kept->energies[frame];
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        double speed = snwVec3_Distance(now[v], before[v]) * SNW_CANTILEVER_RATE, mass = character->masses[v];
        energies[0] += 0.5 * mass * speed * speed;
        energies[2] += mass * SNW_CANTILEVER_GRAVITY * now[v].y;
    }
    for (int e = 0; e < film->truth->tetCount; ++e)
    {
        const snwTruthTet* tet = &film->truth->tets[e];
        snwVec3 x[4] = {now[tet->corners[0]], now[tet->corners[1]], now[tet->corners[2]], now[tet->corners[3]]};
        energies[1] += snwTruthTet_Energy(tet, x);
    }
}

static double LeastVolumeRatio(const Film* film)
{
    double least = INFINITY;
    for (int e = 0; e < film->truth->tetCount; ++e)
    {
        const snwTruthTet* tet = &film->truth->tets[e];
        const snwVec3* x = film->states[1].positions;
        snwVec3 a = x[tet->corners[0]];
        snwMat3 edges = snwMat3_FromColumns(
            snwVec3_Sub(x[tet->corners[1]], a), snwVec3_Sub(x[tet->corners[2]], a), snwVec3_Sub(x[tet->corners[3]], a));
        least = fmin(least, snwMat3_Determinant(edges) / 6 / tet->volume);
    }
    return least;
}

static void Tell(const Film* film, int frame, const snwTruthReport* report)
{
    if (film->progress == NULL)
        return;
    const double* e = film->kept->energies[frame];
    char text[256];
    snprintf(text, sizeof text,
        "%s %2d: %3d iterations, %6.2f s, residual %.1e, violation %.1e, energies %8.3f %8.3f %9.3f = %9.4f J, "
        "least volume %.3f",
        snwCantilever_Name(film->version), frame, report->iterations, report->seconds, report->residual,
        report->violation, e[0], e[1], e[2], e[0] + e[1] + e[2], LeastVolumeRatio(film));
    film->progress(text, film->user);
}

static snwResult MakeFrames(Film* film, snwMessage* message)
{
    const snwCharacter* character = film->kept->character;
    MeasureEnergies(film, 0);
    for (int frame = 1; frame <= snw_cantileverFrames; ++frame)
    {
        snwTruthReport report;
        snwTruth_SetStates(film->truth, &film->states[0], &film->states[1]);
        snwResult result = snwTruth_Solve(film->truth, &film->states[2], &report, message);
        if (result < 0)
        {
            snwMessage_AddPlace(message, "%s, frame %d", snwCantilever_Name(film->version), frame);
            return result;
        }
        snwTruthState_Copy(character, &film->states[1], &film->states[0]);
        snwTruthState_Copy(character, &film->states[2], &film->states[1]);
        MeasureEnergies(film, frame);
        int kept = frame - (snw_cantileverFrames + 1 - snw_cantileverKept);
        if (kept >= 0)
            snwTruthState_Copy(character, &film->states[1], &film->kept->frames[kept]);
        Tell(film, frame, &report);
    }
    return snw_ok;
}

static snwResult MakeFilm(Film* film, const snwCharacter* builtIn, snwMessage* message)
{
    snwResult result = snwCantileverTruth_Create(builtIn, film->version, film->kept, message);
    for (int i = 0; i < 3 && result >= 0; ++i)
        result = snwTruthState_Create(film->context, film->kept->character, &film->states[i], message);
    if (result >= 0)
        result = snwCantilever_CreateTruth(film->kept->character, film->version, &film->truth, message);
    if (result >= 0)
        result = MakeFrames(film, message);
    return result < 0 ? result : snwCantileverTruth_Save(film->kept, film->version, message);
}

snwResult snwTruth_Regenerate(snwContext* context, snwTruthProgressFn* progress, void* user, snwMessage* message)
{
    snwCharacter* builtIn = NULL;
    snwResult result = snwCantilever_CreateBuiltIn(context, &builtIn, message);
    for (int version = snw_cantileverCount - 1; version >= 0 && result >= 0; --version) // the quickest first
    {
        snwCantileverTruth kept = {0};
        Film film = {
            .context = context, .version = (snwCantilever)version, .kept = &kept, .progress = progress, .user = user};
        result = MakeFilm(&film, builtIn, message);
        for (int i = 0; i < 3; ++i)
            snwTruthState_Free(context, &film.states[i]);
        snwDestroyTruth(film.truth);
        snwCantileverTruth_Close(&kept);
    }
    if (builtIn != NULL)
        snwCharacter_Release(builtIn);
    return result;
}
