#include "app/asset_report.h"
#include "app/common.h"
#include "app/console.h"
#include "app/verbs.h"
#include "scene/file.h"
#include "view/defects.h"

#include <stdlib.h>
#include <string.h>

// The surfaces with what is wrong about them, in one picture.
static snwResult DrawReport(const snwAssetReport* report, const snwArgs* args, snwMessage* message)
{
    const char* path = snwArgs_Text(args, "output");
    int count = report->surfaces.count;
    snwDefectSurface* surfaces = calloc((size_t)count + 1, sizeof *surfaces);
    snwReportLine lines[snw_maxReportLines];
    snwDefectsDef def = snwDefaultDefectsDef();
    snwImage image = {0};
    if (surfaces == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < count; ++i)
        surfaces[i] = (snwDefectSurface){report->surfaces.items[i].vertices,
            (const int(*)[3])report->surfaces.items[i].triangles, &report->surfaces.items[i].survey};
    def.surfaces = surfaces;
    def.surfaceCount = count;
    def.title = report->asset->name;
    if (count == 1 && snwSurvey_Describe(&report->surfaces.items[0].survey, "", lines) > 0)
        def.subtitle = lines[0].text;
    snwResult result = count > 0 ? snwDrawDefects(report->context, &def, &image, message)
                                 : snwFail(message, snw_errorInput, NULL, "there is no surface to draw");
    if (result >= 0)
        result = snwImage_WritePng(report->context, &image, path, 9, snwArgs_Has(args, "force"), message);
    snwDestroyImage(report->context, &image);
    free(surfaces);
    return result;
}

static snwExit Report(snwContext* context, const snwArgs* args)
{
    snwAssetReport report;
    snwMessage message = {0};
    const char* picture = snwArgs_Text(args, "output");
    snwResult result = picture == NULL ? snw_ok
                                       : snwPartFile_Check(context, picture, snwArgs_Has(args, "force"), &message);
    if (result < 0)
        return snwReportMessage(&message);
    result = snwAssetReport_Make(context, args->operands[0], &report, &message);
    snwExit exit = result < 0 ? snwReportInput(&message) : snwAssetReport_Print(&report, snwArgs_Has(args, "json"));
    if (result >= 0 && picture != NULL)
    {
        result = DrawReport(&report, args, &message);
        exit = result < 0 ? snwReportMessage(&message) : exit;
        if (result >= 0)
            snwNote("picture   %s", picture);
    }
    snwAssetReport_Free(&report);
    return exit;
}

static snwExit Run(const snwArgs* args)
{
    snwContext* context = NULL;
    if (!snwArgs_Has(args, "report"))
        return snwUsage("--report", "what shall be done with the file?");
    snwExit exit = snwContextFromArgs(args, &context);
    if (exit == snw_exitOk)
        exit = Report(context, args);
    snwDestroyContext(context);
    return exit;
}

static const snwOption s_options[] = {
    {"report", 0, NULL, false, snw_completeNothing, NULL,
        "say what the file holds, what was repaired, and what is wrong with its surfaces"},
    {"output", 'o', "FILE", false, snw_completeFile, NULL, "a picture of what is wrong, a PNG file"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace a file that exists"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print as JSON"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew prep fox.glb --report", "is it closed, does it cross itself, which bones have no weight?"},
    {"sinew prep fox.glb --report -o fox.png", "show where"},
    {0},
};

const snwVerb snwPrepVerb = {
    .name = "prep",
    .operands = "FILE",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "look at an artist's file before it becomes a character",
    .about = "FILE is a surface, a mesh or a rigged character; docs/formats.md lists the formats.",
    .options = s_options,
    .examples = s_examples,
    .run = Run,
};
