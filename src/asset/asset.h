// What a file holds: meshes, nodes, skins, animations, point caches, weights, handles - as it says it, after repair,
// before anything is prepared. One struct for every format; a format fills what it has.
//
// Readers take bytes that may be hostile: sizes are limited, every number is finite and every index checked before
// anyone else sees it. What real exporters get wrong is repaired and told in a note; what makes no sense is an error
// with its place and a remedy.

#pragma once

#include "base/arena.h"
#include "math/transform.h"

enum
{
    snw_maxAssetBytes = 1 << 30,     // of one file
    snw_maxAssetVertices = 50000000, // of one file; also triangles, tets, and frames times points / 16
    snw_maxAssetNodes = 100000,      // also bones, handles, animations
    snw_maxAssetNotes = 256,         // further ones are counted only
};

// ---------------------------------------------------------------------------------------------------------------------
// Notes: what was not as it should be, and what was done about it

typedef enum snwAssetNoteKind
{
    snw_noteRepaired, // changed so that it makes sense
    snw_noteLeftOut,  // read over: nothing here can use it
    snw_noteOdd,      // kept, but worth a look
} snwAssetNoteKind;

typedef struct snwAssetNote
{
    snwAssetNoteKind kind;
    int64_t count;  // how many things it is about, >= 1
    char place[96]; // "mesh 'fox', part 0", "line 14"; of the first one
    char text[192]; // "weights that did not sum to one were normalised"
} snwAssetNote;

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

// Triangles of a mesh that belong together: a glTF primitive, or an OBJ group with one material. Both ranges are
// contiguous; vertices of parts do not overlap unless the format shares them between parts.
typedef struct snwAssetPart
{
    const char* name;
    const char* material; // "" if none
    int firstVertex, vertexCount;
    int firstTriangle, triangleCount;
} snwAssetPart;

// Sparse influences of bones or handles, one row per vertex: entries starts[i] .. starts[i + 1].
typedef struct snwAssetWeights
{
    const int* starts; // vertexCount + 1; NULL: no weights
    const int* bones;  // joint of the skin, or handle; rising within a row
    const double* values;
    int boneCount;
} snwAssetWeights;

typedef struct snwAssetMorph
{
    const char* name;
    const float (*positions)[3]; // offsets, one per vertex; NULL: none
    const float (*normals)[3];
    double weight; // at rest
} snwAssetMorph;

// In the order of the file, with the vertices as the file splits them. Arrays that a format lacks are NULL.
typedef struct snwAssetMesh
{
    const char* name;
    const snwVec3* positions;
    int vertexCount;
    const float (*normals)[3];
    const float (*texcoords)[2]; // u from the left, v from the top
    const float (*colors)[4];    // linear, with alpha
    const int (*triangles)[3];   // polygons are cut into triangles
    int triangleCount;
    const int (*tets)[4]; // as the file orders them: volumes may be negative where the format allows it
    int tetCount;
    const int (*hexes)[8]; // VTK's order, as in snwCharacterDef
    int hexCount;
    const int (*edges)[2]; // lines of the file
    int edgeCount;
    const int* vertexLabels;   // of MEDIT, TetGen: references, markers, attributes
    const int* triangleLabels; //
    const int* tetLabels;      //
    const int* hexLabels;
    const snwAssetPart* parts; // at least one if there are triangles
    int partCount;
    snwAssetWeights weights;
    const snwAssetMorph* morphs;
    int morphCount;
} snwAssetMesh;

// ---------------------------------------------------------------------------------------------------------------------
// Nodes, skins, animations (glTF's model of them; other formats are brought to it)

typedef struct snwAssetPose
{
    snwVec3 translation;
    snwQuat rotation; // unit
    snwVec3 scale;
} snwAssetPose;

// Parents may come in any order; there are no circles.
typedef struct snwAssetNode
{
    const char* name;
    int parent; // -1: a root
    snwAssetPose pose;
    bool sheared;              // the file gave a matrix that is no pose: `local` holds it, `pose` is the nearest
    snwAffine local;           // to the parent; what pose says unless sheared
    int mesh;                  // -1: none
    int skin;                  // -1: none
    const float* morphWeights; // NULL: the mesh's own
    int morphCount;
} snwAssetNode;

