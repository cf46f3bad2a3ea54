// Inside the reader of MEDIT's meshes: what text and binary files share.

#pragma once

#include "asset/draft.h"
#include "asset/scan.h"

typedef struct snwMeditSection
{
    const char* word;
    int code;           // in binary files
    int corners;        // in a row, before its label; 0: vertices
    int taken;          // of them: the rest lies between the corners, on the curved elements of some solvers
    const char* corner; // for messages
} snwMeditSection;

enum
{
    snw_meditDimension = 3, // codes of words that are no sections
    snw_meditEnd = 54,
};

// By word (in any case) or, with a word of size 0, by code; NULL: none that is of use.
const snwMeditSection* snwMedit_FindSection(snwWord word, int code);

// Takes down an element; corners count from 0.
void snwMedit_AddElement(snwDraft* draft, const snwMeditSection* section, const int* corners, int label, int place);
void snwMedit_AddVertex(snwDraft* draft, const double* row, int dimension, int label);
// What is true of a section as a whole.
void snwMedit_NoteSection(snwDraft* draft, const snwMeditSection* section, int64_t count);

bool snwMedit_IsBinary(const char* data, size_t size);
snwResult snwMedit_ReadBinary(const char* data, size_t size, snwDraft* draft, snwMessage* message);
