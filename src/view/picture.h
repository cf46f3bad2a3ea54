// What a picture shows: triangle meshes in the world, and how large the world is.
//
// A skin keeps its triangles and gets new positions in every frame; a solid keeps its shape and gets a new transform.
// Normals belong to corners, not to vertices: an edge that is sharp in the first frame stays sharp, all others are
// smooth. So a block looks like a block although its skin shares vertices between faces.

#pragma once

#include "base/context.h"
#include "view/vec.h"

#include <stdint.h>

typedef enum snwPictureKind
{
    snw_pictureSkin,
    snw_pictureSolid,
    snw_pictureGround, // fades into the background and carries a faint grid
    snw_pictureWall,   // looks like the background, with shadows on it
    snw_pictureFlesh,  // a skin with light in its depth, and as much gloss as it is given
} snwPictureKind;

// The linear colour at a point of the surface, m. Called from many threads.
typedef void snwPaintFn(const void* data, const float point[3], float color[3]);

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
    float* colors;       // linear r g b of each vertex instead of color, or NULL
    snwPaintFn* paint;   // instead of both, or NULL
    const void* paintData;
    float* paintPoints; // x y z of each vertex where it is painted, for a skin that moves; NULL: where it is
    float* texcoords;   // u v of each vertex, v downwards, or NULL
    snwTexture texture; // of a mesh with texcoords; not owned
    uint8_t* edges;     // which sides of each triangle are drawn as lines (bit i: corner i to i + 1), or NULL
    float transparency; // 0: opaque; of light that falls straight on it
    float gloss;        // of flesh, 0..1
    bool scenery;       // not what the picture is about, as no ground or wall is
} snwPictureMesh;

typedef enum snwPictureStyle
{
    snw_styleStudio,
    snw_styleWhite,      // on plain white; ground and wall are only their shadows
    snw_styleSilhouette, // everything dark on plain white
    snw_styleClear,      // on nothing: the image has an opacity, and ground and wall are not there
} snwPictureStyle;

typedef struct snwPicture
{
    snwContext* context;
    snwPictureMesh* meshes;
    int meshCount, meshCapacity;
    snwFloat3 centre; // m, of what matters
    float radius;     // m
    snwPictureStyle style;
    bool frontLight; // a large key light near the camera, as for paper figures before a wall
} snwPicture;

void snwPicture_Free(snwPicture* picture);

// Adds a skin; positions have `stride` bytes between vertices.
snwResult snwPicture_AddSkin(snwPicture* picture, const snwSkin* skin, snwFloat3 color, int* mesh, snwMessage* message);
// The same with seams: places numbers, below vertexCount, what is one place, and normals are smooth across it.
snwResult snwPicture_AddSeamedSkin(
    snwPicture* picture, const snwSkin* skin, const int* places, snwFloat3 color, int* mesh, snwMessage* message);
// Positions: x y z, tight.
void snwPicture_MoveSkin(snwPicture* picture, int mesh, const float* positions);

// Adds a plane, sphere, box or capsule; sizes as in snwColliderDef. A plane needs picture->radius and centre. For all
// kinds of colliders see surfaces.h.
snwResult snwPicture_AddSolid(
    snwPicture* picture, snwColliderKind kind, snwVec3 size, snwFloat3 color, int* mesh, snwMessage* message);
// Likewise one of flat triangles, three corners each, outward.
snwResult snwPicture_AddTriangles(
    snwPicture* picture, const snwVec3* corners, int count, snwFloat3 color, int* mesh, snwMessage* message);
void snwPicture_MoveSolid(snwPicture* picture, int mesh, const snwTransform* transform);

// m; triangles with a corner beyond this, or with one that is not finite, are not drawn.
#define SNW_FARTHEST 1e12f

// A mesh that stays as it is, from plain arrays; everything but the texture is copied.
typedef struct snwMeshLook
{
    snwPictureKind kind;      // a skin is drawn as flesh
    const float* positions;   // x y z
    const float* colors;      // linear r g b per vertex, 0..1; NULL: color
    snwPaintFn* paint;        // sharper than colours of vertices can be; NULL: none
    const void* paintData;    // must live as long as the picture
    const float* paintPoints; // x y z per vertex that paint is asked for; NULL: where the vertices are
    const float* normals;     // x y z per vertex, unit; NULL: from the triangles, smooth but for sharp edges
    const int* places;        // as in snwPicture_AddSeamedSkin; NULL: every vertex is its own
    int vertexCount;
    const int* triangles; // three vertices each, outward
    int triangleCount;
    snwFloat3 color;           // linear
    float opacity;             // 0..1; 0 is taken as 1, opaque: nobody draws what cannot be seen
    bool flat;                 // a normal per triangle
    bool edges;                // thin dark lines along the triangles' sides
    const uint8_t* edgeMask;   // of each triangle, which sides have lines (bit i: corner i to i + 1); NULL: all
    float gloss;               // 0: dry skin .. 1: a wet eye
    const float* texcoords;    // u v per vertex, v downwards; NULL: no texture
    const snwTexture* texture; // drawn unlit, with its alpha; must live as long as the picture
} snwMeshLook;

// Forgets the meshes from number `count` on.
void snwPicture_Truncate(snwPicture* picture, int count);

snwResult snwPicture_AddMesh(snwPicture* picture, const snwMeshLook* look, int* mesh, snwMessage* message);

// The colour of a body: its character's own, or one of a palette if that is black, or what every shape starts with;
// the first body keeps that one.
snwFloat3 snwPicture_BodyColor(int body, const float color[3]);
