// `sinew prep --inner`: a surface with bones' surfaces inside of it, as files.

#pragma once

#include "app/cli.h"

snwExit snwPrepNested(snwContext* context, const snwArgs* args);
