// A film in the making: what was seen in each frame, kept until the whole motion is known.

#pragma once

#include "base/array.h"
#include "sinew/tools.h"
#include "view/camera.h"
#include "view/film_skeleton.h"
#include "view/film_surface.h"
#include "view/gizmo.h"
#include "view/image.h"
#include "view/picture.h"
#include "view/ramp.h"
#include "view/render.h"

// A body without skin triangles (a spring) is drawn as balls at its vertices, joined by beads if there are two.
typedef struct snwFilmBody
{
    snwFloat3 color;
    const snwCharacterDef* character; // lives as long as the scene
    int* triangles;                   // of what is drawn: skin vertices, or points of the surface
    int* vertices;                    // of the character, for each skin vertex; NULL with a surface
    snwFilmSurface* surface;          // finer than the skin; NULL: the skin is drawn
    bool ownsSurface;                 // bodies of one character share it
    snwFilmSkeleton skeleton;         // in the look of bones; empty: bones are drawn as capsules
    int skeletonMesh;                 // in the picture
    int vertexCount, triangleCount;
    int firstBone, firstHandle; // in a frame
    size_t first;               // float of its first position in a frame
    int mesh;                   // in the picture; of a body of balls: the first one
    int ballCount;
    float ballRadius; // m
} snwFilmBody;

typedef struct snwFilmContact
{
    snwFloat3 position, force; // m, N
} snwFilmContact;

// Parts that the look or the overlays do not need are NULL.
typedef struct snwFilmFrame
{
    float* positions; // x y z of all bodies
    float* values;    // what the colours tell, one per position
    snwTransform* colliders;
    snwTransform* props;
    snwTransform* bones; // of all bodies: what takes the rest pose to now
    snwFilmContact* contacts;
    int contactCount;
    float* pins; // x y z of each vertex that is held
    int pinCount;
    snwFloat3 pressure;    // m, where the forces from below act together
    float load;            // N, their sum; 0: none
    snwTransform* handles; // of all bodies: what takes the rest pose to now
    uint32_t* given;       // of each: mask of snw_dof...
} snwFilmFrame;

// Bodies in the place of the sim's.
typedef struct snwFilmShown
{
    const snwVertices* bodies; // of each body, all vertices of its character
    const snwSkin* surfaces;   // of the prepared character of the first body; NULL: they ride in it
    const snwSkin* artists;    // the same without flesh; for a film that tells the difference
    double time;               // s, since the bodies' motions began
} snwFilmShown;

struct snwFilm
{
    snwContext* context;
    snwScene* scene;
    snwFilmDef def; // its texts belong to the film
    char* frameDirectory;
    bool madeFrames; // that folder was not there before
    char* logPath;
    double framesPerSecond; // of what is kept
    double firstTime;       // s
    snwVec3 origin;         // m: where all places of the film begin, 0 unless its bodies are far from the world's
    snwFilmBody* bodies;
    int bodyCount;
    size_t floatCount;
    int boneCount, handleCount; // of all bodies
    bool flat;                  // paper figures before a wall
    int colliderCount;
    int* colliderMeshes;
    int propCount;
    int* propMeshes;
    const snwFilmShown* shown; // in the place of the sim's bodies; NULL: those
    bool differs;              // colours tell how far surfaces are from the artist's
    float* layers;             // x y z of all bodies of a flat film, with what lies over what
    float* scratch;            // one per vertex of the largest character
    snwScale scale;            // of the values
    float strongest;           // N, of the contacts of all frames
    snwFloat3 turnPoint;       // of a turntable, on its axis
    snwArray(snwFilmFrame) frames;
    snwPicture picture;
    snwCamera camera;
    snwRenderer* renderer;
    snwImage image;
    snwInspector inspector;
};

// Whether the colours of the flesh stand for numbers.
bool snwFilm_HasValues(const snwFilm* film);
// Whether what is inside the flesh has to be seen.
bool snwFilm_NeedsBones(const snwFilm* film);

// Like snwFilm_AddFrame, but these bodies are shown; the sim gives what else there is to see.
snwResult snwFilm_AddShown(snwFilm* film, snwSim* sim, const snwFilmShown* shown, snwMessage* message);

// Seen from the film's origin.
snwTransform snwFilm_See(const snwFilm* film, snwTransform inWorld);

// What is drawn of each body, from the first frame.
snwResult snwFilm_MeetBodies(snwFilm* film, snwSim* sim, snwMessage* message);
// Copies what is seen now; free the frame also after a failure.
snwResult snwFilm_CopyFrame(snwFilm* film, snwSim* sim, snwFilmFrame* frame, snwMessage* message);
void snwFilmFrame_Free(snwContext* context, snwFilmFrame* frame);

// The rigid motion of each bone that fits its vertices best; for methods that do not tell.
snwResult snwFitBones(snwContext* context, const snwCharacterDef* character, const snwVertices* now,
    snwTransform* bones, snwMessage* message);

// Where the handles are and what of them is given.
snwResult snwFilm_CopyHandles(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message);
// Where they are belongs into the picture: a cage is wider than what is in it.
void snwFilm_FrameHandles(const snwFilm* film, int frame, snwFraming* framing);
// Over the drawn image.
void snwFilm_DrawHandles(snwFilm* film, int frame, const snwCamera* camera);

// Bones and overlays of a frame as a mesh of the picture, on top of the others.
snwResult snwFilm_AddMarks(snwFilm* film, int frame, snwMessage* message);

// Bounds, camera and meshes, from all frames.
snwResult snwFilm_SetUp(snwFilm* film, snwMessage* message);
// The frame drawn into film->image.
snwResult snwFilm_Draw(snwFilm* film, int frame, int samples, snwMessage* message);
// The frame in which the flesh is deformed most.
int snwFilm_TellingFrame(const snwFilm* film);
