// The value types of the public header are the library's own.

#pragma once

#include "sinew/sinew.h"

#define SNW_PI 3.14159265358979323846
