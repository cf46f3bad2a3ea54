// What the steps of a preparation hand to each other. Everything is the arena's and in the rest pose of the character,
// in metres.

#pragma once

#include "prepare/prepare.h"
#include "prepare/settings.h"

#include "asset/texture.h"
#include "geom/shapes.h"
#include "geom/survey.h"
#include "geom/weld.h"
#include "geom/winding.h"

// A mesh of the file where a node shows it.
typedef struct snwRestSurface
{
    const char* name;
    int mesh, node;     // of the asset; node -1: none
    int skin;           // of the asset, -1: none
    snwAffine place;    // space of the mesh -> rest pose
    snwVec3* positions; // of each vertex of the mesh
    int vertexCount;
    int (*triangles)[3]; // outward: turned where the place mirrors
    int triangleCount;
    snwWeld weld;     // vertices of one place, whatever their weights
    snwSurvey survey; // of the welded ones
    int* shellOf;     // by welded vertex: number among its connected pieces
    int shellCount;
    snwSurfaceSetting setting;
    snwSurfaceKind kind;
    bool left;                  // out
    int rigidBone;              // of a whole surface that is rigid: bone of the rig, -1: none
    snwSurfaceKind* shellKinds; // by piece
    int* shellBones;            // by piece that is rigid: bone of the rig that it is rigid with, -1: with flesh
} snwRestSurface;

static inline bool snwRestSurface_IsFlesh(const snwRestSurface* surface, int vertex)
{
    return !surface->left && surface->shellKinds[surface->shellOf[surface->weld.map[vertex]]] == snw_surfaceSoft;
}

// A joint of a skin or a handle of a bundle.
typedef struct snwRigBone
{
    const char* name;
    int node;       // of the asset, -1: none
    int column;     // of weights and motions of a bundle, -1: none
    int parent;     // in the rig; -1: a root
    snwAffine bind; // where it is in the rest pose
    snwVec3 head, tail;
    double radius;
    double weight; // of all vertices that follow it
    bool point;    // a handle without length
    bool kept;
    int bone; // number in the character, -1: none
    snwBoneSetting setting;
} snwRigBone;

// Why a node is a bone of the rig.
typedef enum snwBound
{
    snw_boundNot,
    snw_boundJoint,   // of a skin
    snw_boundCarrier, // an animation moves it, and meshes without a skin hang on it
} snwBound;

// Rows of sparse weights, of bones of the rig.
typedef struct snwRigWeights
{
    int* starts; // NULL: there are none
    int* bones;
    double* values;
} snwRigWeights;

typedef struct snwPreparer
{
    snwContext* context;
    snwArena arena;
    const char* path;
    const snwPrepareDef* def;
    snwPrepareSettings settings;
    const snwAsset* asset;
    uint64_t sourceHash;
    snwPrepareReport* report;
    snwMessage* message;

    const snwAffine* nodes; // where the nodes of the asset are, in its unit
    snwAffine* binds;       // of the nodes that are joints: their rest pose, m
    uint8_t* bound;         // which are: snwBound
    double scale;
    double size; // m, diagonal of all surfaces

    snwRestSurface* surfaces;
    int surfaceCount;

    snwRigBone* rig;
    int rigCount;
    int* rigOfNode;         // of the asset, -1: none
    snwRigWeights* weights; // by surface

    snwVec3* fleshVertices; // of all soft pieces, welded
    int fleshVertexCount;
    int (*fleshTriangles)[3];
    int fleshTriangleCount;
    int* fleshSurface; // by triangle
    int* fleshSource;  // by vertex: surface
    int* fleshVertex;  // by vertex: a vertex of the mesh of that surface
    int* fleshPart;    // by triangle: part of the mesh
    snwSoup* flesh;

    snwTetMesh body;
    int ownSurface;    // whose elements the body has; -1: they are new
    int* ownVertices;  // by vertex of such a body: vertex of that mesh
    const int* labels; // by element, of the file; NULL
    // Where elements joined limbs and were parted (limbs.c); else all NULL.
    bool* copies;      // by vertex: is it one at the place of another?
    snwTetMesh* whole; // the body before; its vertices are the first ones of the body
    int* pieces;       // by element of that, and the end: the first element of the body that it became
    int* elementBones; // by element: bone of the character, -1: flesh
    int* vertexBones;

    snwBoneDef* bones;
    int* boneRig; // bone of the rig for each
    int boneCount;
    snwJointDef* joints;
    int jointCount;
    snwMotionDef* motions;
    int motionCount;
    int* motionShapes;       // by motion: the animation whose morphs move its vertices, -1: the cache
    snwAsset* cache;         // NULL: none; closed by the preparer
    snwWeights* boneWeights; // freed by the preparer

    snwMaterial* materials;
    int materialCount;
    int* regions;
    float color[3];

    snwTexture* textures;
    int* textureOf; // by image of the document: texture, -1: none
    int textureCount;
} snwPreparer;

