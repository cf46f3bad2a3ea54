// JSON text as people will read it: keys and values with commas and line breaks, the shortest digits that read back
// to the same bits, into memory of the context or a buffer of fixed size.

#include "scene/text.h"
#include "scene/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

snwText snwCreateText(snwContext* context, int breakDepth)
{
    return (snwText){.context = context, .breakDepth = breakDepth, .first = true};
}

snwText snwFixedText(char* buffer, size_t capacity)
{
    if (capacity > 0)
        buffer[0] = 0;
    return (snwText){.data = buffer, .capacity = capacity, .fixed = true, .first = true};
}

void snwText_Free(snwText* text)
{
    if (!text->fixed)
        snwFree(text->context, text->data);
    *text = (snwText){0};
}

static bool GrowText(snwText* text, size_t need)
{
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while (capacity < need)
        capacity *= 2;
    char* data = snwAllocRaw(text->context, capacity);
    if (data == NULL)
        return false;
    if (text->size > 0)
        memcpy(data, text->data, text->size);
    snwFree(text->context, text->data);
    text->data = data;
    text->capacity = capacity;
    return true;
}

void snwText_Raw(snwText* text, const char* data, size_t size)
{
    size_t need = text->size + size + 1;
    if (!text->failed && need > text->capacity && (text->fixed || !GrowText(text, need)))
        text->failed = true;
    if (!text->failed)
    {
        memcpy(text->data + text->size, data, size);
        text->data[text->size + size] = 0;
    }
    if (!text->failed || text->fixed) // as snprintf: a fixed text tells how long it would have been
        text->size += size;
}

static void Put(snwText* text, const char* data)
{
    snwText_Raw(text, data, strlen(data));
}

static void NewLine(snwText* text)
{
    Put(text, "\n");
    for (int i = 0; i < text->depth; ++i)
        Put(text, "    ");
}

// The comma and the line break before a key or a list's value.
static void BeginItem(snwText* text)
{
    bool follows = text->afterKey;
    text->afterKey = false;
    if (follows || text->depth == 0)
        return;
    if (!text->first)
        Put(text, ",");
    if (text->depth <= text->breakDepth)
        NewLine(text);
    else if (!text->first)
        Put(text, " ");
    text->first = false;
}

void snwText_Open(snwText* text, char bracket)
{
    BeginItem(text);
    snwText_Raw(text, &bracket, 1);
    text->depth++;
    text->first = true;
}

void snwText_Close(snwText* text, char bracket)
{
    bool empty = text->first;
    text->depth--;
    if (!empty && text->depth < text->breakDepth)
        NewLine(text);
    snwText_Raw(text, &bracket, 1);
    text->first = false;
}

// Plain bytes go in runs: a picture or a buffer inside a text is megabytes of them.
// What is no UTF-8 - names of files may be anything, messages may be cut - becomes '?': every reader takes the rest.
static void Quoted(snwText* text, const char* value)
{
    Put(text, "\"");
    size_t left = strlen(value);
    const char* run = value;
    const char* c = value;

    // Up to the next byte that needs an escape, all in one piece.
    while (left > 0)
    {
        int bytes = snwUtf8Size(c, left);
        bool marked = *c == '"' || *c == '\\', control = (unsigned char)*c < 32;
        size_t step = bytes > 0 ? (size_t)bytes : 1;
        if (bytes == 0 || marked || control)
        {
            char escaped[8] = "?";
            if (marked)
                snprintf(escaped, sizeof escaped, "\\%c", *c);
            else if (control)
                snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*c);

            snwText_Raw(text, run, (size_t)(c - run));
            Put(text, escaped);
            run = c + 1;
        }

        c += step;
        left -= step;
    }

    snwText_Raw(text, run, (size_t)(c - run));
    Put(text, "\"");
}

void snwText_Key(snwText* text, const char* key)
{
    BeginItem(text);
    Quoted(text, key);
    Put(text, ": ");
    text->afterKey = true;
}

void snwText_String(snwText* text, const char* value)
{
    BeginItem(text);
    Quoted(text, value);
}

void snwText_Json(snwText* text, const char* json)
{
    BeginItem(text);
    Put(text, json);
}

void snwFormatReal(char* buffer, double value)
{
    for (int digits = 15; digits <= 17; ++digits)
    {
        snprintf(buffer, 32, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    for (char* c = buffer; *c != 0; ++c)
        if (*c == ',')
            *c = '.'; // a locale with decimal commas
}

void snwText_Real(snwText* text, double value)
{
    char buffer[32] = "null";
    if (isfinite(value))
        snwFormatReal(buffer, value);
    // "-0" would read back as the integer 0 and lose its sign
    snwText_Json(text, strcmp(buffer, "-0") == 0 ? "-0.0" : buffer);
}

void snwText_Int(snwText* text, int64_t value)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%lld", (long long)value);
    snwText_Json(text, buffer);
}

void snwText_Bool(snwText* text, bool value)
{
    snwText_Json(text, value ? "true" : "false");
}

void snwText_Reals(snwText* text, const double* values, int count)
{
    int breakDepth = text->breakDepth;
    BeginItem(text);
    text->breakDepth = 0;
    text->depth++;
    text->first = true;
    Put(text, "[");
    for (int i = 0; i < count; ++i)
        snwText_Real(text, values[i]);
    Put(text, "]");
    text->depth--;
    text->first = false;
    text->breakDepth = breakDepth;
}
