// A scene that is open: what does not change of it. What is drawn of its bodies is shared by stages that differ only in
// method and settings.

#pragma once

#include "sinew/tools.h"
#include "studio/blob.h"
#include "view/film_surface.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct snwShownBody
{
    snwFilmSurface* surface; // finer than the skin; NULL: the skin is drawn
    bool ownsSurface;        // bodies of one character share it
    bool flat;               // normals are always those of the plane
    int firstPart, partCount;
    int pointCount, triangleCount;
    const int* triangles;       // of points
    const int* places;          // by point: which are one; NULL: each is one
    const int* carriers;        // by point: the vertex of the character that is next to it
    float *positions, *normals; // of now, x y z
} snwShownBody;

// Points that look alike, one after the other.
typedef struct snwShownPart
{
    int body;
    int firstPoint, pointCount;
    int firstTriangle, triangleCount;
} snwShownPart;

typedef struct snwShown
{
    atomic_int references;
    snwContext* context;
    snwArena arena;
    snwShownBody* bodies;
    int bodyCount;
    snwShownPart* parts;
    int partCount;
    float* values; // scratch, one per vertex of the largest character
} snwShown;

snwResult snwCreateShown(snwContext* context, const snwSceneDef* scene, snwShown** shown, snwMessage* message);
void snwShown_Release(snwShown* shown); // NULL is allowed
// Positions and normals of all bodies as the sim has them now.
void snwShown_Update(snwShown* shown, snwSim* sim);
// Values of a look at the vertices of a character, into `values`; false: this look has none.
bool snwShown_FindValues(snwShown* shown, snwSim* sim, int body, snwFilmLook look);

// What a part is painted with: colours of the points where they have some, times this.
typedef struct snwShownPaint
{
    snwTexture texture; // width 0: none
    float color[3];     // linear
} snwShownPaint;

snwShownPaint snwShown_FindPaint(const snwShown* shown, const snwSceneDef* scene, int part);
// The colour of a point at rest, linear; false: the whole part has one.
bool snwShownBody_Color(const snwShownBody* body, const snwCharacterDef* def, int point, float color[3]);
// Only of parts with a texture.
const float* snwShownBody_Texcoord(const snwShownBody* body, const snwCharacterDef* def, int point);

enum
{
    snw_stagePath = 4096
};

typedef struct snwStage
{
    atomic_int references;
    snwContext* context;
    snwSceneFile file;
    snwShown* shown;
    pthread_mutex_t mutex;      // of the two below, which the worker looks at
    snwBlob* model;             // for viewers; its serial is 0 until it is shown
    bool painted;               // whose bones move what is in the model
    char name[256];             // what it was opened as
    char asset[snw_stagePath];  // the artist's file that it came from; "": none
    char origin[snw_stagePath]; // the file that was opened; "": built in
} snwStage;

// Takes the file over, also after a failure. like: a stage of the same bodies to share what is drawn; NULL: none.
snwResult snwCreateStage(
    snwContext* context, snwSceneFile* file, snwStage* like, snwStage** stage, snwMessage* message);
void snwStage_Repaint(snwStage* stage, snwBlob* model); // takes it over
void snwStage_Retain(snwStage* stage);
void snwStage_Release(snwStage* stage); // NULL is allowed

// What a rebuilt scene has that the old one has not.
typedef struct snwStageChange
{
    const char* method; // NULL: the same
    const char* param;  // NULL: none
    bool forget;        // the parameter gets its default
    double value;
    int body; // whose motion changes; -1: none
    const char* motion;
} snwStageChange;

snwResult snwStage_Change(snwStage* stage, const snwStageChange* change, snwStage** changed, snwMessage* message);
