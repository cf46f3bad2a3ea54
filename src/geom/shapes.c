// The ball is an octahedron of tets whose layers |x| + |y| + |z| = k are blown up to spheres of radius k/n. A cube
// would be as easy to number, but its edges and corners become flat when they are bent on to the sphere, and tets
// there lose their volume; an octahedron's do not.

#include "geom/shapes.h"
#include "geom/mesh.h"

// The six ways from one corner of a cell to the opposite one, an axis at a time: one tet each.
static const int s_paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static void OrientTet(const snwVec3* vertices, int tet[4])
{
    if (snwTet_Volume(vertices[tet[0]], vertices[tet[1]], vertices[tet[2]], vertices[tet[3]]) < 0.0)
    {
        int swap = tet[2];
        tet[2] = tet[3];
        tet[3] = swap;
    }
}

static int BoxIndex(const int cells[3], const int at[3])
{
    return at[0] + (cells[0] + 1) * (at[1] + (cells[1] + 1) * at[2]);
}

static void AddCellTets(snwTetMesh* mesh, const int cells[3], const int cell[3])
{
    for (int p = 0; p < 6; ++p)
    {
        int* tet = mesh->tets[mesh->tetCount++];
        int at[3] = {cell[0], cell[1], cell[2]};
        tet[0] = BoxIndex(cells, at);
        for (int k = 0; k < 3; ++k)
        {
            at[s_paths[p][k]]++;
            tet[k + 1] = BoxIndex(cells, at);
        }
        OrientTet(mesh->vertices, tet);
    }
}

bool snwMakeBoxMesh(snwArena* arena, snwVec3 size, const int cells[3], snwTetMesh* mesh)
{
    size_t vertexCount = (size_t)(cells[0] + 1) * (size_t)(cells[1] + 1) * (size_t)(cells[2] + 1);
    size_t tetCount = 6 * (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    *mesh = (snwTetMesh){.vertices = snwArena_Alloc(arena, vertexCount, sizeof(snwVec3)),
        .tets = snwArena_Alloc(arena, tetCount, sizeof(int[4]))};
    if (arena->failed)
        return false;
    for (int z = 0; z <= cells[2]; ++z)
        for (int y = 0; y <= cells[1]; ++y)
            for (int x = 0; x <= cells[0]; ++x)
                mesh->vertices[mesh->vertexCount++] = (snwVec3){((double)x / cells[0] - 0.5) * size.x,
                    ((double)y / cells[1] - 0.5) * size.y, ((double)z / cells[2] - 0.5) * size.z};
    for (int z = 0; z < cells[2]; ++z)
        for (int y = 0; y < cells[1]; ++y)
            for (int x = 0; x < cells[0]; ++x)
                AddCellTets(mesh, cells, (const int[3]){x, y, z});
    return true;
}

typedef struct BallBuilder
{
    snwTetMesh* mesh;
    int* vertexAt; // by lattice point of the cube around the octahedron; 0: none yet, else index + 1
    double radius;
    int n;
} BallBuilder;

static int BallVertex(BallBuilder* builder, const int p[3])
{
    int n = builder->n, side = 2 * n + 1;
    int* slot = &builder->vertexAt[((size_t)(p[2] + n) * (size_t)side + (size_t)(p[1] + n)) * (size_t)side +
                                   (size_t)(p[0] + n)];
    if (*slot == 0)
    {
        snwVec3 v = {p[0], p[1], p[2]};
        double layer = fabs(v.x) + fabs(v.y) + fabs(v.z), length = snwVec3_Length(v);
        double scale = length > 0.0 ? builder->radius / n * layer / length : 0.0;
        builder->mesh->vertices[builder->mesh->vertexCount++] = snwVec3_Scale(v, scale);
        *slot = builder->mesh->vertexCount;
    }
    return *slot - 1;
}

// (a, b, c) with 0 <= a <= b <= c <= n numbers the points (a, b - a, c - b) of one octant; there the octant is a
// union of whole Kuhn tets.
static void AddOctantTets(BallBuilder* builder, const int cell[3], const int sign[3])
{
    // Six paths from corner to corner of the cell, a Kuhn tet each; those that leave the octant go.
    for (int p = 0; p < 6; ++p)
    {
        int at[3] = {cell[0], cell[1], cell[2]}, tet[4];
        bool inside = true;
        for (int k = 0; k < 4 && inside; ++k)
        {
            if (k > 0)
                at[s_paths[p][k - 1]]++;
            inside = at[0] <= at[1] && at[1] <= at[2] && at[2] <= builder->n;
            int point[3] = {sign[0] * at[0], sign[1] * (at[1] - at[0]), sign[2] * (at[2] - at[1])};
            tet[k] = inside ? BallVertex(builder, point) : 0;
        }

        if (!inside)
            continue;
        int* kept = builder->mesh->tets[builder->mesh->tetCount++];
        for (int k = 0; k < 4; ++k)
            kept[k] = tet[k];
        OrientTet(builder->mesh->vertices, kept);
    }
}

bool snwMakeBallMesh(snwArena* arena, double radius, int n, snwTetMesh* mesh)
{
    size_t side = 2 * (size_t)n + 1, most = (size_t)n * (size_t)n * (size_t)n * 8;
    // Points of an octahedron of n layers: (2n+1)(2n^2+2n+3)/3.
    size_t points = side * (2 * (size_t)n * (size_t)n + 2 * (size_t)n + 3) / 3;
    *mesh = (snwTetMesh){.vertices = snwArena_Alloc(arena, points, sizeof(snwVec3)),
        .tets = snwArena_Alloc(arena, most, sizeof(int[4]))};
    BallBuilder builder = {mesh, snwAllocArray(arena->context, side * side * side, sizeof(int)), radius, n};
    bool enough = !arena->failed && builder.vertexAt != NULL;

    // Octant by octant; points that octants share are made once (BallVertex).
    for (int octant = 0; enough && octant < 8; ++octant)
    {
        const int sign[3] = {octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1};
        for (int c = 0; c < n; ++c)
            for (int b = 0; b <= c; ++b)
                for (int a = 0; a <= b; ++a)
                    AddOctantTets(&builder, (const int[3]){a, b, c}, sign);
    }

    arena->failed = arena->failed || !enough;
    snwFree(arena->context, builder.vertexAt);
    return enough;
}
