// Curves of a run: energies, residuals, deviations, the centre of mass, the centre of pressure and times of stages,
// gathered frame by frame and drawn at the end.

#include "app/plots.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    snw_maxRows = 4000000,
    snw_mostCurves = snw_maxPlotStages + 1
};

typedef struct Curve
{
    const char* label;
    size_t offset; // in snwPlotRow
} Curve;

static const struct
{
    const char* name;
    const char* title;
    const char* yLabel;
    Curve curves[4]; // the stages are a method's own
} s_kinds[snw_plotKindCount] = {
    [snw_plotEnergy] = {"energy", "Energy", "energy (J)",
        {{"kinetic", offsetof(snwPlotRow, energies[0])}, {"elastic", offsetof(snwPlotRow, energies[1])},
            {"potential", offsetof(snwPlotRow, energies[2])}, {"sum", offsetof(snwPlotRow, energies[3])}}},
    [snw_plotTimings] = {"timings", "Time per step", "time (ms)", {{"step", offsetof(snwPlotRow, stepMs)}}},
    [snw_plotResidual] = {"residual", "Residuals", "log10, of the body's size",
        {{"last iteration", offsetof(snwPlotRow, residuals[0])}, {"gap of a joint", offsetof(snwPlotRow, residuals[1])},
            {"rigidity of a bone", offsetof(snwPlotRow, residuals[2])},
            {"fit of the rig", offsetof(snwPlotRow, residuals[3])}}},
    [snw_plotDeviation] = {"deviation", "Largest deviation from rest", "relative to rest",
        {{"length of an edge", offsetof(snwPlotRow, deviations[0])},
            {"volume of an element", offsetof(snwPlotRow, deviations[1])}}},
    [snw_plotCentre] = {"centre", "Centre of mass", "position (m)",
        {{"x", offsetof(snwPlotRow, centre[0])}, {"y", offsetof(snwPlotRow, centre[1])},
            {"z", offsetof(snwPlotRow, centre[2])}}},
    [snw_plotPressure] = {"pressure", "Centre of pressure", "position (m)",
        {{"x", offsetof(snwPlotRow, pressure[0])}, {"z", offsetof(snwPlotRow, pressure[1])}}},
};

const char* snwPlotKind_Name(snwPlotKind kind)
{
    return s_kinds[kind].name;
}

// ---------------------------------------------------------------------------------------------------------------------
// During the run

// Where the ground would have to push at one point only: the mean of the contacts, weighted by what they carry.
static void MeasurePressure(const snwSim* sim, double pressure[2])
{
    snwContacts contacts;
    double sum = 0, x = 0, z = 0;
    if (snwSim_GetContacts(sim, &contacts) < 0)
        contacts.count = 0;
    for (int i = 0; i < contacts.count; ++i)
    {
        const snwContact* contact = (const snwContact*)((const char*)contacts.data +
                                                        (size_t)i * (size_t)contacts.stride);
        double weight = fmax((double)contact->force[1], 0);
        sum += weight;
        x += weight * (double)contact->position[0];
        z += weight * (double)contact->position[2];
    }
    pressure[0] = sum > 0 ? x / sum : NAN;
    pressure[1] = sum > 0 ? z / sum : NAN;
}

static void AddPlotStages(snwPlots* plots, const snwRunFrame* frame, snwPlotRow* row)
{
    snwTimings timings;
    if (snwSim_GetTimings(frame->sim, &timings) < 0)
        return;
    plots->stageCount = timings.count < snw_maxPlotStages ? timings.count : snw_maxPlotStages;
    row->stepMs = frame->frame > 0 ? frame->stepMs : NAN;
    for (int i = 0; i < plots->stageCount; ++i)
    {
        plots->stages[i] = timings.data[i].stage;
        row->stages[i] = frame->frame > 0 ? timings.data[i].ms : NAN;
    }
}

static void LeaveOutRow(snwPlotRow* row)
{
    row->pressure[0] = row->pressure[1] = row->stepMs = NAN;
    for (int i = 0; i < snw_maxPlotStages; ++i)
        row->stages[i] = NAN;
}

