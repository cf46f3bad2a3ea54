// Writes glTF: a document that was read passes through whole - every key, extra, unknown extension, picture and byte -
// and what is added comes behind it; or a new document is made. Nothing is renumbered, so whatever points into the
// document, extensions that we do not know included, still points at the same thing.
//
//   snwGltfWriter* writer;
//   snwResult result = snwGltfWriter_Open(context, asset->gltf, &writer, message);
//   ...
//   snwGltfWriter_AddMorphs(writer, &morphs);
//   snwGltfWriter_AddAnimation(writer, &animation);
//   result = snwGltfWriter_Save(writer, &save, message);
//   snwGltfWriter_Close(writer);
//
// Failing is sticky: after the first failure (no memory, a number that is not finite, an index that is not there)
// further calls do nothing and return -1; Save and GetResult tell what it was.

#pragma once

#include "asset/gltf.h"

typedef struct snwGltfWriter snwGltfWriter;

// source: passed through; it must outlive the writer and is not changed. NULL: a new document.
snwResult snwGltfWriter_Open(snwContext* context, const snwGltf* source, snwGltfWriter** writer, snwMessage* message);
void snwGltfWriter_Close(snwGltfWriter* writer); // NULL is allowed
// ok, or the first failure with its message.
snwResult snwGltfWriter_GetResult(const snwGltfWriter* writer, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Data. All functions that add something return its index in the document, or -1.

typedef enum snwGltfUse
{
    snw_gltfOther,
    snw_gltfVertices, // rows start at multiples of 4 bytes
    snw_gltfIndices,
} snwGltfUse;

typedef struct snwGltfData
{
    const void* values; // packed, count * snwGltfType_Width(type) components; floats must be finite
    int count;          // >= 1
    snwGltfType type;   // no Mat2, no Mat3
    snwGltfComponent component;
    bool normalized;
    bool bounds; // with min and max: positions and times need them
    snwGltfUse use;
} snwGltfData;

int snwGltfWriter_AddAccessor(snwGltfWriter* writer, const snwGltfData* data);
int snwGltfWriter_AddView(snwGltfWriter* writer, const void* data, size_t size); // a picture, say

// How many things the list ("nodes", "meshes", "animations" ...) has by now.
int snwGltfWriter_Count(const snwGltfWriter* writer, const char* list);
void snwGltfWriter_Rename(snwGltfWriter* writer, const char* list, int index, const char* name);

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

// How the numbers of morph targets are written. All but floats and dense ones are sparse - vertices that a target
// leaves alone cost nothing - and need KHR_mesh_quantization. Numbers must be such that nothing is rounded.
typedef enum snwGltfNumbers
{
    snw_gltfFloats,
    snw_gltfSparse, // floats; normals are multiples of 1/127 up to 1
    snw_gltfShorts, // positions are multiples of 1/32767 up to 1, normals of 1/127
    snw_gltfWhole,  // positions are whole numbers up to 32767; no normals
    snw_gltfDense,  // as shorts, but all vertices: what snwGltfWriter_Pack makes smallest
} snwGltfNumbers;

// Morph targets behind those that the mesh has, for all its primitives. Weights of nodes and keys of animations that
// drive the mesh get the new targets' rest weights, for their counts must fit. Names go to extras.targetNames, as
// everyone does. Offsets are in the space of the mesh, which is bind space under a skin.
typedef struct snwGltfMorphDef
{
    int mesh;
    const snwAssetMorph* morphs; // positions are needed; normals only go to primitives that have some
    int morphCount;
    const snwAssetPart* parts; // one per primitive: where its vertices begin in the morphs' arrays (none, and it gets
                               // zeros). NULL: primitives follow each other there
    snwGltfNumbers numbers;
} snwGltfMorphDef;

// Returns the number of the first one within the mesh.
int snwGltfWriter_AddMorphs(snwGltfWriter* writer, const snwGltfMorphDef* def);

// A key that holds the morphs of the node at rest, in every animation that does not drive them but `except` (-1: none):
// some players leave the weights of the clip before where they were.
void snwGltfWriter_HoldMorphs(snwGltfWriter* writer, int node, int except);

// Sets or replaces "NORMAL", "JOINTS_1", "_SNW_VERTEX" ...: as many elements as there are positions. accessor -1
// removes it.
void snwGltfWriter_SetAttribute(snwGltfWriter* writer, int mesh, int primitive, const char* semantic, int accessor);
// Vertices of the primitive; 0 if there is none such.
int snwGltfWriter_VertexCount(const snwGltfWriter* writer, int mesh, int primitive);

// Numbers of the artist's vertices as the attribute _SNW_VERTEX, one per vertex, 0 .. 2^24. They are floats, since
// glTF forbids 32-bit integers here.
void snwGltfWriter_SetVertexIds(snwGltfWriter* writer, int mesh, int primitive, const int* ids, int count);

typedef struct snwGltfMaterialDef
{
    const char* name;
    float color[4]; // linear
    int image;      // -1: none
    double roughness;
    bool doubleSided;
} snwGltfMaterialDef;

snwGltfMaterialDef snwDefaultGltfMaterialDef(void);
int snwGltfWriter_AddMaterial(snwGltfWriter* writer, const snwGltfMaterialDef* def);
int snwGltfWriter_AddImage(snwGltfWriter* writer, const char* name, const void* png, size_t size);
int snwGltfWriter_AddTexture(snwGltfWriter* writer, const char* name, const snwTexture* texture); // as an image

enum
{
    snw_mostGltfInfluences = 16 // of a vertex, in sets of four
};

// The triangles of a mesh as the asset has them: a primitive per part, with normals, texture coordinates, colours,
// weights (the `influences` largest of a vertex, made to sum to one; 4 is what everything plays) and morphs.
typedef struct snwGltfMeshDef
{
    const snwAssetMesh* mesh;
    const int* materials; // one per part, -1: none; NULL: none at all
    int influences;       // 1 .. snw_mostGltfInfluences
    bool smooth;          // kept influences are less by the largest that is left out: farther off, but without a crease
} snwGltfMeshDef;

int snwGltfWriter_AddMesh(snwGltfWriter* writer, const snwGltfMeshDef* def);

// ---------------------------------------------------------------------------------------------------------------------
// Nodes, skins, animations

typedef struct snwGltfNodeDef
{
    const char* name;
    int parent; // -1: a root of the scene that is shown
    snwAssetPose pose;
    int mesh, skin; // -1: none
} snwGltfNodeDef;

snwGltfNodeDef snwDefaultGltfNodeDef(void);
int snwGltfWriter_AddNode(snwGltfWriter* writer, const snwGltfNodeDef* def);

int snwGltfWriter_AddSkin(snwGltfWriter* writer, const snwAssetSkin* skin);
// Joints behind those that the skin has; their numbers go on from there. Nodes must not be joints of it already.
void snwGltfWriter_AddJoints(snwGltfWriter* writer, int skin, const snwAssetSkin* more);

// Times rise as floats, too, from 0 on. A node with a matrix is given its parts first, as glTF wants of animated ones;
// rotations are unit or made so. start and end of the animation do not matter.
int snwGltfWriter_AddAnimation(snwGltfWriter* writer, const snwAssetAnimation* animation);
// Channels for an animation that is there; what drove the same property of the same node does so no more. The name does
// not matter.
void snwGltfWriter_ExtendAnimation(snwGltfWriter* writer, int index, const snwAssetAnimation* more);

// The node's mesh is no longer bent by a skin: the node moves it.
void snwGltfWriter_RemoveSkin(snwGltfWriter* writer, int node);

// ---------------------------------------------------------------------------------------------------------------------
// A character of ours: its skin as a mesh in the rest pose, its bones as nodes, its motions as animations; or other
// joints in the place of its bones, to be moved by an animation that is added behind.

typedef struct snwGltfJoint
{
    const char* name;
    int parent;   // -1: none; no circles
    snwVec3 rest; // m: where it is in the rest pose, with the axes of the world
} snwGltfJoint;

typedef struct snwGltfCharacterDef
{
    const snwCharacter* character;
    const snwAssetWeights* weights; // one row per vertex of the character; NULL: by the distance to the bones
    const snwAssetMesh* surface;    // shown instead, with weights of its own, if there are joints; NULL: its skin
    int influences;                 // 1 .. snw_mostGltfInfluences
    double rate;                    // keys of motions per second, 1 .. 1000
    const snwGltfJoint* joints;     // NULL: its bones and motions. They need weights, which may leave some out
    int jointCount;
    int* nodes; // out: the node of each joint; NULL: not wanted
} snwGltfCharacterDef;

// Only its bones: a node per bone with the axes of the world, all under one node, for a skin's joints need a common
// root; and a skin of them. nodes: one per bone. Returns the skin.
int snwGltfWriter_AddBones(snwGltfWriter* writer, const snwCharacter* character, int* nodes);

snwGltfCharacterDef snwDefaultGltfCharacterDef(const snwCharacter* character);
// Returns the node of its mesh.
int snwGltfWriter_AddCharacter(snwGltfWriter* writer, const snwGltfCharacterDef* def);

// ---------------------------------------------------------------------------------------------------------------------
// Out

typedef enum snwGltfForm
{
    snw_gltfGlb,      // one binary file
    snw_gltfEmbedded, // one text file with the bytes inside as base64
    snw_gltfFiles,    // a text file, and its buffers as NAME.bin (NAME-1.bin ...) beside it
} snwGltfForm;

typedef struct snwGltfSave
{
    const char* path;
    snwGltfForm form;
    bool overwrite;
} snwGltfSave;

// Pictures that lie beside the source move into the document, so that it stands alone; those that cannot be read, or
// are of a kind nobody knows, keep their names. Returns how many bytes moved.
size_t snwGltfWriter_EmbedImages(snwGltfWriter* writer, const snwAssetFolder* folder);

// snw_gltfGlb for .glb, snw_gltfEmbedded for .gltf, by the ending.
snwGltfSave snwDefaultGltfSave(const char* path);

// The last thing before saving, to be called once. Bytes that only replaced attributes, bind matrices and keys used are
// left out. compress: with EXT_meshopt_compression, to the same numbers; triangles may begin with another corner.
void snwGltfWriter_Pack(snwGltfWriter* writer, bool compress);

// Files appear whole or not at all, the text after its .bin files. May be called again.
snwResult snwGltfWriter_Save(snwGltfWriter* writer, const snwGltfSave* save, snwMessage* message);
// The same into memory, freed with snwFree; not for snw_gltfFiles.
snwResult snwGltfWriter_Write(
    snwGltfWriter* writer, snwGltfForm form, unsigned char** data, size_t* size, snwMessage* message);
