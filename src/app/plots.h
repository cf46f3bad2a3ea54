// What happened in a run, as plots: energies, times of the stages, residuals, deviation from rest, centre of mass,
// centre of pressure.

#pragma once

#include "app/common.h"
#include "base/array.h"

typedef enum snwPlotKind
{
    snw_plotEnergy,
    snw_plotTimings,
    snw_plotResidual,  // what the solver left undone; only of runs in which it left something
    snw_plotDeviation, // how far the flesh is from its rest
    snw_plotCentre,
    snw_plotPressure, // only of runs in which something stands on something
    snw_plotKindCount,
} snwPlotKind;

enum
{
    snw_maxPlotStages = 11 // and the whole step: what one plot can hold
};

// One frame.
typedef struct snwPlotRow
{
    double time;
    double energies[4];   // J: kinetic, elastic, potential, sum
    double residuals[4];  // log10 of residual, joint gap, rigidity and fit; NaN where there is none
    double deviations[2]; // largest change of an edge and largest loss of volume of an element, relative to rest
    double centre[3];     // m
    double pressure[2];   // m, x and z of the centre of pressure; NaN without contact
    double stepMs;        // NaN in frame 0
    double stages[snw_maxPlotStages];
} snwPlotRow;

typedef struct snwPlots
{
    snwContext* context;
    snwArray(snwPlotRow) rows;
    const char* stages[snw_maxPlotStages];
    int stageCount;
    bool pressed; // there is a centre of pressure in some frame
    bool undone;  // there is a residual in some frame
} snwPlots;

const char* snwPlotKind_Name(snwPlotKind kind); // "energy": of the files, without ending

snwResult snwPlots_AddFrame(snwPlots* plots, const snwRunFrame* frame, snwMessage* message);
bool snwPlots_Has(const snwPlots* plots, snwPlotKind kind);
// name: what was run, for the title. Writes stem.svg and stem.png.
snwResult snwPlots_Write(
    const snwPlots* plots, snwPlotKind kind, const char* name, const char* stem, bool overwrite, snwMessage* message);
void snwPlots_Free(snwPlots* plots);
