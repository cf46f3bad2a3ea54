// A film in the making: what was seen in each frame, kept until the whole motion is known.

#pragma once

#include "base/array.h"
#include "sinew/tools.h"
#include "view/camera.h"
#include "view/image.h"
#include "view/picture.h"
#include "view/render.h"

// A body without skin triangles (a spring) is drawn as balls at its vertices, joined by beads if there are two.
typedef struct snwFilmBody
{
    snwFloat3 color;
    int* triangles; // skin vertices
    int vertexCount, triangleCount;
    size_t first; // float of its first position in a frame
    int mesh;     // in the picture; of a body of balls: the first one
    int ballCount;
    float ballRadius; // m
} snwFilmBody;

typedef struct snwFilmFrame
{
    float* positions; // x y z of all bodies
    snwTransform* colliders;
} snwFilmFrame;

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
    snwFilmBody* bodies;
    int bodyCount;
    size_t floatCount;
    int colliderCount;
    int* colliderMeshes;
    snwArray(snwFilmFrame) frames;
    snwPicture picture;
    snwCamera camera;
    snwRenderer* renderer;
    snwImage image;
};

// Bounds, camera and meshes, from all frames.
snwResult snwFilm_SetUp(snwFilm* film, snwMessage* message);
// The frame drawn into film->image.
snwResult snwFilm_Draw(snwFilm* film, int frame, int samples, snwMessage* message);
// The frame in which the flesh is deformed most.
int snwFilm_TellingFrame(const snwFilm* film);
