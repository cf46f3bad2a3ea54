// Tets for a surface, by our lattice or by TetGen: whichever was asked for, or whichever serves the surface better,
// with a reason in words.

#include "asset/mesher.h"

#include "asset/helper.h"
#include "asset/mesher_parts.h"

#include <stdio.h>
#include <string.h>

#define SNW_PICK_DIHEDRAL                                                                                              \
    2.0 // degrees: with sharper angles TetGen's mesh is no better to simulate than a thickened one

#define SNW_COARSE_VOLUME 0.3 // share of the volume by which a coarse body may be off

const char* const snw_mesherWords[] = {"auto", "lattice", "tetgen", NULL};

snwMesherDef snwDefaultMesherDef(void)
{
    return (snwMesherDef){.mesher = snw_mesherAuto, .seconds = 60, .megabytes = 2048};
}

const char* snwMesher_Name(snwMesher mesher)
{
    return snw_mesherWords[mesher];
}

bool snwMesher_Find(const char* name, snwMesher* mesher)
{
    for (int i = 0; i < snw_mesherCount; ++i)
        if (strcmp(snw_mesherWords[i], name) == 0)
        {
            *mesher = (snwMesher)i;
            return true;
        }
    return false;
}

bool snwMesher_HasTetgen(void)
{
    return snwHelper_Exists("sinew-tetgen", "SINEW_TETGEN");
}

snwResult snwMesherInput_Make(const snwMesherDef* def, snwArena* arena, snwMesherInput* input, snwMessage* message)
{
    snwMendDef mend = {def->faces, def->weldTolerance};
    snwResult result = snwMendSurface(arena, &mend, &input->flesh, message);
    input->bones = snwArena_Alloc(arena, (size_t)def->innerCount + 1, sizeof *input->bones);
    if (result >= 0 && input->bones == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < def->innerCount && result >= 0; ++i)
    {
        mend.faces = def->inner[i];
        result = snwMendSurface(arena, &mend, &input->bones[i], message);
        if (result < 0)
            snwMessage_AddPlace(message, "inner[%d]", i);
    }
    return result;
}

static snwResult MakeByTetgen(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message)
{
    snwArena work = {.context = context};
    snwMesherInput input;
    snwResult result = snwMesherInput_Make(def, &work, &input, message);
    result = result < 0 ? result : snwMesherInput_CheckForTetgen(def, &input, &work, message);
    result = result < 0 ? result : snwTetgen_Make(context, def, &input, arena, meshed, message);
    snwArena_Free(&work);
    meshed->mesher = snw_mesherTetgen;
    return result;
}

static snwResult MakeByLattice(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message)
{
    snwFillDef fill = snwDefaultFillDef();
    fill.faces = def->faces;
    fill.inner = def->inner, fill.innerCount = def->innerCount;
    fill.weldTolerance = def->weldTolerance;
    fill.tets = def->tets, fill.vertices = def->vertices, fill.spacing = def->spacing;
    if (def->coarse)
        fill.finest = 1, fill.volumeError = SNW_COARSE_VOLUME;
    snwFilling filling;
    snwResult result = snwFillSurface(context, &fill, arena, &filling, message);
    meshed->mesh = filling.mesh;
    meshed->regions = filling.regions;
    meshed->report = filling.report;
    meshed->mesher = snw_mesherLattice;
    return result;
}

// Is there something about the lattice's mesh that TetGen may do better?
static bool IsStrained(const snwMesherDef* def, const snwMeshed* meshed, char why[160])
{
    const snwFillReport* report = &meshed->report;
    double ratio = def->tets > 0       ? (double)meshed->mesh.tetCount / def->tets
                   : def->vertices > 0 ? (double)meshed->mesh.vertexCount / def->vertices
                                       : 1;
    if (report->thickTriangles > 0)
        snprintf(why, 160, "the lattice would thicken %d triangles of thin parts", report->thickTriangles);
    else if (ratio > 2)
        snprintf(why, 160, "the lattice would need %.1f times the wanted count", ratio);
    else if (report->lostArea > 1e-3 || report->quality.minDihedral < 8 || report->volumeError > 0.02)
        snprintf(why, 160, "the lattice does not hold the shape");
    else
        return false;
    return true;
}

static snwResult TryTetgen(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message)
{
    *meshed = (snwMeshed){0};
    if (!snwMesher_HasTetgen())
        return snwFail(message, snw_errorUnsupported, NULL, "sinew-tetgen is not here");
    return MakeByTetgen(context, def, arena, meshed, message);
}

// TetGen for a lattice that is strained; the lattice's mesh stays if that is no better.
static snwResult Replace(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message)
{
    snwMessage refusal = {0};
    snwMeshed other;
    snwResult result = TryTetgen(context, def, arena, &other, &refusal);
    if (result == snw_errorMemory)
        return snwFailMemory(message);
    if (result < 0 || other.report.quality.minDihedral < SNW_PICK_DIHEDRAL)
    {
        snprintf(
            meshed->why, sizeof meshed->why, "%.150s", result < 0 ? refusal.text : "TetGen's angles are too sharp");
        return snw_warning;
    }
    memcpy(other.why, meshed->why, sizeof other.why);
    *meshed = other;
    return snw_ok;
}

// See snwMakeTets in the header.
static snwResult MakeByEither(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message)
{
    // A mesh that must keep the surface's own triangles can only come from TetGen.
    char why[sizeof meshed->why] = "the lattice holds the shape";
    if (def->conform)
    {
        snwMessage refusal = {0};
        snwResult result = TryTetgen(context, def, arena, meshed, &refusal);
        snprintf(meshed->why, sizeof meshed->why, "the surface is closed and crosses nothing");
        if (result >= 0)
            return result;
        if (result == snw_errorMemory)
            return snwFailMemory(message);
        snprintf(why, sizeof why, "%.150s", refusal.text);
        *meshed = (snwMeshed){0};
    }

    // Else the lattice, and TetGen where the lattice is strained.
    snwResult result = MakeByLattice(context, def, arena, meshed, message);
    bool strained = result >= 0 && !def->conform && !def->coarse && IsStrained(def, meshed, why);
    memcpy(meshed->why, why, sizeof why);
    if (!strained)
        return result;
    snwResult replaced = Replace(context, def, arena, meshed, message);
    if (replaced == snw_ok)
        snwMessage_Clear(message); // the lattice's warning

    return replaced > 0 ? result : replaced;
}

static snwResult CheckMesherDef(const snwMesherDef* def, snwMessage* message)
{
    if ((int)def->mesher < 0 || def->mesher >= snw_mesherCount)
        return snwFail(message, snw_errorArgument, "use auto, lattice or tetgen", "there is no such mesher");
    if (!(def->seconds >= 1 && def->seconds <= 86400) || def->megabytes < 16 || def->megabytes > 1 << 20)
        return snwFail(message, snw_errorArgument, "start from snwDefaultMesherDef()",
            "limits must be 1..86400 s and 16..1048576 megabytes");
    return snw_ok;
}

snwResult snwMakeTets(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message)
{
    *meshed = (snwMeshed){0};
    snwResult result = CheckMesherDef(def, message);
    if (result < 0)
        return result;
    if (def->mesher == snw_mesherTetgen)
        result = MakeByTetgen(context, def, arena, meshed, message);
    else if (def->mesher == snw_mesherLattice)
        result = MakeByLattice(context, def, arena, meshed, message);
    else
        result = MakeByEither(context, def, arena, meshed, message);
    if (result < 0)
        *meshed = (snwMeshed){0};
    return result;
}
