// Where a bake begins: a file, a prepared file, or a built-in character, which is first written as a file of its own,
// so that nothing behind it has to know the difference.

#include "bake/parts.h"

#include "asset/gltf_write.h"
#include "bake/retarget.h"
#include "bake/seam.h"
#include "base/ending.h"
#include "base/hash.h"
#include "prepare/settings.h"
#include "scene/builtin.h"
#include "scene/file.h"
#include "scene/prepared_file.h"
#include "scene/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------

static snwResult FindFile(snwBake* bake, snwMessage* message)
{
    const char* source = bake->def.source;
    if (access(source, F_OK) != 0 && snwBuiltIn_Find(source) != NULL)
        return snwBake_WriteBuiltIn(bake, snwBuiltIn_Find(source), message);
    if (access(source, F_OK) != 0)
    {
        char remedy[240];
        if (strpbrk(source, "./") != NULL)
            return snwFail(message, snw_errorIo, NULL, "there is no file '%s'", snwQuoteWord(source).text);
        snwSuggestWord(remedy, sizeof remedy, source, snwBuiltInCount(), snwBuiltInWord, NULL);
        return snwFail(
            message, snw_errorIo, remedy, "there is no file and no built-in character '%s'", snwQuoteWord(source).text);
    }
    return snprintf(bake->path, sizeof bake->path, "%s", source) < (int)sizeof bake->path
               ? snw_ok
               : snwFail(message, snw_errorIo, "a shorter one", "the path is too long");
}

static snwResult ReadBakeSettings(snwBake* bake, snwMessage* message)
{
    const snwBakeDef* def = &bake->def;
    snwResult result = snw_ok;
    if (def->sidecar != NULL)
        snprintf(bake->sidecarPath, sizeof bake->sidecarPath, "%s", def->sidecar);
    else if (bake->builtIn || !snwSidecarPath(bake->path, bake->sidecarPath, sizeof bake->sidecarPath) ||
             access(bake->sidecarPath, F_OK) != 0)
        bake->sidecarPath[0] = 0;
    if (bake->sidecarPath[0] != 0)
        bake->sidecar = snwPrepareSettings_Load(bake->context, bake->sidecarPath, &result, message);
    if (result < 0)
        return result;
    return snwBakeSettings_Read(bake->context, bake->sidecar, bake->sidecarPath, def->words, &bake->settings, message);
}

static void NameSource(snwBake* bake)
{
    const char* slash = strrchr(bake->path, '/');
    char* name = snwArena_Text(&bake->arena, slash != NULL ? slash + 1 : bake->path);
    char* dot = name != NULL ? strrchr(name, '.') : NULL;
    if (dot != NULL && dot != name)
        *dot = 0;
    bake->name = name;
}

// Clips of bundles of complementary dynamics are made for it: with flesh that is tied to its place they would tear it
// off. And what a node carries as a whole is where the artist has it, however soft it is.
static void SuitMotion(snwBake* bake)
{
    snwBakeSettings* settings = &bake->settings;
    const snwAsset* asset = bake->asset;
    bool said = json_object_get(settings->document, "keep_trajectory") != NULL;
    bool carried = asset->format == snw_assetGltf && asset->skinCount == 0 && asset->animationCount > 0;
    for (int i = 0; i < asset->animationCount; ++i)
        for (int k = 0; k < asset->animations[i].channelCount; ++k)
            carried = carried && asset->animations[i].channels[k].path != snw_pathMorphs;
    if ((asset->format != snw_assetBundle && !carried) || said || strcmp(settings->method, "pbcd") != 0)
        return;
    settings->keepTrajectory = true;
    snwBake_Note(bake, "%s: flesh does nothing that %s could do (--set pbcd.complement=none says otherwise)",
        carried ? "nodes move it, without a skin" : "a bundle of complementary dynamics",
        carried ? "they" : "its handles");
}

// ---------------------------------------------------------------------------------------------------------------------
// A clip of another file

// By name, or number from 1; the first if nothing is said.
static snwResult ChooseAnimation(const snwAsset* motion, const char* clip, int* index, snwMessage* message)
{
    char *end = NULL, remedy[240] = "";
    long number = strtol(clip, &end, 10);
    *index = clip[0] == 0 && motion->animationCount > 0 ? 0 : -1;
    for (int i = 0; i < motion->animationCount && *index < 0; ++i)
        *index = strcmp(motion->animations[i].name, clip) == 0 ? i : -1;
    if (*index < 0 && *end == 0 && number >= 1 && number <= motion->animationCount)
        *index = (int)number - 1;
    if (*index >= 0)
        return snw_ok;
    size_t used = 0;
    for (int i = 0; i < motion->animationCount && used < sizeof remedy; ++i)
        used += (size_t)snprintf(remedy + used, sizeof remedy - used, "%s%d %s", i == 0 ? "it has " : ", ", i + 1,
            motion->animations[i].name);
    return motion->animationCount == 0
               ? snwFail(message, snw_errorInput, NULL, "nothing in it moves: it has no clip")
               : snwFail(message, snw_errorInput, remedy, "there is no clip '%s' in it", snwQuoteWord(clip).text);
}

