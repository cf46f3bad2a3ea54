// What a bake did, as JSON for programs and in lines for people: clip, times, stretch, lag, drift, files, checks,
// warnings.

#include "app/bake_report.h"

#include "app/common.h"
#include "app/console.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    snw_driftsShown = 3,
    snw_lagsShown = 4,
};

static json_t* Lines(const char lines[][224], int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i)
        json_array_append_new(list, json_string(lines[i]));
    return list;
}

static json_t* DriftJson(const snwBakeReport* report)
{
    json_t* list = json_array();
    for (int i = 0; i < report->driftCount; ++i)
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o}", "bone", report->drifts[i].bone, "mean",
                      snwJsonReal(report->drifts[i].mean), "most", snwJsonReal(report->drifts[i].most), "skeleton",
                      snwJsonReal(report->drifts[i].skeleton)));
    return list;
}

static json_t* LagsJson(const snwBakeReport* report)
{
    json_t* list = json_array();
    for (int i = 0; i < report->lagCount; ++i)
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:i, s:s}", "mesh", report->lags[i].mesh, "most",
                      snwJsonReal(report->lags[i].most), "frame", report->lags[i].frame, "bone", report->lags[i].bone));
    return list;
}

static json_t* FilesJson(const snwBakeOutputReport* written)
{
    json_t* list = json_array();
    for (int i = 0; written != NULL && i < written->fileCount; ++i)
        json_array_append_new(list,
            json_pack("{s:s, s:o}", "path", written->files[i], "bytes", json_integer((json_int_t)written->bytes[i])));
    return list;
}

static json_t* LoopJson(const snwBakeReport* report)
{
    return json_pack("{s:i, s:i, s:o, s:o}", "cycles", report->cycles, "fade_frames", report->fadeFrames,
        "seam_position", snwJsonReal(report->seamPosition), "seam_velocity", snwJsonReal(report->seamVelocity));
}

static json_t* AgainstJson(const snwBakeReport* report)
{
    const snwAgainst* against = &report->against;
    const snwAgainstPlace* folded = &against->foldedPlace;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:s, s:i, s:i, s:s, s:i, s:i, s:s, s:i}", "size",
        snwJsonReal(report->unit * against->size), "unit", snwJsonReal(report->unit), "mean",
        snwJsonReal(against->mean), "most", snwJsonReal(against->most), "missed", snwJsonReal(against->missed), "bare",
        snwJsonReal(against->bare), "held", against->held < 0 ? json_null() : snwJsonReal(against->held), "torn",
        against->torn, "mesh", against->mostPlace.mesh, "bone", against->mostPlace.bone, "frame",
        against->mostPlace.frame, "folded", against->folded, "folded_bone", folded->bone, "folded_frame", folded->frame,
        "source_folded", against->sourceFolded, "source_folded_bone", against->sourceFoldedPlace.bone,
        "source_folded_frame", against->sourceFoldedPlace.frame);
}

static void AddOutput(json_t* root, const snwBakeOutputReport* written)
{
    json_object_set_new(root, "files", FilesJson(written));
    if (written == NULL)
        return;
    json_object_set_new(root, "targets", json_integer(written->targets));
    json_object_set_new(root, "tolerance", snwJsonReal(written->tolerance));
    json_object_set_new(root, "source_bytes", json_integer((json_int_t)written->sourceBytes));
    json_object_set_new(root, "error_most", snwJsonReal(written->maxError));
    json_object_set_new(root, "error_rms", snwJsonReal(written->rmsError));
}

