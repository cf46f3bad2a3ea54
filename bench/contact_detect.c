// Finding contact: a pile of balls where everybody touches its neighbours, and a bar bent into a ring whose ends are
// inside each other. Both move a little in each step and look a little ahead, as a solver would.

#include "contact_bench.h"
#include "contact_brute.h"

#include "base/clock.h"
#include "base/result.h"
#include "contact/detect.h"

#include <math.h>
#include <stdlib.h>

enum
{
    snw_sizeCount = 3,
    snw_ballCells = 6,
    snw_findsPerSample = 3
};

typedef struct Crowd
{
    snwContext* contexts[2]; // one thread, two threads
    snwDetector* detectors[2];
    snwCharacter* character;
    snwDetectorBody* bodies;
    int bodyCount, vertexCount; // of all bodies
    float *now, *before;        // of all bodies, four per vertex
    const float **positions, **previous;
    snwOverlap* overlaps;
    int overlapCount;
    double margin;
    snwSamples ns, speedup; // per vertex
} Crowd;

typedef struct Case
{
    const char* name;
    snwResult (*fill)(Crowd* crowd, int size, snwMessage* message);
    const char* note;
} Case;

static double Noise(uint64_t* seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 33) / 1073741824.0 - 1.0; // -1..1
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwResult MakeArrays(Crowd* crowd, int bodyCount, snwMessage* message)
{
    int vertices = snwCharacter_GetInfo(crowd->character).vertexCount;
    crowd->bodyCount = bodyCount;
    crowd->vertexCount = bodyCount * vertices;
    crowd->bodies = calloc((size_t)bodyCount, sizeof *crowd->bodies);
    crowd->now = calloc(4 * (size_t)crowd->vertexCount, sizeof *crowd->now);
    crowd->before = calloc(4 * (size_t)crowd->vertexCount, sizeof *crowd->before);
    crowd->positions = calloc((size_t)bodyCount, sizeof *crowd->positions);
    crowd->previous = calloc((size_t)bodyCount, sizeof *crowd->previous);
    if (crowd->bodies == NULL || crowd->now == NULL || crowd->before == NULL || crowd->positions == NULL ||
        crowd->previous == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < bodyCount; ++i)
    {
        crowd->bodies[i].character = crowd->character;
        crowd->positions[i] = crowd->now + 4 * (size_t)i * (size_t)vertices;
        crowd->previous[i] = crowd->before + 4 * (size_t)i * (size_t)vertices;
    }
    return snw_ok;
}

// Every vertex has moved by up to a fifth of the margin.
static void SetVertex(Crowd* crowd, int index, const double p[3], uint64_t* seed)
{
    for (int k = 0; k < 3; ++k)
    {
        crowd->now[4 * (size_t)index + (size_t)k] = (float)p[k];
        crowd->before[4 * (size_t)index + (size_t)k] = (float)(p[k] + 0.2 * crowd->margin * Noise(seed));
    }
}

// Balls of 63 vertices in a cube, two hundredths of their size inside each other.
static snwResult FillPile(Crowd* crowd, int size, snwMessage* message)
{
    static const int counts[snw_sizeCount] = {16, 160, 1590};
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBall);
    def.size = (snwVec3){1, 1, 1};
    def.cells[0] = snw_ballCells;
    snwResult result = snwCreateShape(crowd->contexts[0], &def, &crowd->character, message);
    if (result >= 0)
        result = MakeArrays(crowd, counts[size], message);
    if (result < 0)
        return result;
    const snwCharacterDef* shape = snwCharacter_GetDef(crowd->character);
    int across = (int)ceil(cbrt(counts[size]));
    uint64_t seed = 7;
    crowd->margin = 0.02;
    for (int i = 0; i < crowd->vertexCount; ++i)
    {
        int body = i / shape->vertexCount;
        snwVec3 v = shape->vertices[i % shape->vertexCount];
        int column = body % across, layer = body / across % across, row = body / across / across;
        const double p[3] = {v.x + 0.98 * column, v.y + 0.98 * layer, v.z + 0.98 * row};
        SetVertex(crowd, i, p, &seed);
    }
    return snw_ok;
}

static snwResult FillRing(Crowd* crowd, int size, snwMessage* message)
{
    static const int cells[snw_sizeCount] = {4, 9, 21};
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBar);
    def.size = (snwVec3){10, 1, 1};
    def.cells[0] = 10 * cells[size];
    def.cells[1] = def.cells[2] = cells[size];
    snwResult result = snwCreateShape(crowd->contexts[0], &def, &crowd->character, message);
    if (result >= 0)
        result = MakeArrays(crowd, 1, message);
    if (result < 0)
        return result;
    const snwCharacterDef* shape = snwCharacter_GetDef(crowd->character);
    const double radius = 10.0 / 6.6;
    uint64_t seed = 7;
    crowd->margin = 0.1 / cells[size];
    crowd->bodies[0].self = true;
    for (int i = 0; i < crowd->vertexCount; ++i)
    {
        snwVec3 v = shape->vertices[i];
        double angle = v.x / radius, r = radius - v.y;
        const double p[3] = {r * sin(angle), radius - r * cos(angle), v.z + 0.05 * angle};
        SetVertex(crowd, i, p, &seed);
    }
    return snw_ok;
}

static snwResult OpenCrowd(Crowd* crowd, const Case* sort, int size, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < 2 && result >= 0; ++i)
    {
        snwContextDef def = snwDefaultContextDef();
        def.threadCount = 1 + i;
        result = snwCreateContext(&def, &crowd->contexts[i], message);
    }
    if (result >= 0)
        result = sort->fill(crowd, size, message);
    for (int i = 0; i < 2 && result >= 0; ++i)
    {
        snwDetectorDef def = snwDefaultDetectorDef();
        def.bodies = crowd->bodies;
        def.bodyCount = crowd->bodyCount;
        result = snwCreateDetector(crowd->contexts[i], &def, &crowd->detectors[i], message);
    }
    if (result < 0)
        return result;
    crowd->overlaps = calloc((size_t)snwDetector_Capacity(crowd->detectors[0]), sizeof *crowd->overlaps);
    return crowd->overlaps != NULL ? snw_ok : snwFailMemory(message);
}