typedef struct snwAssetSkin
{
    const char* name;
    const int* joints;             // nodes
    const snwAffine* inverseBinds; // one per joint
    int jointCount;
    int root; // node, -1: not said
} snwAssetSkin;

typedef enum snwAssetPath
{
    snw_pathTranslation,
    snw_pathRotation,
    snw_pathScale,
    snw_pathMorphs,
} snwAssetPath;

typedef enum snwAssetInterpolation
{
    snw_assetStep,
    snw_assetLinear,
    snw_assetCubic, // per key: in-tangent, value, out-tangent
} snwAssetInterpolation;

typedef struct snwAssetChannel
{
    int node;
    snwAssetPath path;
    snwAssetInterpolation interpolation;
    const double* times; // s, rising
    int keyCount;
    int width;            // numbers per value: 3, 4 or the number of morphs
    const double* values; // keyCount * width, three times that for cubic
} snwAssetChannel;

typedef struct snwAssetAnimation
{
    const char* name;
    const snwAssetChannel* channels;
    int channelCount;
    double start, end; // s, over all channels
} snwAssetAnimation;

// ---------------------------------------------------------------------------------------------------------------------
// The rest

typedef enum snwAssetHandleKind
{
    snw_assetPointHandle,
    snw_assetBoneHandle, // from point a to point b
    snw_assetPseudoEdge, // a line between two points that are handles themselves
    snw_assetCageEdge,
} snwAssetHandleKind;

typedef struct snwAssetHandle
{
    snwAssetHandleKind kind;
    int a, b; // points; b -1 for a point
} snwAssetHandle;

// Positions over time: PC2, MDD.
typedef struct snwAssetCache
{
    int frameCount, pointCount;
    const float* positions; // frameCount * pointCount * 3, as in the file (usually Z up)
    const double* times;    // s for MDD; for PC2, which has no seconds, frames
} snwAssetCache;

// One rigid transform per handle and frame, libigl's animation text: snwTransform_Apply takes a point that hangs on the
// handle from where it rests to where it is then, as skinning wants it.
typedef struct snwAssetHandleMotion
{
    int handleCount, frameCount;
    const snwTransform* transforms; // [frame * handleCount + handle]
    const double* times;            // s if the bundle says how long a frame is, else frames
} snwAssetHandleMotion;

// A rigid bone that owns a region of the mesh.
typedef struct snwAssetBone
{
    snwBoneDef def;
    int label; // of the tets, triangles or hexes that are rigid with it
} snwAssetBone;

// What a bundle says about the flesh; 0 or "" where it says nothing.
typedef struct snwAssetFlesh
{
    double young;      // Pa
    double poisson;    // 0 .. 0.5
    double timeStep;   // s, also from frame to frame of the handles' motion
    double scale;      // the publishers' programs read it and use it nowhere
    const char* model; // "arap", "neohookean" ...
} snwAssetFlesh;

// A point inside of a closed surface that says what is around it: of TetGen's .poly and .smesh.
typedef struct snwAssetSeed
{
    snwVec3 point;
    bool hole;        // nothing is there; else a region
    double attribute; // of the region
    double maxVolume; // of a tet of the region, in the file's unit; <= 0: any
} snwAssetSeed;

typedef struct snwAssetMatrix
{
    int rows, columns;
    const double* values; // by columns
} snwAssetMatrix;

typedef enum snwAssetFormat
{
    snw_assetUnknown,
    snw_assetGltf, // .gltf and .glb
    snw_assetObj,
    snw_assetPly,
    snw_assetMedit,
    snw_assetTetgen, // .node .ele .face .smesh .poly
    snw_assetTgf,
    snw_assetDmat,
    snw_assetHandleText, // libigl's skeleton animation
    snw_assetJoint,      // joints of bone regions, paper 000 section 5
    snw_assetBundle,     // JSON that names a mesh with its handles, weights and animation
    snw_assetPc2,
    snw_assetMdd,
    snw_assetScene, // FBX, DAE, BVH ... through assimp, where the build has it
    snw_assetFormatCount,
} snwAssetFormat;