void snwPreparer_Note(snwPreparer* preparer, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Room in the arena; NULL without memory, which the message then says.
void* snwPreparer_Alloc(snwPreparer* preparer, int64_t count, size_t size);

// Path of NAME.sinew.json for NAME.glb; false if there is none.
bool snwPreparer_FindSidecar(const snwPreparer* preparer, char* path, size_t capacity);

// Steps, each in the file of its name.
snwResult snwPreparer_FindRest(snwPreparer* preparer);      // rest.c: surfaces, places, scale
snwResult snwPreparer_FindRig(snwPreparer* preparer);       // rig.c: bones of the file, weights of surfaces
snwResult snwPreparer_SortSurfaces(snwPreparer* preparer);  // kinds.c: soft, carried or rigid
snwResult snwPreparer_MakeBody(snwPreparer* preparer);      // body.c
snwResult snwPreparer_PartLimbs(snwPreparer* preparer);     // limbs.c: no element joins limbs that are apart
snwResult snwPreparer_ChooseBones(snwPreparer* preparer);   // bones.c: segments, radii, regions, merging
snwResult snwPreparer_MakeWeights(snwPreparer* preparer);   // weights.c
snwResult snwPreparer_MakeMotions(snwPreparer* preparer);   // motions.c; also the rules of joints
snwResult snwPreparer_MakeJoints(snwPreparer* preparer);    // joints.c
snwResult snwPreparer_MakeMaterials(snwPreparer* preparer); // materials.c
snwResult snwPreparer_Finish(snwPreparer* preparer, snwPrepared** prepared); // surfaces.c

// shapes.c: what an animation (-1: the cache) does to the vertices of the body at these times; 0 samples: nothing.
snwResult snwPreparer_ShapeMotion(
    snwPreparer* preparer, int animation, const double* times, int count, snwVertexTrackDef* track);
// What surfaces need beyond that, into their tracks.
snwResult snwPreparer_DetailSurfaces(snwPreparer* preparer, snwPrepared* prepared, snwSurfaceInfo* infos);
snwResult snwPreparer_OpenCache(snwPreparer* preparer);

// The material of a part of a mesh, by its number among the parts of all surfaces; "": it has none.
const char* snwPreparer_PartMaterial(const snwPreparer* preparer, int index); // materials.c

// The bone of the character that a bone of the rig became or was merged into; -1: none.
int snwPreparer_BoneOf(const snwPreparer* preparer, int rig);

// The number of a picture of the glTF document among the textures, read when it is first asked for; -1: none, with a
// note.
snwResult snwPreparer_Texture(snwPreparer* preparer, int image, int* texture); // pictures.c
// A picture beside the source; its pixels are the arena's.
snwResult snwPreparer_ReadPicture(snwPreparer* preparer, const char* name, snwTexture* texture);
// Linear colour and texture of a material of the glTF document; white without one.
typedef struct snwMaterialLook
{
    float color[3];
    int texture; // -1: none
} snwMaterialLook;
snwResult snwPreparer_Look(snwPreparer* preparer, int mesh, int part, snwMaterialLook* look);
