// What sinew-import tells its parent, little-endian: one block, made of the parts below in their order.
//
//   int magic, then either
//     snw_importFailed: text (why), or
//     snw_importScene: real scale (m per unit, 0: not said), nodes, meshes, animations, int magic again
//   nodes       int count; each: text name, int parent, 12 reals (rows of the linear part, translation), int mesh
//   meshes      int count; each: text name, text material, int vertices, int flags, then float32 arrays: positions (3),
//               normals (3), texcoords (2), colours (4) as flagged; int triangles, int32 x 3 each; int bones; each: int
//               node, 12 reals (inverse bind), int weights, int32 vertex and float32 weight each
//   animations  int count; each: text name, int channels; each: int node, then for translation, rotation (x y z w) and
//               scale: int keys, reals: times (s), reals: values
//   text        int length, bytes

#pragma once

enum
{
    snw_importScene = 0x49574e53,  // "SNWI"
    snw_importFailed = 0x45574e53, // "SNWE"
    snw_importNormals = 1,
    snw_importTexcoords = 2,
    snw_importColors = 4,
};
