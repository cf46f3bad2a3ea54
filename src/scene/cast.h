// A character in a scene that suits it: what a character becomes where a scene is wanted, in the studio and on the
// command line alike.

#pragma once

#include "sinew/tools.h"

typedef struct snwCast
{
    const char* name;
    const char* use;    // JSON: the character object of the scene
    bool flat;          // a drawing: it floats before the viewer
    bool jointed;       // bones move flesh through joints
    const char* motion; // that it plays; NULL: none, so it falls a little
} snwCast;

void snwCast_LookAt(snwCast* cast, const snwCharacterDef* character);

// options: as for scene files; a method there wins over the one that suits. NULL: none.
snwResult snwCast_Open(
    snwContext* context, const snwCast* cast, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message);

// path: of a prepared character.
snwResult snwCast_OpenPrepared(snwContext* context, const char* name, const char* path, const snwSceneOptions* options,
    snwCast* cast, snwSceneFile* file, snwMessage* message);

// blueprint: a built-in character, or a path that ends in .json. Large ones are made small where they can be: a hand
// wants an answer in a sixtieth of a second. Here and above *cast tells what it is; its texts are gone.
snwResult snwCast_OpenBlueprint(snwContext* context, const char* name, const char* blueprint,
    const snwSceneOptions* options, snwCast* cast, snwSceneFile* file, snwMessage* message);
