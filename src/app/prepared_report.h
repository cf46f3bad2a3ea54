// What a prepared character holds, printed: for `sinew info`.

#pragma once

#include "app/cli.h"

snwExit snwPreparedReport_Print(snwContext* context, const char* path, bool json);
