// The page's own files, read once at the start: a request can only name one of them, whatever path it tries.

#pragma once

#include "base/array.h"

typedef struct snwPage
{
    char* path; // "/assets/index.js"
    const char* type;
    unsigned char* data;
    size_t size;
} snwPage;

typedef struct snwPages
{
    snwContext* context;
    snwArray(snwPage) list;
    size_t bytes;
} snwPages;

// The folder of the built page: $SINEW_WEB, share/sinew/web beside the program's folder, build/web of the source tree,
// or where it was installed; NULL: none. buffer: 4096 bytes.
const char* snwPages_Folder(char* buffer, size_t capacity);
// folder may be NULL: then there is one page that says how to build the others.
snwResult snwPages_Load(snwContext* context, const char* folder, snwPages* pages, snwMessage* message);
void snwPages_Free(snwPages* pages);
// NULL: there is none. "/" is "/index.html".
const snwPage* snwPages_Find(const snwPages* pages, const char* path);

// By the ending of a name; "application/octet-stream" if it is not known.
const char* snwMimeType(const char* name);
