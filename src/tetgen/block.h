// What sinew-tetgen is asked and what it answers, little-endian; reals are doubles.
//
//   asked     int magic; int seconds; int megabytes; real most (m^3, of a tet; 0: any); real ratio (of radius
//             to shortest edge, 0: any); int points, 3 reals each; int triangles, 3 ints each; int magic
//   answered  int magic, then either
//     snw_tetgenFailed: int code, what TetGen threw, or
//     snw_tetgenDone: int points, 3 reals each, those asked about first; int tets, 4 ints each; int magic

#pragma once

enum
{
    snw_tetgenAsked = 0x54574e53,  // "SNWT"
    snw_tetgenDone = 0x44574e53,   // "SNWD"
    snw_tetgenFailed = 0x46574e53, // "SNWF"
    snw_tetgenMemory = -1,         // codes that are ours, not TetGen's
    snw_tetgenNonsense = -2,
};