// The source with the clip as one more animation (index -1), or with its channels in an animation that it has, as a
// file of its own in the folder.
static snwResult WriteMoved(
    snwBake* bake, const snwAsset* asset, const snwAssetAnimation* clip, int index, snwMessage* message)
{
    char path[snw_bakePathSize];
    snwGltfWriter* writer = NULL;
    snwResult result = snwBake_Path(bake, "motion.glb", path, message);
    if (result >= 0)
        result = snwGltfWriter_Open(bake->context, asset->gltf, &writer, message);
    if (result < 0)
        return result;

    // A document like the source, with the motion in it, in the folder of the bake.
    snwAssetFolder folder = snwAssetFolder_Of(bake->path);
    snwGltfSave save = snwDefaultGltfSave(path);
    save.overwrite = true;
    if (index >= 0)
        snwGltfWriter_ExtendAnimation(writer, index, clip);
    else
        bake->addedClip = snwGltfWriter_AddAnimation(writer, clip);

    snwGltfWriter_EmbedImages(writer, &folder);
    result = snwGltfWriter_Save(writer, &save, message);
    snwGltfWriter_Close(writer);

    // The built-in character's own file has done its work.
    if (result >= 0 && bake->builtIn)
        unlink(bake->path);
    if (result >= 0)
        memcpy(bake->path, path, sizeof path);
    return result;
}

// A loop whose end is not quite its beginning: the clip as it is closed, in its place.
static snwResult CloseSeam(
    snwBake* bake, snwArena* arena, const snwAsset* asset, snwAssetAnimation* clip, snwMessage* message)
{
    snwSeam seam;
    snwResult result = snwSeam_Close(arena, asset, clip, &seam, message);
    if (result < 0 || seam.animation.channelCount == 0)
        return result;
    snwBake_Warn(bake,
        "'%s' ends %.2g %% of the size off its beginning (%.3g units): its last part is blended into the first pose, "
        "also "
        "in the file that is written",
        clip->name[0] != 0 ? clip->name : "the clip", 100 * seam.gap / seam.size, seam.gap);
    seam.animation.end = clip->end;
    *clip = seam.animation;
    return snw_ok;
}

static snwResult PutOn(snwBake* bake, const snwAsset* asset, const snwAsset* motion, snwMessage* message)
{
    snwRetargetDef def = {.target = asset, .source = motion, .map = bake->settings.jointMap};
    snwRetargeted put;
    snwArena arena = {.context = bake->context};

    // Which clip of the motion's file.
    snwResult result = ChooseAnimation(motion, bake->settings.clip, &def.animation, message);

    if (result >= 0)
        result = snwRetarget(&arena, &def, &put, message);
    if (result >= 0)
    {
        if (put.animation.name[0] == 0)
            put.animation.name = motion->name;
        const char* which = motion->animationCount > 1 && bake->settings.clip[0] == 0 ? ", the first of its clips" : "";
        snwBake_Note(bake, "motion '%s'%s: %d of %d joints follow it, ways are %.3g times as long%s",
            put.animation.name, which, put.matched, put.jointCount, put.scale,
            put.turned ? ", its axes are turned" : "");

        // Not every joint needs a partner.
        if (put.alone[0] != 0)
            snwBake_Note(bake, "joints that stay at rest, for the motion has none of their name: %s", put.alone);
        if (bake->settings.loop)
            result = CloseSeam(bake, &arena, asset, &put.animation, message);
        if (result >= 0)
            result = WriteMoved(bake, asset, &put.animation, -1, message);
    }

    snwArena_Free(&arena);
    return result;
}

// The file's own clip, if it is to be a loop and is none by a little.
static snwResult CloseOwn(snwBake* bake, snwMessage* message)
{
    snwArena arena = {.context = bake->context};
    snwAsset* asset = NULL;
    int index = -1;
    snwResult result = snwAsset_Open(bake->context, bake->path, &asset, message);
    bool may = result >= 0 && asset->gltf != NULL && bake->settings.cache[0] == 0 &&
               ChooseAnimation(asset, bake->settings.clip, &index, NULL) >= 0;
    if (may) // else others will tell
    {
        snwAssetAnimation clip = asset->animations[index];
        result = CloseSeam(bake, &arena, asset, &clip, message);
        if (result >= 0 && clip.channels != asset->animations[index].channels)
            result = WriteMoved(bake, asset, &clip, index, message);
    }
    snwAsset_Close(asset);
    snwArena_Free(&arena);
    return result;
}

