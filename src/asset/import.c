// FBX, DAE and BVH through assimp, at arm's length: the helper program sinew-import (an optional build) reads the file
// under limits of memory and time and hands back a plain block. If it crashes, hangs or raves, that is an error
// message.

#include "asset/helper.h"
#include "asset/import_block.h"
#include "asset/rig_parts.h"

#include <string.h>

enum
{
    snw_importSeconds = 120,
};

static snwResult ExplainImport(const snwHelperRun* run, snwMessage* message)
{
    const char* remedy = "export the file again, best as glTF";
    switch (run->end)
    {
        case snw_helperAbsent:
            return snwFail(message, snw_errorUnsupported, "build with `make ASSIMP=1`, or export the file as glTF",
                "FBX, DAE and BVH are read by the program sinew-import, which is not here");
        case snw_helperLate:
            return snwFail(message, snw_errorInput, remedy, "assimp did not come to an end in time");
        case snw_helperCrashed:
            return snwFail(message, snw_errorInput, remedy, "assimp crashed on this file (signal %d)", run->signal);
        case snw_helperFailed:
            return snwFail(message, snw_errorInput, remedy, "sinew-import failed on this file");
        case snw_helperDone:
            break;
    }
    return snw_ok;
}

snwResult snwImport_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    // The ending in small letters tells assimp which reader to take.
    char ending[8] = "";
    const char* dot = strrchr(input->name, '.');
    for (int i = 0; i < 7 && dot != NULL && dot[i + 1] != 0; ++i)
        ending[i] = (char)(dot[i + 1] >= 'A' && dot[i + 1] <= 'Z' ? dot[i + 1] + 32 : dot[i + 1]);

    // In a program of its own: assimp may crash on what it reads.
    snwHelperDef def = {.program = "sinew-import",
        .variable = "SINEW_IMPORT",
        .argument = ending,
        .input = input->data,
        .inputSize = input->size,
        .mostOutput = (size_t)snw_maxAssetBytes,
        .seconds = snw_importSeconds};
    snwWriter block = {.context = asset->context};
    snwHelperRun run;
    snwResult result = snwHelper_Run(&def, &block, &run, message);
    if (result >= 0)
        result = ExplainImport(&run, message);
    if (result >= 0)
        result = snwImportBlock_Read(asset, block.data, block.size, message);
    snwFree(asset->context, block.data);

    return result;
}

const snwAssetReader snw_importReader = {snw_assetScene, "FBX, DAE or BVH", ".fbx .dae .bvh", snwImport_Read};
