// A scene for a single character: which method suits it, where it stands, ground or none. The command line and the
// studio show characters by these scenes.

#define _XOPEN_SOURCE 700 // realpath

#include "scene/cast.h"

#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "scene/prepared_file.h"

#include <math.h>
#include <stdlib.h>

void snwCast_LookAt(snwCast* cast, const snwCharacterDef* character)
{
    cast->flat = character->triangleCount > 0;
    cast->jointed = character->jointCount > 0 && character->elementBones != NULL;
    cast->motion = character->motionCount > 0 && character->boneCount > 0 ? character->motions[0].name : NULL;
}

static const char* MethodOf(const snwCast* cast)
{
    if (cast->flat)
        return "rigpbd";
    if (cast->motion != NULL)
        return "pbcd";
    return cast->jointed ? "apd" : "pbd";
}

static void WriteCastBody(snwText* text, const snwCast* cast)
{
    snwText_Key(text, "bodies");
    snwText_Open(text, '[');
    snwText_Open(text, '{');
    snwText_Key(text, "name");
    snwText_String(text, cast->name);
    snwText_Key(text, "character");
    snwText_Json(text, cast->use);
    if (cast->motion != NULL)
    {
        snwText_Key(text, "motion");
        snwText_String(text, cast->motion);
    }
    snwText_Close(text, '}');
    snwText_Close(text, ']');
}

static void WriteCastScene(snwText* text, const snwCast* cast)
{
    // As text, because the scene is read like any other: with checks, defaults and messages.
    snwText_Open(text, '{');
    snwText_Key(text, "sinew");
    snwText_Int(text, 1);
    snwText_Key(text, "name");
    snwText_String(text, cast->name);
    snwText_Key(text, "method");
    snwText_String(text, MethodOf(cast));
    snwText_Key(text, "duration");
    snwText_Real(text, 10);

    if (cast->flat)
    {
        snwText_Key(text, "gravity");
        snwText_Reals(text, (double[]){0, 0, 0}, 3);
        snwText_Key(text, "settings"); // what is thrown comes to rest, in sight
        snwText_Json(text, "{\"rigpbd.damping\": 2, \"rigpbd.settle\": 5, \"rigpbd.drag\": 3}");
    }

    WriteCastBody(text, cast);

    // Paper has no ground to stand on.
    if (!cast->flat)
    {
        snwText_Key(text, "colliders");
        snwText_Json(text, "[{\"name\": \"ground\", \"kind\": \"plane\"}]");
    }

    snwText_Close(text, '}');
}

// A figure of paper floats before the viewer and waits for a hand; one with a motion plays it, on a ground where it is
// lowest; all others fall a little, so that one sees at once what they are made of.
static snwResult PlaceFigure(snwContext* context, const snwCast* cast, snwSceneFile* file, snwMessage* message)
{
    snwSceneDef def = *snwScene_GetDef(file->scene);
    snwCharacterInfo info = snwCharacter_GetInfo(def.bodies[0].character);
    snwBodyDef body = def.bodies[0];
    snwScene* placed = NULL;
    double size = info.upper.y - info.lower.y;

    // Paper floats; without a ground there is nothing to place.
    if (cast->flat || def.colliderCount == 0)
        return snw_ok;

    snwColliderDef ground = def.colliders[0];
    if (cast->motion == NULL)
        body.transform.position.y = 0.15 * size - info.lower.y;
    else if (fabs(info.lower.y) > 0.1 * size)
        ground.transform.position.y = info.lower.y;

    // A scene is immutable: the one placed differently is made anew.
    def.bodies = &body;
    def.colliders = &ground;
    snwResult result = snwCreateScene(context, &def, &placed, message);
    if (result < 0)
        return result;
    snwScene_Release(file->scene);
    file->scene = placed;

    return result;
}

snwResult snwCast_Open(
    snwContext* context, const snwCast* cast, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message)
{
    snwText text = snwCreateText(context, 0);
    WriteCastScene(&text, cast);
    snwResult result = text.failed
                           ? snwFailMemory(message)
                           : snwSceneFile_Parse(context, text.data, text.size, cast->name, options, file, message);
    snwText_Free(&text);
    snwResult placed = result < 0 ? result : PlaceFigure(context, cast, file, message);
    if (placed < 0)
        snwSceneFile_Close(file);
    return placed < 0 ? placed : result;
}

