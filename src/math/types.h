// The value types of the public header are the library's own.

#pragma once

#include "sinew/sinew.h"