static snwResult TakeBakeMotion(snwBake* bake, snwMessage* message)
{
    const char* from = bake->settings.motionFrom;
    snwAsset *asset = NULL, *motion = NULL;
    if (from[0] == 0)
        return bake->settings.loop && !snwHasEnding(bake->path, ".snw") ? CloseOwn(bake, message) : snw_ok;

    // Two files: the character, and the motion.
    snwResult result = snwAsset_Open(bake->context, bake->path, &asset, message);
    if (result >= 0 && (asset->gltf == NULL || snwHasEnding(bake->path, ".snw")))
        result = snwFail(
            message, snw_errorInput, "export the character as glTF", "a motion can be put on glTF files only");
    if (result >= 0)
    {
        result = snwAsset_Open(bake->context, from, &motion, message);
        if (result >= 0)
            result = PutOn(bake, asset, motion, message);
        if (result < 0 && message != NULL && message->file[0] == 0)
            snwMessage_SetFile(message, from);
    }

    snwAsset_Close(motion);
    snwAsset_Close(asset);
    return result;
}

snwResult snwBake_FindSource(snwBake* bake, snwMessage* message)
{
    // The folder, the file, what is said about it, then its motion.
    snwResult result = snwMakeFolder(bake->def.folder, message);
    if (result >= 0)
        result = FindFile(bake, message);
    if (result >= 0)
        result = ReadBakeSettings(bake, message);
    if (result < 0)
        return result;

    NameSource(bake);
    if (bake->arena.failed)
        return snwFailMemory(message);
    result = TakeBakeMotion(bake, message);
    if (result < 0)
        return result;

    // What is prepared already needs no document.
    if (snwHasEnding(bake->path, ".snw"))
        return snw_ok;
    snwResult opened = snwAsset_Open(bake->context, bake->path, &bake->asset, message);
    if (opened >= 0)
        SuitMotion(bake);

    return opened;
}

// ---------------------------------------------------------------------------------------------------------------------
// From the file to a body

static snwResult OnBakeStep(snwPrepareStep step, void* user)
{
    return snwBake_Tell(user, snw_bakePreparing, snwPrepareStep_Name(step), (int)step, snw_prepareStepCount);
}

static snwResult PrepareFile(snwBake* bake, snwMessage* message)
{
    snwPrepareReport* report = snwAlloc(bake->context, sizeof *report);
    json_t *under = NULL, *over = NULL;
    snwPrepareDef def = bake->def.prepare;
    if (report == NULL)
        return snwFailMemory(message);

    // Numbers of the sidecar and of the command line, for preparation.
    snwResult result = snwBake_FindMaterials(bake, &under, &over, message);
    def.sidecar = bake->sidecarPath;
    def.cache = bake->settings.cache[0] != 0 ? bake->settings.cache : NULL;
    def.cacheRate = bake->settings.fps;
    def.coarse = true;
    def.under = under;
    def.over = over;
    def.progress = OnBakeStep;
    def.user = bake;

    // Notes and times of the preparation go into the bake's report.
    if (result >= 0)
        result = snwPrepareFile(bake->context, bake->path, &def, &bake->prepared, report, message);
    for (int i = 0; i < report->noteCount && result >= 0; ++i)
        snwBake_Note(bake, "%s", report->notes[i]);
    for (int i = 0; i < snw_prepareStepCount; ++i)
        bake->report.prepareSeconds += report->seconds[i];
    snwFree(bake->context, report);
    json_decref(under);
    json_decref(over);

    return result;
}

// The file that a prepared one was made of, if it still lies beside it, unchanged.
static void FindAsset(snwBake* bake)
{
    snwPreparedInfo info = snwPrepared_GetInfo(bake->prepared);
    char path[snw_bakePathSize];
    const char* slash = strrchr(bake->path, '/');
    char* data = NULL;
    size_t size = 0;
    int folder = slash != NULL ? (int)(slash - bake->path) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, bake->path, info.source) >= (int)sizeof path ||
        snwFile_Read(bake->context, path, snw_maxAssetBytes, &data, &size, NULL) < 0)
        return;
    if (snwHash(data, size, 0) == info.sourceHash && snwAsset_Open(bake->context, path, &bake->asset, NULL) >= 0)
        snprintf(bake->path, sizeof bake->path, "%s", path);
    snwFree(bake->context, data);
}

snwResult snwBake_Prepare(snwBake* bake, snwMessage* message)
{
    if (bake->asset != NULL)
        return PrepareFile(bake, message);
    snwResult result = snwPrepared_Open(bake->context, bake->path, &bake->prepared, message);
    bake->wasPrepared = true;
    if (bake->settings.rigid != NULL || bake->settings.carried != NULL || bake->settings.soft != NULL)
        return snwFail(message, snw_errorInput, "bake the file that it was made of, or prepare that again",
            "it is prepared: what is rigid, carried or soft is decided");
    if (result >= 0)
        FindAsset(bake);
    if (result >= 0 && bake->asset == NULL)
        snwBake_Note(bake, "%s is not beside it, or has changed: the output is a new file, not the artist's with flesh",
            snwPrepared_GetInfo(bake->prepared).source);
    return result;
}
