// Text for exporters: words, formatted lines, floats with the digits that they need.

#include "asset/export_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void snwExport_Put(snwWriter* out, const char* text)
{
    snwWrite(out, text, strlen(text));
}

void snwExport_PutFormat(snwWriter* out, const char* format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snwExport_Put(out, text);
}

void snwExport_PutFloat(snwWriter* out, float value)
{
    char text[48];
    for (int digits = 7; digits <= 9; ++digits)
    {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    char* comma = strchr(text, ','); // of the host's locale
    if (comma != NULL)
        *comma = '.';
    snwExport_Put(out, text);
}

void snwExport_PutLine(snwWriter* out, const char* text)
{
    for (; *text != 0; ++text)
        snwWrite(out, (unsigned char)*text < 0x20 || *text == 0x7f ? " " : text, 1);
}
