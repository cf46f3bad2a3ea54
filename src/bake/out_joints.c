#include "bake/reel.h"
#include "base/context.h"

snwResult snwBakeWriting_Joints(const snwBakeWriting* w)
{
    return snwFail(w->message, snw_errorUnsupported, NULL, "joints are not there yet");
}