snwResult snwCast_OpenPrepared(snwContext* context, const char* name, const char* path, const snwSceneOptions* options,
    snwCast* cast, snwSceneFile* file, snwMessage* message)
{
    snwPrepared* prepared = NULL;
    *cast = (snwCast){.name = name};
    *file = (snwSceneFile){0};
    snwResult result = snwPrepared_Open(context, path, &prepared, message);
    if (result < 0)
        return result;

    // The character is looked at; the scene then opens the file again by its full path.
    snwCast_LookAt(cast, snwCharacter_GetDef(snwPrepared_GetCharacter(prepared)));

    snwText use = snwCreateText(context, 0);
    char* full = realpath(path, NULL);
    snwText_Open(&use, '{');
    snwText_Key(&use, "file");
    snwText_String(&use, full != NULL ? full : path);
    snwText_Close(&use, '}');
    free(full);
    cast->use = use.data;
    result = use.failed ? snwFailMemory(message) : snwCast_Open(context, cast, options, file, message);
    snwText_Free(&use);
    snwPrepared_Release(prepared);

    // They pointed into what is gone now.
    cast->use = cast->motion = NULL;

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Blueprints

// Characters are made for films.
static bool IsLarge(const snwBlueprint* blueprint)
{
    const snwBlueprintSize* size = &blueprint->size;
    return blueprint->boxSize.x == 0 && blueprint->flat.ringCount == 0 &&
           (size->vertices > 4000 || size->tets > 16000 || size->elasticVertices > 4000 || size->skinVertices > 3000);
}

// A built-in one by its name; one from a file as it stands there.
static void WriteReference(snwText* text, const char* name, const snwBlueprintFile* file)
{
    if (snwBuiltIn_Find(name) != NULL || file->document == NULL)
    {
        snwText_String(text, name);
        return;
    }
    char* document = json_dumps(file->document, JSON_COMPACT);
    text->failed = text->failed || document == NULL;
    snwText_Json(text, document != NULL ? document : "null");
    free(document);
}

static void WriteCastUse(snwText* text, const char* name, const snwBlueprintFile* file, const snwCast* cast, bool small)
{
    snwText_Open(text, '{');
    snwText_Key(text, "blueprint");
    WriteReference(text, name, file);
    if (small)
    {
        snwText_Key(text, "size");
        snwText_Json(text, "{\"vertices\": 3000}");
    }
    if (cast->motion != NULL && !cast->flat)
    {
        snwText_Key(text, "material"); // softer than most are made for, so that one sees flesh on moving bones
        snwText_String(text, "fat");
    }
    snwText_Close(text, '}');
}

static snwResult OpenUse(snwContext* context, const char* reference, const snwBlueprintFile* blueprint, bool small,
    const snwSceneOptions* options, snwCast* cast, snwSceneFile* file, snwMessage* message)
{
    snwText use = snwCreateText(context, 0);
    WriteCastUse(&use, reference, blueprint, cast, small);
    cast->use = use.data;
    snwResult result = use.failed ? snwFailMemory(message) : snwCast_Open(context, cast, options, file, message);
    snwText_Free(&use);
    return result;
}

snwResult snwCast_OpenBlueprint(snwContext* context, const char* name, const char* blueprint,
    const snwSceneOptions* options, snwCast* cast, snwSceneFile* file, snwMessage* message)
{
    snwBlueprintFile source;
    *cast = (snwCast){.name = name};
    *file = (snwSceneFile){0};
    snwResult result = snwBlueprintFile_Open(context, blueprint, &source, message);

    // A character made for films is shown in a size that runs in real time, if it can be made so small.
    if (result >= 0)
    {
        const snwBlueprint* read = &source.blueprint;
        bool small = IsLarge(read);
        cast->flat = read->flat.ringCount > 0;
        cast->jointed = read->jointCount > 0;
        cast->motion = read->motionCount > 0 && read->boneCount > 0 ? read->motions[0].name : NULL;
        result = OpenUse(context, blueprint, &source, small, options, cast, file, message);
        if (result == snw_errorInput && small) // thin ones cannot be made small, and get the size they are made for
            result = OpenUse(context, blueprint, &source, false, options, cast, file, message);
    }

    snwBlueprintFile_Free(&source);
    cast->use = NULL;
    cast->motion = NULL;
    return result;
}
