// What a picture shows: triangle meshes in the world, and how large the world is.
//
// A skin keeps its triangles and gets new positions in every frame; a solid keeps its shape and gets a new transform.
// Normals belong to corners, not to vertices: an edge that is sharp in the first frame stays sharp, all others are
// smooth. So a block looks like a block although its skin shares vertices between faces.

#pragma once

#include "base/context.h"
#include "view/vec.h"

typedef enum snwPictureKind
{
    snw_pictureSkin,
    snw_pictureSolid,
    snw_pictureGround, // fades into the background and carries a faint grid
} snwPictureKind;

typedef struct snwPictureMesh
{
    snwPictureKind kind;
    snwFloat3 color;  // linear
    float* positions; // x y z, in the world; one more than needed, for Embree's wide loads
    int vertexCount;
    float* normals; // x y z, unit
    int normalCount;
    int* triangles; // three vertices each
    int* corners;   // three normals each
    int triangleCount;
    float* shape;        // positions of a solid in its own frame; NULL for a skin
    float* shapeNormals; // normals of a solid in its own frame; NULL for a skin
    snwTransform frame;  // of a ground: where its plane is now
} snwPictureMesh;

typedef struct snwPicture
{
    snwContext* context;
    snwPictureMesh* meshes;
    int meshCount, meshCapacity;
    snwFloat3 centre; // m, of what matters
    float radius;     // m
} snwPicture;

void snwPicture_Free(snwPicture* picture);

// Adds a skin; positions have `stride` bytes between vertices.
snwResult snwPicture_AddSkin(snwPicture* picture, const snwSkin* skin, snwFloat3 color, int* mesh, snwMessage* message);
// Positions: x y z, tight.
void snwPicture_MoveSkin(snwPicture* picture, int mesh, const float* positions);

// Adds a collider's shape; sizes as in snwColliderDef. A plane needs picture->radius and centre.
snwResult snwPicture_AddSolid(
    snwPicture* picture, snwColliderKind kind, snwVec3 size, snwFloat3 color, int* mesh, snwMessage* message);
void snwPicture_MoveSolid(snwPicture* picture, int mesh, const snwTransform* transform);

// The colour of a body: its character's own, or one of a palette if that is black, or what every shape starts with;
// the first body keeps that one.
snwFloat3 snwPicture_BodyColor(int body, const float color[3]);
