// Materials by name; see sinew.h.

#pragma once

#include "sinew/sinew.h"

// Their names in order, NULL-terminated, for choices in files.
extern const char* const snw_presetNames[];
