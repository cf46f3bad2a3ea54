#include "app/common.h"
#include "app/console.h"
#include "app/verbs.h"
#include "scene/blueprint_file.h"
#include "view/likeness.h"

#include <stdio.h>
#include <string.h>

static snwExit Run(const snwArgs* args)
{
    snwContext* context = NULL;
    snwExit exit = snwContextFromArgs(args, &context);
    if (exit != snw_exitOk)
        return exit;
    snwMessage message = {0};
    snwBlueprintFile file;
    snwResult result = snwBlueprintFile_Open(context, args->operands[0], &file, &message);
    if (result == snw_ok)
    {
        int freedom = 0;
        for (int i = 0; i < file.blueprint.jointCount; ++i)
            freedom += (int[]){3, 1, 2, 1, 2, 0, 6}[file.blueprint.joints[i].type];
        fprintf(stderr, "%d bones, %d joints with %d degrees of freedom, %d parts, %d handles, %d motions\n", file.blueprint.boneCount, file.blueprint.jointCount, freedom, file.blueprint.flesh.partCount, file.blueprint.handleCount, file.blueprint.motionCount);
        snwLikenessDef def = snwDefaultLikenessDef();
        snwLikeness likeness;
        snwImage image = {0};
        double azimuth = 35, elevation = 15;
        int size = 600, detail = 150;
        snwArgs_Real(args, "azimuth", -360, 360, &azimuth);
        snwArgs_Real(args, "elevation", -90, 90, &elevation);
        snwArgs_Int(args, "size", 16, 4096, &size);
        snwArgs_Int(args, "detail", 10, 1000, &detail);
        def.blueprint = &file.blueprint;
        def.detail = detail;
        if (snwArgs_Text(args, "motion") != NULL)
            for (int i = 0; i < file.blueprint.motionCount; ++i)
                if (strcmp(file.blueprint.motions[i].name, snwArgs_Text(args, "motion")) == 0)
                    def.motion = i;
        snwArgs_Real(args, "time", 0, 1000, &def.time);
        result = snwCreateLikeness(context, &def, &likeness, &message);
        if (result == snw_ok)
        {
            snwPortraitDef view = snwDefaultPortraitDef();
            view.width = view.height = size;
            view.azimuth = (float)azimuth;
            view.elevation = (float)elevation;
            view.samples = 8;
            view.ground = !snwArgs_Has(args, "silhouette");
            snwLikenessLook look = snwArgs_Has(args, "silhouette") ? snw_lookSilhouette : snwArgs_Has(args, "bones") ? snw_lookBones : snw_lookFlesh;
            result = snwLikeness_Draw(&likeness, look, &view, &image, &message);
            if (result == snw_ok)
                result = snwImage_WritePng(context, &image, snwArgs_Text(args, "output"), 6, true, &message);
            snwDestroyImage(context, &image);
        }
        snwLikeness_Free(&likeness);
    }
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
    return result < 0 ? snwReportMessage(&message) : snw_exitOk;
}

static const snwOption s_options[] = {
    {"output", 'o', "FILE", false, snw_completeFile, NULL, "the picture"},
    {"azimuth", 0, "DEGREES", false, snw_completeNothing, NULL, "from where"},
    {"elevation", 0, "DEGREES", false, snw_completeNothing, NULL, "from how high"},
    {"size", 0, "PIXELS", false, snw_completeNothing, NULL, "of the picture"},
    {"detail", 0, "N", false, snw_completeNothing, NULL, "triangles across"},
    {"motion", 0, "NAME", false, snw_completeNothing, NULL, "in a pose of this motion"},
    {"time", 0, "SECONDS", false, snw_completeNothing, NULL, "into the motion"},
    {"bones", 0, NULL, false, snw_completeNothing, NULL, "bones through flesh"},
    {"silhouette", 0, NULL, false, snw_completeNothing, NULL, "dark on white"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

const snwVerb snwRenderVerb = {"render", "CHARACTER", 1, 1, snw_completeFile, NULL, "draw a character", "", s_options, NULL, Run};