json_t* snwBakeReport_ToJson(const snwBake* bake, const snwBakeOutputReport* written)
{
    const snwBakeReport* r = snwBake_GetReport(bake);
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(snwBake_GetPrepared(bake)));
    char hash[20];

    snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);

    // What was baked and how.
    json_t* root = json_pack("{s:i, s:s, s:i, s:i, s:o, s:o, s:o, s:o}", "schema", 1, "clip", r->clip, "frames",
        r->frames, "frames_found", r->cachedFrames, "fps", snwJsonReal(r->rate), "start", snwJsonReal(r->start), "end",
        snwJsonReal(r->end), "preroll", snwJsonReal(r->preroll));
    json_object_set_new(root, "method", json_string(snwBake_GetSettings(bake)->method));
    json_object_set_new(root, "settings", json_deep_copy(snwBake_GetSettings(bake)->document));
    json_object_set_new(root, "vertices", json_integer(info.vertexCount));
    json_object_set_new(root, "tets", json_integer(info.tetCount));
    json_object_set_new(root, "bones", json_integer(info.boneCount));

    // How it went.
    json_object_set_new(root, "size", snwJsonReal(r->size));
    json_object_set_new(root, "hash", json_string(hash));
    json_object_set_new(root, "seconds", snwJsonReal(r->seconds));
    json_object_set_new(root, "prepare_seconds", snwJsonReal(r->prepareSeconds));
    json_object_set_new(root, "step_ms", snwJsonReal(r->stepMs));

    // What moved, and how far.
    json_object_set_new(root, "stretch",
        json_pack("{s:o, s:i, s:s, s:o}", "worst", snwJsonReal(r->stretch), "frame", r->stretchFrame, "bone",
            r->stretchBone, "artist", snwJsonReal(r->artistStretch)));
    json_object_set_new(root, "lag",
        json_pack("{s:o, s:i, s:s}", "most", snwJsonReal(r->lag), "frame", r->lagFrame, "bone", r->lagBone));
    json_object_set_new(root, "surfaces", LagsJson(r));
    json_object_set_new(root, "drift", DriftJson(r));
    json_object_set_new(root, "loop", r->cycles > 0 ? LoopJson(r) : json_null());
    json_object_set_new(root, "cuts", json_integer(r->cuts));
    json_object_set_new(root, "inverted", snwJsonReal(r->inverted));
    json_object_set_new(root, "inverted_artist", snwJsonReal(r->artistInverted));
    json_object_set_new(root, "settled", snwJsonReal(r->settled));

    // What was written, and what reading it again showed.
    AddOutput(root, written);
    json_object_set_new(root, "limited", snwJsonReal(r->limited));
    json_object_set_new(root, "ride",
        json_pack("{s:o, s:s, s:i}", "most", snwJsonReal(r->ride), "mesh", r->rideMesh, "frame", r->rideFrame));
    json_object_set_new(root, "against", r->checked ? AgainstJson(r) : json_null());
    json_object_set_new(root, "notes", Lines(r->notes, r->noteCount));
    json_object_set_new(root, "warnings", Lines(r->warnings, r->warningCount));

    return root;
}

// ---------------------------------------------------------------------------------------------------------------------
// For people

// A length in the unit in which one would say it.
static const char* LengthText(double metres, char text[32])
{
    if (metres < 0.01)
        snprintf(text, 32, "%.2g mm", 1e3 * metres);
    else if (metres < 1)
        snprintf(text, 32, "%.3g cm", 1e2 * metres);
    else
        snprintf(text, 32, "%.3g m", metres);
    return text;
}

// The bone of the largest drift that is left; -1: none.
static int NextDrift(const snwBakeReport* r, const bool* taken)
{
    int worst = -1;
    for (int i = 0; i < r->driftCount; ++i)
        if (!taken[i] && (worst < 0 || r->drifts[i].most > r->drifts[worst].most))
            worst = i;
    return worst;
}

static void PrintDrift(const snwBakeReport* r)
{
    bool* taken = calloc((size_t)r->driftCount + 1, sizeof *taken);
    for (int k = 0; k < snw_driftsShown && k < r->driftCount && taken != NULL; ++k)
    {
        char mean[32], most[32];
        int worst = NextDrift(r, taken);
        taken[worst] = true;
        printf("%-10s %s: %s on average, %s at most\n", k == 0 ? "moves" : "", r->drifts[worst].bone,
            LengthText(r->drifts[worst].mean, mean), LengthText(r->drifts[worst].most, most));
    }
    if (r->driftCount > snw_driftsShown)
        printf("%-10s the flesh of %d more bones moves less\n", "", r->driftCount - snw_driftsShown);
    free(taken);
}

