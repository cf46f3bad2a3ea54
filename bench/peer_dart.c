#include "peer_dart.h"

#include "peer_process.h"

static const char s_helper[] = "sinew-peer-dart";

bool snwMeasureDart(const snwDartDef* def, snwDartTimes* times, const char** why)
{
    *why = "sinew-peer-dart is not beside this program: make bench-deps, then build again";
    if (!snwPeer_Exists(s_helper))
        return false;
    FILE* file = tmpfile();
    *why = "no room for temporary files";
    if (file == NULL)
        return false;
    fprintf(file, "%d %d %d %.17g %.17g %.17g %.17g %.17g\n", def->points[0], def->points[1], def->points[2], def->half,
        def->half, def->half, def->boneMass, def->skinMass);
    fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g %d %d %d\n", def->vertex, def->edge, def->damping, def->friction,
        def->height, def->h, def->steps, def->firstAtRest, def->sweeps);
    json_t* json = snwPeer_Run(s_helper, file);
    const char* version = NULL;
    *why = "DART ended in an assertion";
    bool good = json_unpack(json, "{s:s, s:i, s:i, s:F, s:F, s:F, s:F, s:F}", "version", &version, "points",
                    &times->points, "contacts", &times->contacts, "settling_ms", &times->settlingMs, "resting_ms",
                    &times->restingMs, "lowest", &times->lowest, "speed", &times->speed, "height", &times->height) == 0;
    snprintf(times->version, sizeof times->version, "%s", good ? version : "");
    json_decref(json);
    fclose(file);
    return good;
}
