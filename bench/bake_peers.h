// What other programs read in a baked file.

#pragma once

typedef struct snwBakeShown
{
    const char* file;   // baked
    const char* cache;  // a PC2 of the same frames of its one surface, Y up; "": none
    const char* folder; // for what is left behind on the way
    const char* clip;
    double rate, start; // 1/s; s, in the clip, of the first frame
    int frames;
} snwBakeShown;

// Errors that Khronos' validator finds; NAN: it is not here.
double snwBakePeer_Validate(const char* path);

// The farthest that a vertex is from the cache in any frame, in the unit of the file; NAN: the note says why.
double snwBakePeer_Blender(const snwBakeShown* shown, char note[160]);
double snwBakePeer_Three(const snwBakeShown* shown, char note[160]);
