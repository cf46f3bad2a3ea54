// Skinning: vertices that follow their handles by linear blending or dual quaternions.
//
// Rest shape and weights are put once into blocks of eight vertices, entry by entry: the model, immutable and shared. A
// block lists the handles of all its vertices together, each with eight weights of which some may be zero; a handle's
// numbers are then the same for all lanes and nothing is gathered. Vertices are sorted by their handles first, so that
// those of a block follow nearly the same ones. Rejected: eight lists side by side, whose gathering of matrices costs
// twice as much as the blending.
//
// A palette holds the handles of one pose in the kernels' form; it is small, and whoever skins has one. Results do not
// depend on the number of threads or the instruction set.
//
// Numbers are float, taken about the middle of the rest shape and about the middle of where the handles take it, so
// that errors scale with the size of the character and not with its distance from the world's origin.

#pragma once

#include "base/context.h"
#include "math/transform.h"

enum
{
    SNW_SKIN_LANES = 8
};

typedef struct snwSkinBlock
{
    _Alignas(32) float position[3][SNW_SKIN_LANES]; // m, from the model's centre
    float normal[3][SNW_SKIN_LANES];                // 0 without normals
    int vertex[SNW_SKIN_LANES];                     // lanes beyond the last vertex repeat it
    int pivot[SNW_SKIN_LANES];                      // row of the heaviest handle in a palette: 4 times its index
    int firstInfluence, influenceCount;
} snwSkinBlock;

typedef struct snwSkinInfluence
{
    _Alignas(32) float weight[SNW_SKIN_LANES];
    int handle;
} snwSkinInfluence;

typedef struct snwSkinModel
{
    snwSkinBlock* blocks;
    snwSkinInfluence* influences;
    int vertexCount, blockCount, handleCount;
    bool hasNormals;
    snwVec3 centre; // m, of the rest positions
} snwSkinModel;

// A handle of a pose: three rows of four and a fourth of zeros, or the real and the dual part of a unit dual
// quaternion.
typedef struct snwSkinHandle
{
    _Alignas(64) float rows[4][4];
} snwSkinHandle;

typedef struct snwSkinPalette
{
    snwSkinningKind kind;
    snwSkinHandle* handles;
    int handleCount;
    float origin[3]; // m, added to what the kernels compute
} snwSkinPalette;

snwResult snwSkinModel_Create(
    snwContext* context, const snwSkinningDef* def, snwSkinModel** model, snwMessage* message);
void snwSkinModel_Destroy(snwContext* context, snwSkinModel* model);

snwResult snwSkinPalette_Create(snwContext* context, int handleCount, snwSkinPalette* palette, snwMessage* message);
void snwSkinPalette_Free(snwContext* context, snwSkinPalette* palette);

// Refuses poses with another number of handles, numbers that are not finite or beyond 1e9 m, and quaternions of length
// 0; others are normalised.
snwResult snwSkinPalette_Set(
    snwSkinPalette* palette, const snwSkinModel* model, const snwSkinningPose* pose, snwMessage* message);

// In parallel; needs a palette that was set for this model.
void snwSkinModel_Apply(
    snwContext* context, const snwSkinModel* model, const snwSkinPalette* palette, const snwSkinningTarget* target);

// Blocks from begin to end.
typedef void snwSkinKernelFn(
    const snwSkinModel* model, const snwSkinPalette* palette, const snwSkinningTarget* target, int begin, int end);

typedef struct snwSkinKernels
{
    snwSkinKernelFn* linear;
    snwSkinKernelFn* dualQuaternion;
} snwSkinKernels;

const snwSkinKernels* snwSkin_Kernels(snwSimd simd); // never NULL: resolved as by snwSimd_Resolve

// One table per instruction set; NULL where the build does not have it.
const snwSkinKernels* snwSkin_KernelsAvx2(void);
const snwSkinKernels* snwSkin_KernelsBase(void);
const snwSkinKernels* snwSkin_KernelsScalar(void);
