// Numbered PNG frames -> a film, by the program ffmpeg.

#pragma once

#include "base/context.h"

typedef struct snwEncodeDef
{
    const char* frames;  // folder with frame-00000.png ...
    const char* film;    // .mp4 or .gif
    const char* logPath; // what ffmpeg says; removed when all went well
    double framesPerSecond;
    int frameCount;
    bool overwrite;
    snwResult (*waiting)(void* user); // asked now and then; a negative result ends ffmpeg; NULL: nobody asks
    void* user;
} snwEncodeDef;

// "frames/frame-00012.png"; the length as snprintf gives it.
int snwFormatFramePath(char* buffer, size_t capacity, const char* frames, int frame);

// Whether the name ends in .mp4 or .gif.
bool snwIsFilmName(const char* path);

// Whether ffmpeg is in PATH, to be asked before the drawing; the message names the film.
snwResult snwFindEncoder(const char* film, snwMessage* message);

// The film appears whole or not at all. The frames stay.
snwResult snwEncodeFilm(snwContext* context, const snwEncodeDef* def, snwMessage* message);
