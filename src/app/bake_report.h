// What a bake has to say, for programs and for people.

#pragma once

#include "bake/bake.h"
#include "bake/output.h"

#include <jansson.h>

// written may be NULL: nothing was written.
json_t* snwBakeReport_ToJson(const snwBake* bake, const snwBakeOutputReport* written);
void snwBakeReport_Print(const snwBake* bake, const snwBakeOutputReport* written);
