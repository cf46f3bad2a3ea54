#include "peer_siconos.h"

#include "peer_process.h"

#include <math.h>

static const char s_helper[] = "sinew-peer-siconos";

static void WriteProblem(const snwKeptProblem* p, FILE* file)
{
    size_t n = (size_t)p->def.rows;
    int contacts = p->def.rows / 3;
    fwrite(&contacts, sizeof contacts, 1, file);
    for (int b = 0; b < contacts; ++b)
        fwrite(&p->blocks[b].friction, sizeof(double), 1, file);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
        {
            double entry = p->def.w[i * n + j] + (i == j ? p->def.compliance[i] : 0);
            fwrite(&entry, sizeof entry, 1, file);
        }
    fwrite(p->def.q, sizeof(double), n, file);
    fwrite(p->start, sizeof(double), n, file);
}

static bool Unpack(const json_t* json, const snwKeptProblem* p, snwSiconosAnswer* answer)
{
    double most = 0, apart = 0;
    const json_t* impulses = json_object_get(json, "impulses");
    if (json_array_size(impulses) != (size_t)p->def.rows)
        return false;
    for (int i = 0; i < p->def.rows; ++i)
    {
        double theirs = json_number_value(json_array_get(impulses, (size_t)i));
        most = fmax(most, fabs(p->lambda[i])), apart = fmax(apart, fabs(theirs - p->lambda[i]));
    }
    answer->solved = json_is_true(json_object_get(json, "solved"));
    answer->ms = json_number_value(json_object_get(json, "ms"));
    answer->difference = most > 0 ? apart / most : apart;
    return true;
}

bool snwSolveBySiconos(const snwKeptProblems* kept, snwSiconosAnswers* answers, const char** why)
{
    *why = "sinew-peer-siconos is not beside this program: make bench-deps, then build again";
    if (!snwPeer_Exists(s_helper))
        return false;
    FILE* file = tmpfile();
    *why = "no room for temporary files";
    if (file == NULL)
        return false;
    fwrite(&kept->count, sizeof kept->count, 1, file);
    for (int i = 0; i < kept->count; ++i)
        WriteProblem(&kept->problems[i], file);
    bool good = ferror(file) == 0;
    if (good)
    {
        json_t* json = snwPeer_Run(s_helper, file);
        const json_t* problems = json_object_get(json, "problems");
        *why = "sinew-peer-siconos failed on these problems";
        good = json_array_size(problems) == (size_t)kept->count;
        for (int i = 0; i < kept->count && good; ++i)
        {
            const json_t* problem = json_array_get(problems, (size_t)i);
            good = Unpack(json_object_get(problem, "nsn_ac"), &kept->problems[i], &answers[i].newton) &&
                   Unpack(json_object_get(problem, "nsgs"), &kept->problems[i], &answers[i].sweeps);
        }
        json_decref(json);
    }
    fclose(file);
    return good;
}
