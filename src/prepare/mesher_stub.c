#include "asset/mesher.h"
#include <string.h>
const char* snwMesher_Name(snwMesher mesher)
{
    static const char* const s_names[] = {"auto", "lattice", "tetgen"};
    return s_names[mesher];
}
bool snwMesher_Find(const char* name, snwMesher* mesher)
{
    for (int i = 0; i < 3; ++i)
        if (strcmp(name, snwMesher_Name((snwMesher)i)) == 0)
            return *mesher = (snwMesher)i, true;
    return false;
}