static void CloseCrowd(Crowd* crowd)
{
    for (int i = 0; i < 2; ++i)
        snwDestroyDetector(crowd->detectors[i]);
    if (crowd->character != NULL)
        snwCharacter_Release(crowd->character);
    for (int i = 0; i < 2; ++i)
        if (crowd->contexts[i] != NULL)
            snwDestroyContext(crowd->contexts[i]);
    free(crowd->bodies);
    free(crowd->now);
    free(crowd->before);
    free(crowd->positions);
    free(crowd->previous);
    free(crowd->overlaps);
}

// ---------------------------------------------------------------------------------------------------------------------
// Measuring

static snwDetectorInput InputOf(const Crowd* crowd)
{
    return (snwDetectorInput){
        .positions = crowd->positions, .previous = crowd->previous, .stride = 4, .margin = crowd->margin};
}

static double TimeFind(Crowd* crowd, int variant, int finds)
{
    snwDetectorInput input = InputOf(crowd);
    double start = snwClock_Seconds();
    for (int i = 0; i < finds; ++i)
        crowd->overlapCount = snwDetector_Find(
            crowd->detectors[variant], &input, crowd->overlaps, snwDetector_Capacity(crowd->detectors[variant]));
    return (snwClock_Seconds() - start) / finds;
}

// The first round warms up and is not counted.
static void Measure(Crowd* crowd, int runs)
{
    int finds = snw_findsPerSample * (crowd->vertexCount < 20000 ? 20 : 1);
    for (int run = -1; run < runs; ++run)
    {
        double one = TimeFind(crowd, 0, finds), two = TimeFind(crowd, 1, finds);
        if (run < 0)
            continue;
        snwSamples_Add(&crowd->ns, one * 1e9 / crowd->vertexCount);
        snwSamples_Add(&crowd->speedup, one / two);
    }
}

typedef struct Rows
{
    snwBenchReport* report;
    snwMessage* message;
    snwResult result;
} Rows;

static void Add(Rows* rows, const snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
}

static void AddSize(Rows* rows, const Case* sort, const char* size, const Crowd* crowd)
{
    char name[48];
    snprintf(name, sizeof name, "%s-%s", sort->name, size);
    snwBenchRow row = snwMakeBenchRow(name, "contact", "detect_ns_per_vertex");
    snwBenchRow_SetSamples(&row, &crowd->ns);
    snprintf(row.note, sizeof row.note, "%d vertices, %d overlaps, one thread; %s", crowd->vertexCount,
        crowd->overlapCount, sort->note);
    Add(rows, &row);
    snwBenchRow threads = snwMakeBenchRow(name, "contact", "speedup_2t");
    snwBenchRow_SetSamples(&threads, &crowd->speedup);
    Add(rows, &threads);
}

static void AddMissed(Rows* rows, const Case* sort, const Crowd* crowd)
{
    snwDetectorInput input = InputOf(crowd);
    snwBruteResult brute = snwCompareWithBrute(crowd->detectors[0], &input, crowd->overlaps, crowd->overlapCount);
    char name[48];
    snprintf(name, sizeof name, "%s-1k", sort->name);
    snwBenchRow row = snwMakeBenchRow(name, "contact", "missed_vs_brute");
    row.value = brute.missed + brute.extra + brute.wrong;
    row.n = 1;
    row.target = 0;
    row.op = "==";
    snprintf(row.note, sizeof row.note, "of %d; %d missed, %d too many, %d with a wrong depth or way out",
        brute.expected, brute.missed, brute.extra, brute.wrong);
    Add(rows, &row);
}

static void AddGrowth(Rows* rows, const Case* sort, double small[2], double large[2])
{
    snwBenchRow row = snwMakeBenchRow(sort->name, "contact", "growth_exponent");
    row.value = log(large[0] / small[0]) / log(large[1] / small[1]);
    row.n = 1;
    row.target = 1.15;
    row.op = "<=";
    snprintf(row.note, sizeof row.note, "from %.0f to %.0f vertices", small[1], large[1]);
    Add(rows, &row);
}

static void AddCase(Rows* rows, const Case* sort, const snwBenchOptions* options)
{
    static const char* const sizes[snw_sizeCount] = {"1k", "10k", "100k"};
    double ends[snw_sizeCount][2] = {{0}}; // seconds, vertices
    for (int i = 0; i < snw_sizeCount && rows->result >= 0; ++i)
    {
        Crowd crowd = {0};
        rows->result = OpenCrowd(&crowd, sort, i, rows->message);
        if (rows->result >= 0)
        {
            Measure(&crowd, options->runs);
            AddSize(rows, sort, sizes[i], &crowd);
            ends[i][0] = snwSamples_Median(&crowd.ns) * crowd.vertexCount;
            ends[i][1] = crowd.vertexCount;
            if (i == 0)
                AddMissed(rows, sort, &crowd);
        }
        CloseCrowd(&crowd);
    }
    AddGrowth(rows, sort, ends[0], ends[snw_sizeCount - 1]);
}

snwResult snwAddDetectionRows(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const Case cases[] = {
        {"pile", FillPile, "balls that all touch"}, {"ring", FillRing, "a bar in contact with itself"}};
    Rows rows = {report, message, snw_ok};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        AddCase(&rows, &cases[i], options);
    return rows.result;
}
