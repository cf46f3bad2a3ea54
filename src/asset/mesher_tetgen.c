// TetGen at arm's length. Measured on version 1.5.0: as a library it crashes on input that crosses itself, has doubles
// or is empty, aborts on NaN, reports success without a tet on open input, and with some switches never ends. So the
// input is checked first, TetGen runs in a program of its own under limits of time and memory, and what comes back is
// checked again: points kept, tets there and not inverted, the volume that of the surface.
//
// Regions are not asked for: which region a tet is in follows from the winding numbers of the surfaces at its middle,
// which knows cavities and bodies of several shells without a seed point in each.

#include "asset/helper.h"
#include "asset/mesher_parts.h"
#include "geom/crossing.h"
#include "geom/mesh.h"
#include "geom/winding.h"
#include "tetgen/block.h"

#include <math.h>
#include <string.h>

enum
{
    snw_tetgenRuns = 3,
    snw_maxTetgenBytes = 1 << 30
};

#define SNW_TETGEN_RATIO 1.6 // of a tet's outer radius to its shortest edge

// All surfaces in one list, as TetGen gets them.
typedef struct Complex
{
    snwVec3 *points, *asked; // as they are, and as TetGen is asked about them
    int pointCount;
    int (*triangles)[3];
    int triangleCount;
    int* owners;      // by triangle: 0 flesh, 1 + i bone i
    int* fleshPoints; // by vertex of the flesh's mend; -1: of no triangle
} Complex;

typedef struct Run
{
    snwContext* context;
    const snwMesherDef* def;
    const snwMesherInput* input;
    snwMessage* message;
    Complex complex;
    snwHelperRun helper;
    bool exhausted; // it ran out of memory
} Run;

// ---------------------------------------------------------------------------------------------------------------------
// The complex

static void AddComplexSurface(Complex* complex, const snwMend* mend, int owner, int* numbers)
{
    for (int i = 0; i < mend->vertexCount; ++i)
        numbers[i] = -1;
    for (int i = 0; i < mend->triangleCount; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            int vertex = mend->triangles[i][k];
            if (numbers[vertex] < 0)
            {
                complex->points[complex->pointCount] = mend->vertices[vertex];
                numbers[vertex] = complex->pointCount++;
            }
            complex->triangles[complex->triangleCount][k] = numbers[vertex];
        }
        complex->owners[complex->triangleCount++] = owner;
    }
}

