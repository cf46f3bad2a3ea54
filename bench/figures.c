#include "bench.h"

#include "scene/file.h"
#include "sinew/tools.h"
#include "base/result.h"
#include "view/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Gathering

snwBenchFigure* snwBenchReport_AddFigure(snwBenchReport* report, const char* name, const char* title)
{
    snwBenchFigure** figures = realloc(report->figures, (size_t)(report->figureCount + 1) * sizeof(snwBenchFigure*));
    if (figures == NULL)
        return NULL;
    report->figures = figures;
    snwBenchFigure* figure = calloc(1, sizeof *figure);
    if (figure == NULL)
        return NULL;
    snprintf(figure->name, sizeof figure->name, "%s", name);
    snprintf(figure->title, sizeof figure->title, "%s", title);
    report->figures[report->figureCount++] = figure;
    return figure;
}

snwBenchFigure* snwBenchReport_FindFigure(const snwBenchReport* report, const char* name)
{
    for (int i = 0; i < report->figureCount; ++i)
        if (strcmp(report->figures[i]->name, name) == 0)
            return report->figures[i];
    return NULL;
}

snwBenchCurve* snwBenchFigure_AddCurve(snwBenchFigure* figure, snwCurveKind kind, const char* label)
{
    if (figure == NULL || figure->curveCount == snw_maxFigureCurves)
        return NULL;
    snwBenchCurve* curve = &figure->curves[figure->curveCount++];
    curve->kind = kind;
    snprintf(curve->label, sizeof curve->label, "%s", label);
    return curve;
}