// Whose flesh goes how far.
static void PrintLags(const snwBakeReport* r)
{
    int moving = 0;
    for (int i = 0; i < r->lagCount; ++i)
        moving += r->lags[i].most > 0;
    if (moving == 0)
        printf("%-10s nowhere else than the artist's\n", "flesh");
    for (int i = 0; i < moving && i < snw_lagsShown; ++i)
    {
        const snwBakeLag* lag = &r->lags[i];
        char most[32];
        printf("%-10s '%s': up to %s from the artist's, frame %d%s%s\n", i == 0 ? "flesh" : "", lag->mesh,
            LengthText(lag->most, most), lag->frame, lag->bone[0] != 0 ? ", " : "", lag->bone);
    }
    if (moving > snw_lagsShown)
        printf("%-10s %d more surfaces move less\n", "", moving - snw_lagsShown);
    if (moving > 0 && r->lagCount > moving)
        printf("%-10s %d surfaces have none\n", "", r->lagCount - moving);
}

// What to turn, by what moves most.
static void PrintKnobs(const snwBakeReport* r)
{
    printf("%-10s --softness 2 lets flesh swing nearly twice as far, and slower; 0.5 firms it up%s\n", "turn",
        r->limited > 0.05 ? "; --falloff 0 lets it go beyond its reach" : "");
    if (r->lagBone[0] != 0)
        printf(
            "%-10s --material '%s:muscle' firms up what moves most, '%s:fat' loosens it\n", "", r->lagBone, r->lagBone);
}

static void PrintFiles(const snwBakeOutputReport* written)
{
    char most[32];
    for (int i = 0; written != NULL && i < written->fileCount; ++i)
        printf("%-10s %s, %.2f MB\n", i == 0 ? "written" : "", written->files[i], written->bytes[i] / 1e6);
    if (written != NULL && written->filesLost > 0)
        printf("%-10s and %d more files\n", "", written->filesLost);
    if (written != NULL && written->targets > 0)
        printf("%-10s %d, off by %s at most\n", "targets", written->targets, LengthText(written->maxError, most));
    for (int i = 0; written != NULL && i < written->noteCount; ++i)
        snwNote("note       %s", written->notes[i]);
}

static void PrintFolds(const snwAgainst* against)
{
    const snwAgainstPlace *own = &against->sourceFoldedPlace, *place = &against->foldedPlace;
    if (against->folded > 0)
        printf("%-10s '%s' doubles back at %d edges, frame %d%s%s: a lower --softness there\n", "folds", place->mesh,
            against->folded, place->frame, place->bone[0] != 0 ? ", " : "", place->bone);
    if (against->sourceFolded > 0)
        printf("%-10s the artist's '%s' doubles back at %d edges, frame %d%s%s: look at its %s there\n", "folds",
            own->mesh, against->sourceFolded, own->frame, own->bone[0] != 0 ? ", " : "", own->bone,
            own->bone[0] != 0 ? "weights" : "shape");
}

void snwBakeReport_Print(const snwBake* bake, const snwBakeOutputReport* written)
{
    const snwBakeReport* r = snwBake_GetReport(bake);

    // Notes, then a line for each thing that one may want to know.
    for (int i = 0; i < r->noteCount; ++i)
        snwNote("note       %s", r->notes[i]);
    printf("%-10s %s, %.4g to %.4g s: %d frames, %.4g per second\n", "clip", r->clip, r->start, r->end, r->frames,
        r->rate);
    if (r->cycles > 0)
        printf("%-10s repeats after %d cycles; across the seam %.2g of a usual frame's change, %.2g of its turn\n",
            "loop", r->cycles, r->seamPosition, r->seamVelocity);
    printf("%-10s %.2f s to prepare, %.2f s to simulate, %.2f ms per frame\n", "time", r->prepareSeconds, r->seconds,
        r->stepMs);
    PrintLags(r);
    printf("%-10s %.0f %% at worst, frame %d, %s (the artist's own motion: %.0f %%)\n", "stretch", 100 * r->stretch,
        r->stretchFrame, r->stretchBone[0] != 0 ? r->stretchBone : "no bone", 100 * r->artistStretch);
    PrintDrift(r);
    PrintKnobs(r);
    PrintFiles(written);
    if (r->checked)
        printf(
            "%-10s read again: %.2g %% of the size off without flesh, %.2g %% with flesh that is held, no edge torn\n",
            "check", 100 * r->against.bare, 100 * fmax(r->against.held, 0));

    PrintFolds(&r->against);
    fflush(stdout);

    // Warnings last, where they are seen; they go to stderr, so stdout comes first.
    for (int i = 0; i < r->warningCount; ++i)
        snwReport(snw_warning, NULL, "%s", r->warnings[i]);
}
