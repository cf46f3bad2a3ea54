// Frames of the cantilever in files of the source folder; see truth_file.c for what is in them.

#pragma once

#include "truth.h"

// The character and room for its frames, all in the rest pose.
snwResult snwCantileverTruth_Create(
    const snwCharacter* builtIn, snwCantilever version, snwCantileverTruth* truth, snwMessage* message);

snwResult snwCantileverTruth_Save(const snwCantileverTruth* truth, snwCantilever version, snwMessage* message);

// The same as bytes. *data is freed with snwFree; truth comes from snwCantileverTruth_Create.
snwResult snwCantileverTruth_Encode(
    const snwCantileverTruth* truth, unsigned char** data, size_t* size, snwMessage* message);
snwResult snwCantileverTruth_Decode(
    snwCantileverTruth* truth, const unsigned char* data, size_t size, snwMessage* message);
