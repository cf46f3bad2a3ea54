// Looks at pictures as a viewer would: is there something to see, is it too bright, does it move?

#pragma once

#include "sinew/tools.h"
#include "view/image.h"

// The part of a picture that it is about.
typedef struct snwSubject
{
    double share;                 // of the pixels
    int left, top, right, bottom; // box around it, pixels; right and bottom are just outside. Empty: all 0
} snwSubject;

// From the picture alone: what differs from the ground and wall at the left and right border of its row. Shadows
// count. For pictures of the renderer, which knows what it drew, ask snwRenderer_Subject instead.
snwSubject snwSubject_Guess(const snwImage* image);

typedef struct snwInspector
{
    snwContext* context;
    snwImage previous;
    snwFilmCheck check;
    snwSubject all; // box around the subjects of all frames
    double shares;  // sum
} snwInspector;

// Begin with {.context = context}; free at the end. A frame of another size counts as a change.
snwResult snwInspector_Add(
    snwInspector* inspector, const snwImage* image, const snwSubject* subject, snwMessage* message);
snwFilmCheck snwInspector_End(const snwInspector* inspector);
void snwInspector_Free(snwInspector* inspector);

// One line for people about the worst fault; "" if there is none.
int snwFilmCheck_Format(const snwFilmCheck* check, char* text, size_t capacity);

// A PNG file, or a folder of them in the order of their names.
snwResult snwInspectFiles(snwContext* context, const char* path, snwFilmCheck* check, snwMessage* message);
