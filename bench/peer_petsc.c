#include "peer_petsc.h"

#include "peer_process.h"

static const char s_helper[] = "sinew-peer-petsc";

static bool Write(const snwFemMatrix* m, FILE* file)
{
    size_t rows = (size_t)m->rows, entries = (size_t)m->starts[m->rows];
    fwrite(&m->rows, sizeof(int), 1, file);
    fwrite(m->starts, sizeof(int), rows + 1, file);
    fwrite(m->columns, sizeof(int), entries, file);
    fwrite(m->values[0], sizeof(double), entries, file);
    fwrite(m->values[1], sizeof(double), entries, file);
    fwrite(m->b, sizeof(double), rows, file);
    fwrite(m->places, sizeof(double), rows, file);
    return ferror(file) == 0;
}

static bool Unpack(json_t* json, const char* name, snwPetscTime* time)
{
    int converged = 0;
    bool good = json_unpack(json_object_get(json, name), "{s:F, s:F, s:i, s:b}", "setup_ms", &time->setupMs, "solve_ms",
                    &time->solveMs, "iterations", &time->iterations, "converged", &converged) == 0;
    time->iterations = converged ? time->iterations : 0;
    const json_t* points = json_object_get(json_object_get(json, name), "points");
    for (size_t i = 0; i + 1 < json_array_size(points) && time->pointCount < snw_mostPetscPoints; i += 2)
    {
        time->ms[time->pointCount] = json_number_value(json_array_get(points, i));
        time->errors[time->pointCount++] = json_number_value(json_array_get(points, i + 1));
    }
    return good;
}

bool snwMeasurePetsc(const snwFemMatrix* matrix, snwPetscTimes* times, const char** why)
{
    *why = "sinew-peer-petsc is not beside this program: make bench-deps, then build again";
    if (!snwPeer_Exists(s_helper))
        return false;
    FILE* file = tmpfile();
    *why = "no room for temporary files";
    bool good = file != NULL && Write(matrix, file);
    if (good)
    {
        json_t* json = snwPeer_Run(s_helper, file);
        *why = "sinew-peer-petsc failed on this matrix";
        good = Unpack(json, "gamg_kept", &times->gamgKept) && Unpack(json, "gamg", &times->gamg) &&
               Unpack(json, "hypre", &times->hypre);
        json_decref(json);
    }
    if (file != NULL)
        fclose(file);
    return good;
}
