// `sinew check` on meshes, rigs and caches.

#pragma once

#include "sinew/sinew.h"

// Is there a reader for it? Of JSON files only bundles are meant: scenes and blueprints are read elsewhere.
bool snwIsAsset(snwContext* context, const char* path);

// Reads all of it and says what it holds.
snwResult snwCheckAsset(snwContext* context, const char* path, char* what, size_t capacity, snwMessage* message);
