#include "peer_cholmod.h"

#include "base/clock.h"

#if __has_include(<suitesparse/cholmod.h>)

#include <dlfcn.h>
#include <stdlib.h>
#include <suitesparse/cholmod.h>

typedef struct Api
{
    int (*start)(cholmod_common*);
    int (*finish)(cholmod_common*);
    cholmod_factor* (*analyze)(cholmod_sparse*, cholmod_common*);
    int (*factorize)(cholmod_sparse*, cholmod_factor*, cholmod_common*);
    int (*solve)(int, cholmod_factor*, cholmod_dense*, cholmod_sparse*, cholmod_dense**, cholmod_sparse**,
        cholmod_dense**, cholmod_dense**, cholmod_common*);
    cholmod_dense* (*ones)(size_t, size_t, int, cholmod_common*);
    int (*freeFactor)(cholmod_factor**, cholmod_common*);
    int (*freeDense)(cholmod_dense**, cholmod_common*);
} Api;

struct snwCholmod
{
    void* library;
    Api api;
    cholmod_common common;
    cholmod_sparse matrix; // a view: our lower triangle by rows is its upper one by columns
    cholmod_factor* factor;
    cholmod_dense *b, *x, *y, *e;
};

static bool FindFunctions(void* library, Api* api)
{
    struct
    {
        const char* name;
        void* into;
    } const all[] = {
        {"cholmod_start", &api->start},
        {"cholmod_finish", &api->finish},
        {"cholmod_analyze", &api->analyze},
        {"cholmod_factorize", &api->factorize},
        {"cholmod_solve2", &api->solve},
        {"cholmod_ones", &api->ones},
        {"cholmod_free_factor", &api->freeFactor},
        {"cholmod_free_dense", &api->freeDense},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    {
        *(void**)all[i].into = dlsym(library, all[i].name);
        if (*(void**)all[i].into == NULL)
            return false;
    }
    return true;
}

// Its own best setting for this: more threads of the BLAS make the solve slower.
static void UseOneThread(void* library)
{
    void (*setThreads)(int) = NULL;
    *(void**)&setThreads = dlsym(library, "openblas_set_num_threads");
    if (setThreads != NULL)
        setThreads(1);
}

snwCholmod* snwCholmod_Open(const snwSparse* matrix, const char** why)
{
    snwCholmod* peer = calloc(1, sizeof *peer);
    *why = "not enough memory";
    if (peer == NULL)
        return NULL;
    peer->library = dlopen("libcholmod.so.3", RTLD_NOW | RTLD_LOCAL);
    if (peer->library == NULL || !FindFunctions(peer->library, &peer->api))
    {
        *why = "CHOLMOD 3 is not on this machine";
        if (peer->library != NULL)
            dlclose(peer->library);
        free(peer);
        return NULL;
    }
    UseOneThread(peer->library);
    peer->api.start(&peer->common);
    peer->common.nmethods = 1;
    peer->common.method[0].ordering = CHOLMOD_METIS;
    peer->common.supernodal = CHOLMOD_SUPERNODAL;
    peer->common.final_ll = 1;
    peer->common.print = 0;
    size_t n = (size_t)matrix->rows;
    peer->matrix = (cholmod_sparse){.nrow = n,
        .ncol = n,
        .nzmax = (size_t)snwSparse_Count(matrix),
        .p = matrix->starts,
        .i = matrix->indices,
        .x = matrix->values,
        .stype = 1,
        .itype = CHOLMOD_INT,
        .xtype = CHOLMOD_REAL,
        .dtype = CHOLMOD_DOUBLE,
        .sorted = 1,
        .packed = 1};
    peer->b = peer->api.ones(n, 3, CHOLMOD_REAL, &peer->common);
    return peer;
}

void snwCholmod_Close(snwCholmod* peer)
{
    if (peer == NULL)
        return;
    cholmod_dense** all[] = {&peer->b, &peer->x, &peer->y, &peer->e};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        peer->api.freeDense(all[i], &peer->common);
    peer->api.freeFactor(&peer->factor, &peer->common);
    peer->api.finish(&peer->common);
    free(peer); // the library stays: its threads may still run
}

double snwCholmod_Factor(snwCholmod* peer)
{
    peer->api.freeFactor(&peer->factor, &peer->common);
    double start = snwClock_Seconds();
    peer->factor = peer->api.analyze(&peer->matrix, &peer->common);
    bool good = peer->factor != NULL && peer->api.factorize(&peer->matrix, peer->factor, &peer->common);
    return good ? snwClock_Seconds() - start : -1;
}

double snwCholmod_Refactor(snwCholmod* peer)
{
    double start = snwClock_Seconds();
    bool good = peer->factor != NULL && peer->api.factorize(&peer->matrix, peer->factor, &peer->common);
    return good ? snwClock_Seconds() - start : -1;
}

double snwCholmod_Solve(snwCholmod* peer)
{
    double start = snwClock_Seconds();
    bool good = peer->factor != NULL && peer->b != NULL &&
                peer->api.solve(
                    CHOLMOD_A, peer->factor, peer->b, NULL, &peer->x, NULL, &peer->y, &peer->e, &peer->common);
    return good ? snwClock_Seconds() - start : -1;
}

double snwCholmod_Entries(const snwCholmod* peer)
{
    return peer->factor != NULL ? (double)peer->factor->xsize : 0;
}

#else

snwCholmod* snwCholmod_Open(const snwSparse* matrix, const char** why)
{
    (void)matrix;
    *why = "built without the headers of CHOLMOD";
    return NULL;
}

void snwCholmod_Close(snwCholmod* peer)
{
    (void)peer;
}

double snwCholmod_Factor(snwCholmod* peer)
{
    (void)peer;
    return -1;
}

double snwCholmod_Refactor(snwCholmod* peer)
{
    (void)peer;
    return -1;
}

double snwCholmod_Solve(snwCholmod* peer)
{
    (void)peer;
    return -1;
}

double snwCholmod_Entries(const snwCholmod* peer)
{
    (void)peer;
    return 0;
}

#endif