static bool MakeComplex(const snwMesherDef* def, const snwMesherInput* input, snwArena* arena, Complex* complex)
{
    // All surfaces in one: flesh first, then bone by bone.
    size_t vertices = (size_t)input->flesh.vertexCount, triangles = (size_t)input->flesh.triangleCount, most = vertices;
    for (int i = 0; i < def->innerCount; ++i)
    {
        size_t count = (size_t)input->bones[i].vertexCount;
        vertices += count, triangles += (size_t)input->bones[i].triangleCount;
        most = count > most ? count : most;
    }

    *complex = (Complex){.points = snwArena_Alloc(arena, vertices, sizeof *complex->points),
        .asked = snwArena_Alloc(arena, vertices, sizeof *complex->asked),
        .triangles = snwArena_Alloc(arena, triangles, sizeof *complex->triangles),
        .owners = snwArena_Alloc(arena, triangles, sizeof *complex->owners),
        .fleshPoints = snwArena_Alloc(arena, (size_t)input->flesh.vertexCount, sizeof *complex->fleshPoints)};
    int* numbers = snwArena_Alloc(arena, most, sizeof *numbers);
    if (arena->failed)
        return false;
    AddComplexSurface(complex, &input->flesh, 0, complex->fleshPoints);
    for (int i = 0; i < def->innerCount; ++i)
        AddComplexSurface(complex, &input->bones[i], 1 + i, numbers);

    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Fit for TetGen?

static snwResult RefuseSurface(snwMessage* message, const char* text, int count)
{
    return snwFail(message, snw_errorInput, "mend the surface, or use the lattice mesher",
        "TetGen needs a closed surface that crosses nothing: this one has %d %s", count, text);
}

static snwResult CheckClosedSurface(const snwMend* mend, snwMessage* message)
{
    const snwSurvey* survey = &mend->after;
    if (survey->openEdges > 0)
        return RefuseSurface(message, "open edges", survey->openEdges);
    if (survey->crowdedEdges > 0)
        return RefuseSurface(message, "edges of more than two triangles", survey->crowdedEdges);
    if (survey->pinchedVertices > 0)
        return RefuseSurface(message, "vertices where it touches itself", survey->pinchedVertices);
    if (mend->before.crossingTriangles > 0)
        return RefuseSurface(message, "triangles that cross others", mend->before.crossingTriangles);
    if (mend->before.uncheckedTriangles > 0)
        return RefuseSurface(
            message, "triangles too crowded to tell whether they cross", mend->before.uncheckedTriangles);
    if (!mend->sound)
        return RefuseSurface(message, "shells without a clear outside", survey->shellCount);
    return snw_ok;
}

// Surfaces against each other.
static snwResult CheckTogether(snwArena* arena, const Complex* complex, snwMessage* message)
{
    snwCrossingDef def = {
        complex->points, complex->pointCount, (const int(*)[3])complex->triangles, complex->triangleCount};
    snwCrossings crossings;
    uint8_t* marks = snwArena_Alloc(arena, (size_t)complex->triangleCount, 1);
    if (marks == NULL)
        return snwFailMemory(message);
    snwResult result = snwFindCrossings(arena->context, &def, marks, &crossings, message);
    for (int i = 0; i < complex->triangleCount && result >= 0; ++i)
        if (marks[i] && complex->owners[i] > 0)
            return snwFail(message, snw_errorInput, "keep bones inside of the flesh and apart from each other",
                "inner[%d] crosses or touches another surface", complex->owners[i] - 1);
    return result;
}

static snwResult MakeMendSoup(snwContext* context, const snwMend* mend, snwSoup** soup, snwMessage* message)
{
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = mend->vertices, def.vertexCount = mend->vertexCount;
    def.triangles = (const int(*)[3])mend->triangles, def.triangleCount = mend->triangleCount;
    return snwCreateSoup(context, &def, soup, message);
}

static snwResult CheckInside(
    const snwMesherDef* def, const snwMesherInput* input, snwContext* context, snwMessage* message)
{
    snwSoup* flesh = NULL;
    snwResult result = MakeMendSoup(context, &input->flesh, &flesh, message);
    for (int i = 0; i < def->innerCount && result >= 0; ++i)
    {
        const snwMend* bone = &input->bones[i];
        if (snwSoup_Winding(flesh, bone->vertices[bone->triangles[0][0]]) < 0.5)
            result = snwFail(message, snw_errorInput, "keep bones inside of the flesh and apart from each other",
                "inner[%d] is outside of the flesh", i);
    }
    snwDestroySoup(flesh);
    return result;
}

snwResult snwMesherInput_CheckForTetgen(
    const snwMesherDef* def, const snwMesherInput* input, snwArena* arena, snwMessage* message)
{
    snwResult result = CheckClosedSurface(&input->flesh, message);
    for (int i = 0; i < def->innerCount && result >= 0; ++i)
    {
        result = CheckClosedSurface(&input->bones[i], message);
        if (result < 0)
            snwMessage_AddPlace(message, "inner[%d]", i);
    }
    if (result < 0 || def->innerCount == 0)
        return result;
    Complex complex;
    if (!MakeComplex(def, input, arena, &complex))
        return snwFailMemory(message);
    result = CheckTogether(arena, &complex, message);
    return result < 0 ? result : CheckInside(def, input, arena->context, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Asking

static bool WriteQuestion(const Run* run, double most, double ratio, snwWriter* out)
{
    const Complex* complex = &run->complex;
    snwWriteInt(out, snw_tetgenAsked);

    // Limits, what is wanted of the mesh, then points and triangles.
    snwWriteInt(out, (int)ceil(run->def->seconds));
    snwWriteInt(out, run->def->megabytes);
    snwWriteReal(out, most);
    snwWriteReal(out, ratio);
    snwWriteInt(out, complex->pointCount);

    for (int i = 0; i < complex->pointCount; ++i)
    {
        snwWriteReal(out, complex->asked[i].x);
        snwWriteReal(out, complex->asked[i].y);
        snwWriteReal(out, complex->asked[i].z);
    }

    snwWriteInt(out, complex->triangleCount);
    for (int i = 0; i < 3 * complex->triangleCount; ++i)
        snwWriteInt(out, complex->triangles[i / 3][i % 3]);
    snwWriteInt(out, snw_tetgenAsked);
    return !out->failed;
}

static snwResult ExplainTetgen(const Run* run, snwMessage* message)
{
    const char* remedy = "use the lattice mesher";
    switch (run->helper.end)
    {
        case snw_helperAbsent:
            return snwFail(message, snw_errorUnsupported,
                "install libtet1.5-dev and build again, or use the lattice mesher",
                "TetGen runs in the program sinew-tetgen, which is not here");
        case snw_helperLate:
            return snwFail(message, snw_errorInput, "allow more time, or use the lattice mesher",
                "TetGen did not come to an end in %g s", run->def->seconds);
        case snw_helperCrashed:
            return snwFail(message, snw_errorInput, remedy, "TetGen crashed (signal %d)", run->helper.signal);
        case snw_helperFailed:
            return snwFail(message, snw_errorInput, remedy, "sinew-tetgen failed");
        case snw_helperDone:
            break;
    }

    return snw_ok;
}

static snwResult AskOnce(Run* run, double most, double ratio, snwArena* arena, snwTetMesh* mesh)
{
    snwWriter question = {.context = run->context}, answer = {.context = run->context};
    snwResult result = WriteQuestion(run, most, ratio, &question) ? snw_ok : snwFailMemory(run->message);

    // The processor's time is limited inside; a little more passes on the clock of a busy machine.
    snwHelperDef def = {.program = "sinew-tetgen",
        .variable = "SINEW_TETGEN",
        .input = question.data,
        .inputSize = question.size,
        .mostOutput = snw_maxTetgenBytes,
        .seconds = 2 * run->def->seconds + 1};
    if (result >= 0)
        result = snwHelper_Run(&def, &answer, &run->helper, run->message);
    snwFree(run->context, question.data);
    if (result >= 0)
        result = ExplainTetgen(run, run->message);
    if (result >= 0)
        result = snwTetgen_ReadAnswer(
            arena, answer.data, answer.size, run->complex.asked, run->complex.pointCount, mesh, run->message);

    // what is too large for the memory is not tried again in a smaller way: nobody asked for that
    run->exhausted = answer.size >= 8 && (answer.data[4] == 1 || answer.data[4] == (unsigned char)snw_tetgenMemory) &&
                     result == snw_errorInput;
    snwFree(run->context, answer.data);
    return result;
}

// A billionth of the size, the same for every run: TetGen 1.5.0 asserts on points that lie on one sphere.
static void NudgePoints(Complex* complex, double size)
{
    uint64_t state = 0x9E3779B97F4A7C15ull;
    for (int i = 0; i < 3 * complex->pointCount; ++i)
    {
        snwVec3* point = &complex->asked[i / 3];
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        double step = 1e-9 * size * ((double)(state >> 40) / (1 << 23) - 1);
        *(i % 3 == 0 ? &point->x : i % 3 == 1 ? &point->y : &point->z) += step;
    }
}

// What TetGen stumbles over most are points in special position, then small and good tets: if it does, without.
static snwResult AskTetgen(Run* run, double most, snwArena* arena, snwTetMesh* mesh)
{
    snwResult result = snw_ok;
    Complex* complex = &run->complex;
    size_t size = (size_t)complex->pointCount * sizeof *complex->points;
    memcpy(complex->asked, complex->points, size);
    for (int attempt = 0; attempt < 4; ++attempt)
    {
        if (attempt == 1)
            NudgePoints(complex, run->input->flesh.after.size);
        result = AskOnce(run, attempt < 3 ? most : 0, attempt < 2 ? SNW_TETGEN_RATIO : 0, arena, mesh);
        if (result != snw_errorInput || run->helper.end == snw_helperLate || run->exhausted)
            break;
    }
    if (result >= 0 && mesh->vertices != NULL)
        memcpy(mesh->vertices, complex->points, size);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The answer

static snwResult Nonsense(snwMessage* message, const char* what)
{
    return snwFail(message, snw_errorInput, "use the lattice mesher", "what TetGen made is no mesh: %s", what);
}

static snwResult ReadFailure(snwReader* reader, snwMessage* message)
{
    int code = snwReadInt(reader);
    if (code == snw_tetgenMemory || code == 1) // TetGen's own word for it
        return snwFail(message, snw_errorInput, "allow more memory, or use the lattice mesher",
            "TetGen ran out of the memory that it was given");
    const char* why = code == 3 ? "the surface crosses itself" : code == 4 ? "a feature is too small" : "it gave up";
    return snwFail(message, snw_errorInput, "use the lattice mesher", "TetGen failed: %s (code %d)", why, code);
}

static bool ReadMeshPoints(snwReader* reader, snwArena* arena, const snwVec3* points, int count, snwTetMesh* mesh)
{
    mesh->vertexCount = snwReadCount(reader, 24);
    mesh->vertices = reader->failed ? NULL : snwArena_Alloc(arena, (size_t)mesh->vertexCount, sizeof *mesh->vertices);
    if (mesh->vertices == NULL || mesh->vertexCount < count)
        return false;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwVec3* v = &mesh->vertices[i];
        v->x = snwReadReal(reader), v->y = snwReadReal(reader), v->z = snwReadReal(reader);
        bool same = i >= count || (v->x == points[i].x && v->y == points[i].y && v->z == points[i].z);
        if (reader->failed || !same)
            return false;
    }
    return true;
}

static bool ReadTets(snwReader* reader, snwArena* arena, snwTetMesh* mesh)
{
    mesh->tetCount = snwReadCount(reader, 16);
    mesh->tets = reader->failed ? NULL : snwArena_Alloc(arena, (size_t)mesh->tetCount, sizeof *mesh->tets);
    if (mesh->tets == NULL)
        return false;

    // Corners must exist; tets are turned the right way round.
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        int* t = mesh->tets[i];
        for (int k = 0; k < 4; ++k)
        {
            t[k] = snwReadInt(reader);
            if (reader->failed || t[k] < 0 || t[k] >= mesh->vertexCount)
                return false;
        }

        const snwVec3* v = mesh->vertices;
        if (snwTet_Volume(v[t[0]], v[t[1]], v[t[2]], v[t[3]]) < 0)
        {
            int swap = t[2];
            t[2] = t[3];
            t[3] = swap;
        }
    }

    return true;
}

snwResult snwTetgen_ReadAnswer(snwArena* arena, const unsigned char* data, size_t size, const snwVec3* points,
    int count, snwTetMesh* mesh, snwMessage* message)
{
    snwReader reader = {.data = data, .size = size};
    *mesh = (snwTetMesh){0};
    int magic = snwReadInt(&reader);
    if (magic == snw_tetgenFailed)
        return ReadFailure(&reader, message);
    if (magic != snw_tetgenDone)
        return Nonsense(message, "it makes no sense");
    if (!ReadMeshPoints(&reader, arena, points, count, mesh))
        return arena->failed ? snwFailMemory(message) : Nonsense(message, "the surface's points are not in it");
    if (!ReadTets(&reader, arena, mesh) || mesh->tetCount == 0)
        return arena->failed ? snwFailMemory(message) : Nonsense(message, "it has no tets, or tets of no points");
    if (snwReadInt(&reader) != snw_tetgenDone || reader.failed || reader.position != size)
        return Nonsense(message, "it ends too early or too late");
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Regions

typedef struct RegionLoop
{
    const snwTetMesh* mesh;
    snwSoup* const* soups; // flesh, bones
    int soupCount;
    int* regions; // -1: in no flesh
} RegionLoop;

static void FindRegions(int begin, int end, void* data)
{
    const RegionLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        const int* t = loop->mesh->tets[i];
        const snwVec3* v = loop->mesh->vertices;
        snwVec3 middle = snwVec3_Scale(snwVec3_Add(snwVec3_Add(v[t[0]], v[t[1]]), snwVec3_Add(v[t[2]], v[t[3]])), 0.25);
        loop->regions[i] = snwSoup_Winding(loop->soups[0], middle) > 0.5 ? 0 : -1;
        for (int k = 1; k < loop->soupCount && loop->regions[i] >= 0; ++k)
            if (snwSoup_Winding(loop->soups[k], middle) > 0.5)
                loop->regions[i] = k;
    }
}

// Drops the tets of cavities.
static void DropCavities(snwTetMesh* mesh, int* regions)
{
    int kept = 0;
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        if (regions[i] < 0)
            continue;
        memmove(mesh->tets[kept], mesh->tets[i], sizeof *mesh->tets);
        regions[kept++] = regions[i];
    }
    mesh->tetCount = kept;
}

static snwResult LabelMeshedTets(Run* run, snwArena* arena, snwMeshed* meshed)
{
    int count = 1 + run->def->innerCount, made = 0;
    snwSoup** soups = snwAllocArray(run->context, (size_t)count, sizeof(void*));
    meshed->regions = snwArena_Alloc(arena, (size_t)meshed->mesh.tetCount, sizeof *meshed->regions);
    snwResult result = soups != NULL && meshed->regions != NULL ? snw_ok : snwFailMemory(run->message);
    for (; made < count && result >= 0; ++made)
        result = MakeMendSoup(
            run->context, made == 0 ? &run->input->flesh : &run->input->bones[made - 1], &soups[made], run->message);

    // Each tet to the region that its middle lies in.
    if (result >= 0)
    {
        RegionLoop loop = {&meshed->mesh, soups, count, meshed->regions};
        snwParallelFor(run->context, meshed->mesh.tetCount, 256, FindRegions, &loop);
        DropCavities(&meshed->mesh, meshed->regions);
    }

    for (int i = 0; i < made && soups != NULL; ++i)
        snwDestroySoup(soups[i]);
    snwFree(run->context, soups);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

// m^3, of the largest tet, for the wanted count: tets come out at about half of what is allowed. 0: as they come.
static double FirstLimit(const snwMesherDef* def, const snwSurvey* survey)
{
    if (def->tets > 0)
        return 1.9 * survey->volume / def->tets;
    if (def->vertices > 0)
        return 1.9 * survey->volume / (4.5 * def->vertices);
    double edge = def->spacing > 0 ? def->spacing : survey->size / 40;
    return edge * edge * edge / 6;
}

static double Miss(const snwMesherDef* def, const snwTetMesh* mesh)
{
    double ratio = def->tets > 0 ? (double)mesh->tetCount / def->tets : (double)mesh->vertexCount / def->vertices;
    return log(ratio);
}

// The surface's own triangles set a least number of tets; more are made by smaller limits.
static snwResult AskForCount(Run* run, snwArena* arena, snwMeshed* meshed)
{
    // The limit on volumes is changed by the miss, until the count is near enough.
    double most = FirstLimit(run->def, &run->input->flesh.after);
    bool counted = run->def->tets > 0 || run->def->vertices > 0;
    snwResult result = AskTetgen(run, most, arena, &meshed->mesh);

    meshed->report.meshings = 1;
    while (
        result >= 0 && counted && meshed->report.meshings < snw_tetgenRuns && fabs(Miss(run->def, &meshed->mesh)) > 0.1)
    {
        snwTetMesh other;
        most *= exp(Miss(run->def, &meshed->mesh));
        meshed->report.meshings++;
        snwResult again = AskTetgen(run, most, arena, &other);
        if (again == snw_errorMemory)
            return again;
        if (again < 0 || fabs(Miss(run->def, &other)) >= 0.98 * fabs(Miss(run->def, &meshed->mesh)))
            break; // what is there is good enough
        meshed->mesh = other;
    }

    return result;
}

static snwResult CheckTetMesh(const Run* run, snwMeshed* meshed)
{
    snwFillReport* report = &meshed->report;
    const snwMend* flesh = &run->input->flesh;

    // The same report as the lattice makes, so both can be compared.
    report->flatTriangles = flesh->flatCount, report->doubleTriangles = flesh->doubleCount;
    report->turnedTriangles = flesh->turnedCount, report->shellCount = flesh->after.shellCount;
    report->closed = true;
    report->surfaceVolume = flesh->after.volume;
    report->quality = snwTetMesh_Quality(&meshed->mesh);
    report->volume = report->quality.volume;
    report->volumeError = fabs(report->volume / report->surfaceVolume - 1);

    // TetGen promises these; if they do not hold, something is wrong.
    if (!(report->volumeError < 1e-6))
        return snwFail(run->message, snw_errorInput, "use the lattice mesher",
            "TetGen's mesh has %.3f %% of the volume", 100 * report->volume / report->surfaceVolume);
    if (report->quality.inverted > 0)
        return snwFail(run->message, snw_errorInput, "use the lattice mesher", "TetGen's mesh has %d flat tets",
            report->quality.inverted);
    snwMessage_Clear(run->message); // of earlier runs

    return snw_ok;
}

static bool MapMeshedVertices(const Run* run, snwArena* arena, snwMeshed* meshed)
{
    const snwMend* flesh = &run->input->flesh;
    int count = run->def->faces.vertexCount;
    meshed->ownVertices = snwArena_Alloc(arena, (size_t)count, sizeof *meshed->ownVertices);
    for (int i = 0; i < count && meshed->ownVertices != NULL; ++i)
        meshed->ownVertices[i] = run->complex.fleshPoints[flesh->map[i]];
    return meshed->ownVertices != NULL;
}

snwResult snwTetgen_Make(snwContext* context, const snwMesherDef* def, const snwMesherInput* input, snwArena* arena,
    snwMeshed* meshed, snwMessage* message)
{
    Run run = {.context = context, .def = def, .input = input, .message = message};
    snwArena work = {.context = context};
    snwResult result = MakeComplex(def, input, &work, &run.complex) ? snw_ok : snwFailMemory(message);
    result = result < 0 ? result : AskForCount(&run, arena, meshed);
    meshed->megabytes = run.helper.megabytes;
    result = result < 0 ? result : LabelMeshedTets(&run, arena, meshed);
    result = result < 0 ? result : CheckTetMesh(&run, meshed);
    if (result >= 0 && !MapMeshedVertices(&run, arena, meshed))
        result = snwFailMemory(message);
    snwArena_Free(&work);
    return result;
}