static void Append(snwBenchCurve* curve, double x, double y)
{
    if (curve->count == curve->capacity)
    {
        int capacity = 2 * curve->capacity + 64;
        double* xs = realloc(curve->x, (size_t)capacity * sizeof *xs);
        curve->x = xs != NULL ? xs : curve->x;
        double* ys = realloc(curve->y, (size_t)capacity * sizeof *ys);
        curve->y = ys != NULL ? ys : curve->y;
        curve->failed = curve->failed || xs == NULL || ys == NULL;
        if (curve->failed)
            return;
        curve->capacity = capacity;
    }
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

void snwBenchCurve_Add(snwBenchCurve* curve, double x, double y)
{
    if (curve == NULL)
        return;
    if (curve->kind == snw_curveOursStems)
    {
        Append(curve, x, 0);
        Append(curve, x, y);
        y = NAN;
    }
    Append(curve, x, y);
}

void snwBenchFigure_Destroy(snwBenchFigure* figure)
{
    for (int i = 0; i < figure->curveCount; ++i)
    {
        free(figure->curves[i].x);
        free(figure->curves[i].y);
    }
    free(figure);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pictures

struct snwBenchPicture
{
    char name[48];
    int width, height;
    unsigned char* pixels;
};

bool snwBenchReport_AddPicture(
    snwBenchReport* report, const char* name, int width, int height, const unsigned char* pixels)
{
    size_t size = (size_t)width * (size_t)height * 3;
    struct snwBenchPicture* pictures = realloc(
        report->pictures, (size_t)(report->pictureCount + 1) * sizeof *report->pictures);
    if (pictures == NULL)
        return false;
    report->pictures = pictures;
    struct snwBenchPicture* picture = &pictures[report->pictureCount];
    *picture = (struct snwBenchPicture){.width = width, .height = height, .pixels = malloc(size)};
    if (picture->pixels == NULL)
        return false;
    memcpy(picture->pixels, pixels, size);
    snprintf(picture->name, sizeof picture->name, "%s", name);
    report->pictureCount++;
    return true;
}

void snwBenchReport_FreePictures(snwBenchReport* report)
{
    for (int i = 0; i < report->pictureCount; ++i)
        free(report->pictures[i].pixels);
    free(report->pictures);
    report->pictures = NULL;
    report->pictureCount = 0;
}

static snwResult WritePicture(const struct snwBenchPicture* picture, const snwBenchOutput* output, snwMessage* message)
{
    char path[snw_maxPath], name[64];
    snwImage image = {.width = picture->width, .height = picture->height, .pixels = picture->pixels};
    snprintf(name, sizeof name, "%s.png", picture->name);
    if (!snwJoinPath(path, sizeof path, output->folder, name))
        return snwFail(message, snw_errorArgument, NULL, "the path of '%s' is too long", name);
    return snwImage_WritePng(output->context, &image, path, 9, output->overwrite, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static bool IsOurs(const snwBenchCurve* curve)
{
    return curve->kind == snw_curveOurs || curve->kind == snw_curveOursStems;
}

static bool HasPoint(const snwBenchFigure* figure)
{
    for (int c = 0; c < figure->curveCount; ++c)
        for (int i = 0; i < figure->curves[c].count && IsOurs(&figure->curves[c]); ++i)
            if (isfinite(figure->curves[c].x[i]) && isfinite(figure->curves[c].y[i]))
                return true;
    return false;
}

// NULL: it failed.
static FILE* OpenFile(const snwBenchOutput* output, const char* name, snwMessage* message)
{
    char path[snw_maxPath];
    FILE* file = NULL;
    if (!snwJoinPath(path, sizeof path, output->folder, name))
        snwFail(message, snw_errorArgument, NULL, "the path of '%s' is too long", name);
    else if ((file = fopen(path, output->overwrite ? "w" : "wx")) == NULL)
        snwFail(message, snw_errorIo, "--force replaces files that exist", "cannot write '%s'", path);
    return file;
}

static snwResult CloseFile(FILE* file, const char* name, snwMessage* message)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return snwFail(message, snw_errorIo, NULL, "cannot write '%s'", name);
    return snw_ok;
}

// Points as they are, no logarithms: a line of each, with the curve's label in front.
static snwResult WritePoints(const snwBenchFigure* figure, const snwBenchOutput* output, snwMessage* message)
{
    char name[96];
    snprintf(name, sizeof name, "%s.csv", figure->name);
    FILE* file = OpenFile(output, name, message);
    if (file == NULL)
        return snw_errorIo;
    fprintf(file, "curve,x,y\n");
    for (int i = 0; i < figure->curveCount; ++i)
        for (int k = 0; k < figure->curves[i].count; ++k)
            if (isfinite(figure->curves[i].x[k]) && isfinite(figure->curves[i].y[k]))
                fprintf(file, "\"%s\",%.9g,%.9g\n", figure->curves[i].label, figure->curves[i].x[k],
                    figure->curves[i].y[k]);
    return CloseFile(file, name, message);
}

static void TakeLogarithms(double* values, int count)
{
    for (int i = 0; i < count; ++i)
        values[i] = values[i] > 0 ? log10(values[i]) : NAN;
}

static snwResult WriteFigure(snwBenchFigure* figure, const snwBenchOutput* output, snwMessage* message)
{
    snwPlotCurve ours[snw_maxFigureCurves];
    snwPlotReference others[snw_maxFigureCurves];
    snwPlotDef def = snwDefaultPlotDef();
    char stem[snw_maxPath];
    for (int i = 0; i < figure->curveCount; ++i)
        if (figure->curves[i].failed)
            return snwFailMemory(message);
    snwResult result = WritePoints(figure, output, message);
    if (result < 0)
        return result;
    for (int i = 0; i < figure->curveCount; ++i)
    {
        const snwBenchCurve* c = &figure->curves[i];
        if (figure->logX)
            TakeLogarithms(c->x, c->count);
        if (figure->logY)
            TakeLogarithms(c->y, c->count);
        if (IsOurs(c))
            ours[def.curveCount++] = (snwPlotCurve){c->label, c->x, c->y, c->count};
        else
            others[def.referenceCount++] = (snwPlotReference){
                c->label, c->x, c->y, c->count, c->kind == snw_curveReferenceDots};
    }
    if (!snwJoinPath(stem, sizeof stem, output->folder, figure->name))
        return snwFail(message, snw_errorArgument, NULL, "the path of '%s' is too long", figure->name);
    def.title = figure->title;
    def.xLabel = figure->xLabel;
    def.yLabel = figure->yLabel;
    def.curves = ours;
    def.references = others;
    def.overwrite = output->overwrite;
    return snwPlot_Write(output->context, &def, stem, message);
}

static snwResult WriteRows(const snwBenchReport* report, const snwBenchOutput* output, snwMessage* message)
{
    FILE* file = OpenFile(output, "rows.json", message);
    if (file == NULL)
        return snw_errorIo;
    snwResult written = snwBenchReport_WriteJson(report, file), closed = CloseFile(file, "rows.json", message);
    return written < 0 ? snwFail(message, snw_errorIo, NULL, "cannot write 'rows.json'") : closed;
}

snwResult snwBenchReport_WriteFiles(snwBenchReport* report, const snwBenchOutput* output, snwMessage* message)
{
    snwResult result = WriteRows(report, output, message);
    for (int i = 0; i < report->figureCount && result >= 0; ++i)
        if (HasPoint(report->figures[i]))
            result = WriteFigure(report->figures[i], output, message);
    for (int i = 0; i < report->pictureCount && result >= 0; ++i)
        result = WritePicture(&report->pictures[i], output, message);
    return result;
}
