// The same contact problems solved by us and by Siconos: how far apart the answers are, and how long each takes.

#include "softcontact_bench.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "peer_siconos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_solveTurns = 3,
    snw_mostKept = 200
};

typedef struct Kind
{
    const char* name;
    int contacts, kept;
    bool rigid;
} Kind;

// Impulses of hard points are unique by their compliance alone.
static const Kind s_kinds[] = {{"soft 20", 20, 200, false}, {"soft 40", 40, 60, false}, {"rigid 20", 20, 100, true}};

static void AddSolver(
    snwBenchRows* rows, const Kind* kind, const char* solver, const snwSiconosAnswers* answers, int count, double ours)
{
    bool newton = strcmp(solver, "NSN_AC") == 0;
    double ms[snw_mostKept], apart[snw_mostKept];
    int solved = 0;
    for (int i = 0; i < count; ++i)
    {
        const snwSiconosAnswer* answer = newton ? &answers[i].newton : &answers[i].sweeps;
        ms[i] = answer->ms;
        if (answer->solved)
            apart[solved++] = answer->difference;
    }
    char name[48];
    snprintf(name, sizeof name, "%s, %s", kind->name, solver);
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", "lcp_ms");
    row.value = ours, row.peer = snwMedian(ms, count), row.n = count;
    snprintf(row.peerName, sizeof row.peerName, "Siconos %s", solver);
    snprintf(row.note, sizeof row.note, "solving alone, from the impulses of the step before");
    snwBenchRows_Add(rows, &row);
    snwBenchRows_AddValue(rows, name, "softcontact", "siconos_solved", (double)solved / count);
    double median = snwMedian(apart, solved);
    row = snwMakeBenchRow(name, "softcontact", "siconos_diff");
    row.value = median, row.n = solved;
    snprintf(row.note, sizeof row.note, solved > 0 ? "median; the worst is %.1e" : "it solved none",
        solved > 0 ? apart[solved - 1] : 0);
    if (!kind->rigid)
        snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snwBenchRows_Add(rows, &row);
}

static void AddKind(snwBenchRows* rows, snwContext* context, const Kind* kind)
{
    const char* why = NULL;
    snwKeptProblems kept;
    snwSiconosAnswers answers[snw_mostKept];
    snwShakeDef def = snwShake_DefaultDef(kind->contacts);
    def.rigid = kind->rigid;
    snwKeptProblems_Init(&kept, kind->kept, kind->contacts);
    rows->result = snwKeptProblems_Fill(&kept, context, &def, rows->message);
    double ms[snw_mostKept];
    for (int i = 0; i < kept.count; ++i)
        for (int turn = 0; turn < snw_solveTurns; ++turn)
        {
            double began = snwClock_ThreadSeconds();
            snwKeptProblems_Solve(&kept, i, snw_coulombWarm, 0);
            double now = 1e3 * (snwClock_ThreadSeconds() - began);
            ms[i] = turn == 0 ? now : fmin(ms[i], now);
        }
    double ours = snwMedian(ms, kept.count);
    if (rows->result == snw_ok && snwSolveBySiconos(&kept, answers, &why))
    {
        AddSolver(rows, kind, "NSN_AC", answers, kept.count, ours);
        AddSolver(rows, kind, "NSGS", answers, kept.count, ours);
    }
    else if (rows->result == snw_ok)
    {
        snwBenchRow row = snwMakeBenchRow(kind->name, "softcontact", "siconos_diff");
        snprintf(row.note, sizeof row.note, "%s", why);
        snwBenchRows_Add(rows, &row);
    }
    snwKeptProblems_Free(&kept);
}

void snwAddSoftSiconos(snwBenchRows* rows)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    contextDef.threadCount = 1;
    rows->result = snwCreateContext(&contextDef, &context, rows->message);
    for (size_t i = 0; i < sizeof s_kinds / sizeof *s_kinds && rows->result == snw_ok; ++i)
        if (snwBenchRows_Wants(rows, s_kinds[i].name, "softcontact"))
            AddKind(rows, context, &s_kinds[i]);
    snwDestroyContext(context);
}