typedef struct snwAsset
{
    snwContext* context;
    snwArena arena; // of everything below
    snwAssetFormat format;
    const char* name; // of the file without folder and ending
    double scale;     // metres per unit of the file if it says so, else 0

    snwAssetMesh* meshes;
    int meshCount;
    snwAssetNode* nodes;
    int nodeCount;
    snwAssetSkin* skins;
    int skinCount;
    snwAssetAnimation* animations;
    int animationCount;

    snwVec3* points; // of handles
    int pointCount;
    snwAssetHandle* handles;
    int handleCount;
    int movedHandleCount; // the first ones, points and bones: columns of weights and handles of motions
    snwAssetBone* bones;  // of regions
    int boneCount;
    snwJointDef* joints; // of those bones
    int jointCount;
    snwAssetFlesh flesh;
    snwAssetSeed* seeds;
    int seedCount;
    snwAssetMatrix matrix;
    snwAssetCache cache;
    snwAssetHandleMotion handleMotion;

    struct snwGltf* gltf; // the whole document, for writing it back; NULL for other formats

    snwAssetNote* notes;
    int noteCount;
    int64_t notesLost; // beyond snw_maxAssetNotes
} snwAsset;

// ---------------------------------------------------------------------------------------------------------------------
// Reading

// Files beside the one that is read, by the relative name that it gives. Names with "..", a root, a drive, a scheme or
// a link out of the folder are refused. *data goes back through snwFree.
typedef struct snwAssetFolder
{
    snwResult (*read)(
        void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message);
    void* user;
} snwAssetFolder;

// The folder in which the file lies; the path must outlive it.
snwAssetFolder snwAssetFolder_Of(const char* path);

typedef struct snwAssetInput
{
    const char* name; // of the file, for messages and for formats told by their ending
    const char* data; // a zero follows the last byte
    size_t size;
    const snwAssetFolder* folder; // NULL: the file stands alone
} snwAssetInput;

typedef struct snwAssetReader
{
    snwAssetFormat format;
    const char* title;   // "Wavefront OBJ"
    const char* endings; // ".obj", several with blanks between
    // Fills the zeroed asset from its arena. After an error the caller frees what there is.
    snwResult (*read)(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
} snwAssetReader;

// By ending; NULL if no format has it. The list is in asset_formats.c.
const snwAssetReader* snwAssetReader_Find(const char* path);
const snwAssetReader* snwAssetReader_Get(int index); // NULL ends the list
// Is there a reader for the file? Of JSON files bundles are meant, for which it is opened: not scenes or blueprints.
bool snwAsset_IsOne(snwContext* context, const char* path);

// Reads a file; files that it names must lie in its folder. On errors *asset is NULL.
snwResult snwAsset_Open(snwContext* context, const char* path, snwAsset** asset, snwMessage* message);
// The same from memory, with the reader of the name's ending.
snwResult snwAsset_Read(snwContext* context, const snwAssetInput* input, snwAsset** asset, snwMessage* message);
void snwAsset_Close(snwAsset* asset); // NULL is allowed

// Whether the surface of a node stands still beside others that follow bones: a floor, a backdrop. No joint and no clip
// moves its node, those above it or its shape.
bool snwAsset_IsScenery(const snwAsset* asset, int node);
// What a person calls a mesh that a node (-1: none) shows: the name of the node, of the mesh, or of the nearest node
// above that has one.
const char* snwAsset_NameSurface(const snwAsset* asset, int mesh, int node);

// For readers
// ----------------------------------------------------------------------------------------------------------

// Zeroed room in the asset's arena; NULL without memory, or if count is beyond snw_maxAssetVertices * 16.
void* snwAsset_Alloc(snwAsset* asset, int64_t count, size_t size);

// Adds a note; one of the same kind and text only counts up. place may be "".
void snwAsset_Note(snwAsset* asset, snwAssetNoteKind kind, const char* place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// The same about several things at once; nothing if count is 0.
void snwAsset_NoteMany(snwAsset* asset, snwAssetNoteKind kind, int64_t count, const char* place, const char* format,
    ...) __attribute__((format(printf, 5, 6)));

// A name from a file, in the arena: cut to 200 bytes; control characters and what is no UTF-8 become '?'.
const char* snwAsset_Text(snwAsset* asset, const char* text, int size);

// Pose and matrix of a node from its matrix; says whether that is sheared.
void snwAssetNode_SetLocal(snwAssetNode* node, snwAffine local);
