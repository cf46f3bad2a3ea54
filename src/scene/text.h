// Writes JSON text. Numbers come out with the fewest digits that read back to the same bits.
//
// jansson reads; it does not write here, because its allocator is one for the whole process and its reals always have
// 17 digits. This writer takes memory from the context and lays out what people will read.

#pragma once

#include "base/context.h"

typedef struct snwText
{
    snwContext* context;
    char* data; // always terminated once something was written
    size_t size, capacity;
    int depth;      // open objects and lists
    int breakDepth; // containers opened deeper than this stay on one line; 0: everything on one line
    bool failed;    // no memory, or a full fixed buffer; further writes do nothing
    bool fixed;     // data belongs to the caller and does not grow; size still counts what would be needed
    bool afterKey;  // the next value follows a key
    bool first;     // nothing yet in the open container
} snwText;

snwText snwCreateText(snwContext* context, int breakDepth);
snwText snwFixedText(char* buffer, size_t capacity);
void snwText_Free(snwText* text);

void snwText_Open(snwText* text, char bracket);  // '{' or '['
void snwText_Close(snwText* text, char bracket); // '}' or ']'
void snwText_Key(snwText* text, const char* key);
void snwText_String(snwText* text, const char* value);
void snwText_Real(snwText* text, double value); // null if not finite
void snwText_Int(snwText* text, int64_t value);
void snwText_Bool(snwText* text, bool value);
void snwText_Json(snwText* text, const char* json);             // a value that is JSON already
void snwText_Raw(snwText* text, const char* data, size_t size); // no commas, no layout

// [x, y, ...] on one line
void snwText_Reals(snwText* text, const double* values, int count);

// Writes the fewest digits that give the same double back; the buffer holds 32 bytes.
void snwFormatReal(char* buffer, double value);
