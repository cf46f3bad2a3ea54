// What sinew-draco is asked and what it answers, little-endian.
//
//   asked     int magic; int seconds; int megabytes; int bytes, the compressed part;
//             int size of an index (1, 2, 4 bytes); int attributes, each: int unique id, int component (glTF's
//             componentType), int width; int magic
//   answered  int magic, then either
//     snw_dracoFailed: int length, words, or
//     snw_dracoDone: int vertices; int corners, each an index; the attributes, packed as they were asked for; int magic

#pragma once

enum
{
    snw_dracoAsked = 0x51574e53,  // "SNWQ"
    snw_dracoDone = 0x44574e53,   // "SNWD"
    snw_dracoFailed = 0x46574e53, // "SNWF"
};