static double Log10(double value)
{
    return value > 0 ? log10(value) : NAN;
}

snwResult snwPlots_AddFrame(snwPlots* plots, const snwRunFrame* frame, snwMessage* message)
{
    const snwMeasures* measures = frame->measures;
    if (plots->rows.count >= snw_maxRows)
        return snw_ok; // the beginning of hours is plotted; the measures have all of it
    snwPlotRow row = {
        .time = measures->time,
        .energies = {measures->kinetic, measures->elastic, measures->potential, measures->energy},
        .residuals = {Log10(measures->residual), Log10(measures->jointGap), Log10(measures->rigidity),
            Log10(measures->fit)},
        .deviations = {measures->maxStretch, 1 - measures->minVolumeRatio},
        .centre = {measures->centre.x, measures->centre.y, measures->centre.z},
    };

    // Whether any residual was told: a method without iterations has none.
    for (int i = 0; i < 4; ++i)
        plots->undone = plots->undone || isfinite(row.residuals[i]);

    if (frame->sim != NULL)
    {
        MeasurePressure(frame->sim, row.pressure);
        plots->pressed = plots->pressed || isfinite(row.pressure[0]);
        AddPlotStages(plots, frame, &row);
    }
    else // found in a cache, where neither is kept
        LeaveOutRow(&row);

    return snwArray_Push(plots->context, &plots->rows, row) ? snw_ok : snwFailMemory(message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Afterwards

bool snwPlots_Has(const snwPlots* plots, snwPlotKind kind)
{
    int least = kind == snw_plotTimings ? 2 : 1; // frame 0 took no time
    return plots->rows.count >= least && (kind != snw_plotPressure || plots->pressed) &&
           (kind != snw_plotResidual || plots->undone);
}

static int ListCurves(const snwPlots* plots, snwPlotKind kind, Curve curves[snw_mostCurves])
{
    int count = 0;
    for (int i = 0; i < 4 && s_kinds[kind].curves[i].label != NULL; ++i)
        curves[count++] = s_kinds[kind].curves[i];
    for (int i = 0; kind == snw_plotTimings && i < plots->stageCount; ++i)
        curves[count++] = (Curve){plots->stages[i], offsetof(snwPlotRow, stages) + (size_t)i * sizeof(double)};
    return count;
}

static void CopyColumn(const snwPlots* plots, size_t offset, double* column)
{
    for (int i = 0; i < plots->rows.count; ++i)
        column[i] = *(const double*)((const char*)&plots->rows.data[i] + offset);
}

snwResult snwPlots_Write(
    const snwPlots* plots, snwPlotKind kind, const char* name, const char* stem, bool overwrite, snwMessage* message)
{
    Curve list[snw_mostCurves];
    snwPlotCurve curves[snw_mostCurves];
    int count = ListCurves(plots, kind, list), rows = plots->rows.count;
    double* columns = snwAllocArray(plots->context, (size_t)(count + 1) * (size_t)rows + 1, sizeof *columns);
    if (columns == NULL)
        return snwFailMemory(message);

    // Time, then a column per curve.
    CopyColumn(plots, offsetof(snwPlotRow, time), columns);

    for (int i = 0; i < count; ++i)
    {
        double* column = columns + (size_t)(i + 1) * (size_t)rows;
        CopyColumn(plots, list[i].offset, column);
        curves[i] = (snwPlotCurve){list[i].label, columns, column, rows};
    }

    char title[256];
    snprintf(title, sizeof title, "%s of %s", s_kinds[kind].title, name);

    snwPlotDef def = snwDefaultPlotDef();
    def.title = title;
    def.xLabel = "time (s)";
    def.yLabel = s_kinds[kind].yLabel;
    def.curves = curves;
    def.curveCount = count;
    def.overwrite = overwrite;
    snwResult result = snwPlot_Write(plots->context, &def, stem, message);
    snwFree(plots->context, columns);

    return result;
}

void snwPlots_Free(snwPlots* plots)
{
    if (plots->context != NULL)
        snwArray_Free(plots->context, &plots->rows);
    *plots = (snwPlots){0};
}
