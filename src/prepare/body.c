// The flesh of all soft surfaces, and the tets inside of it.

#include "prepare/parts.h"

#include "base/pieces.h"
#include "geom/mesh.h"

#include <math.h>
#include <string.h>

enum
{
    snw_leastElements = 4000,
    snw_mostElements = 24000, // that are chosen without being asked for
    snw_elementsPerBone = 300,
};

// ---------------------------------------------------------------------------------------------------------------------
// Flesh

static int PartOfTriangle(const snwAssetMesh* mesh, int triangle)
{
    for (int i = 0; i < mesh->partCount; ++i)
        if (triangle >= mesh->parts[i].firstTriangle &&
            triangle < mesh->parts[i].firstTriangle + mesh->parts[i].triangleCount)
            return i;
    return -1;
}

static void AddSurfaceFlesh(snwPreparer* p, int index, int* numbers)
{
    const snwRestSurface* surface = &p->surfaces[index];
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    bool ownTriangles = mesh->tetCount + mesh->hexCount == 0;

    // Welded vertices that are flesh get numbers, and remember the surface and vertex that they come from.
    for (int i = 0; i < surface->weld.count; ++i)
    {
        int vertex = surface->weld.sources[i];
        numbers[i] = snwRestSurface_IsFlesh(surface, vertex) ? p->fleshVertexCount++ : -1;
        if (numbers[i] < 0)
            continue;
        p->fleshVertices[numbers[i]] = surface->positions[vertex];
        p->fleshSource[numbers[i]] = index;
        p->fleshVertex[numbers[i]] = vertex;
    }

    // Triangles of flesh alone; welding may have left some with two corners at one place.
    for (int i = 0; i < surface->triangleCount; ++i)
    {
        int corners[3];
        for (int k = 0; k < 3; ++k)
            corners[k] = numbers[surface->weld.map[surface->triangles[i][k]]];
        if (corners[0] < 0 || corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0])
            continue;
        memcpy(p->fleshTriangles[p->fleshTriangleCount], corners, sizeof corners);
        p->fleshSurface[p->fleshTriangleCount] = index;
        p->fleshPart[p->fleshTriangleCount++] = ownTriangles ? PartOfTriangle(mesh, i) : -1;
    }
}

static snwResult GatherSurfaces(snwPreparer* p)
{
    // Room for all of it, so that one walk fills the arrays.
    int64_t vertices = 1, triangles = 1, most = 1;
    for (int i = 0; i < p->surfaceCount; ++i)
    {
        vertices += p->surfaces[i].weld.count;
        triangles += p->surfaces[i].triangleCount;
        most = p->surfaces[i].weld.count > most ? p->surfaces[i].weld.count : most;
    }

    p->fleshVertices = snwPreparer_Alloc(p, vertices, sizeof *p->fleshVertices);
    p->fleshSource = snwPreparer_Alloc(p, vertices, sizeof(int));
    p->fleshVertex = snwPreparer_Alloc(p, vertices, sizeof(int));
    p->fleshTriangles = snwPreparer_Alloc(p, triangles, sizeof *p->fleshTriangles);
    p->fleshSurface = snwPreparer_Alloc(p, triangles, sizeof(int));
    p->fleshPart = snwPreparer_Alloc(p, triangles, sizeof(int));
    int* numbers = snwPreparer_Alloc(p, most, sizeof *numbers);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < p->surfaceCount; ++i)
        AddSurfaceFlesh(p, i, numbers);
    if (p->fleshTriangleCount == 0)
        return snwFail(p->message, snw_errorInput, "make one of the surfaces soft", "no surface is flesh");

    // The flesh as a soup, which tells what is nearest to a place.
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = p->fleshVertices;
    def.vertexCount = p->fleshVertexCount;
    def.triangles = (const int(*)[3])p->fleshTriangles;
    def.triangleCount = p->fleshTriangleCount;

    return snwCreateSoup(p->context, &def, &p->flesh, p->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements of the file

static int FindOwnMesh(const snwPreparer* p)
{
    for (int i = 0; i < p->surfaceCount; ++i)
        if (!p->surfaces[i].left && p->surfaces[i].kind == snw_surfaceSoft &&
            p->asset->meshes[p->surfaces[i].mesh].tetCount > 0)
            return i;
    return -1;
}

// Tets with a volume, turned the right way round; vertices of none of them are left out.
static snwResult UseOwnMesh(snwPreparer* p, int index)
{
    const snwRestSurface* surface = &p->surfaces[index];
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];
    const snwVec3* x = surface->positions;
    int* numbers = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof *numbers);
    int* labels = snwPreparer_Alloc(p, mesh->tetCount + 1, sizeof *labels);
    p->ownVertices = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof *p->ownVertices);
    p->body.vertices = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof *p->body.vertices);
    p->body.tets = snwPreparer_Alloc(p, mesh->tetCount + 1, sizeof *p->body.tets);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    memset(numbers, -1, ((size_t)mesh->vertexCount + 1) * sizeof *numbers);
    double least = 1e-15 * p->size * p->size * p->size;

    // A tet without volume would have no mass and no stiffness.
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        const int* t = mesh->tets[i];
        double volume = snwTet_Volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]);
        if (!(fabs(volume) > least))
            continue;

        // Vertices are numbered when a tet first uses them; mirrored tets get two corners exchanged.
        for (int k = 0; k < 4; ++k)
        {
            int* number = &numbers[t[k]];
            if (*number < 0)
            {
                *number = p->body.vertexCount++;
                p->body.vertices[*number] = x[t[k]];
                p->ownVertices[*number] = t[k];
            }
            p->body.tets[p->body.tetCount][volume < 0 && k > 1 ? 5 - k : k] = *number;
        }

        labels[p->body.tetCount++] = mesh->tetLabels != NULL ? mesh->tetLabels[i] : 0;
    }

    if (p->body.tetCount < mesh->tetCount)
        snwPreparer_Note(
            p, "%d elements of the file have no volume and were left out", mesh->tetCount - p->body.tetCount);
    p->labels = mesh->tetLabels != NULL ? labels : NULL;
    p->ownSurface = index;
    return p->body.tetCount > 0 ? snw_ok : snwFail(p->message, snw_errorInput, NULL, "no element has a volume");
}

// ---------------------------------------------------------------------------------------------------------------------

static int WantedElements(const snwPreparer* p)
{
    if (p->def->elements > 0 || p->settings.elements > 0)
        return p->def->elements > 0 ? p->def->elements : p->settings.elements;
    int bones = 0;
    for (int i = 0; i < p->rigCount; ++i)
        bones += p->rig[i].weight > 0;
    int64_t wanted = snw_leastElements + (int64_t)snw_elementsPerBone * bones;
    return wanted < snw_mostElements ? (int)wanted : snw_mostElements;
}

// Pieces that hang together; 0 without memory.
static int CountBodyPieces(snwContext* context, const int* corners, int arity, int count, int vertexCount)
{
    int* roots = snwAllocArray(context, (size_t)vertexCount + 1, sizeof *roots);
    int pieces = 0;
    for (int i = 0; i < vertexCount && roots != NULL; ++i)
        roots[i] = i;
    for (int i = 0; i < count * (arity - 1) && roots != NULL; ++i)
    {
        const int* c = corners + (size_t)(i / (arity - 1)) * (size_t)arity;
        snwPieces_Join(roots, c[0], c[i % (arity - 1) + 1]);
    }
    for (int i = 0; i < vertexCount && roots != NULL; ++i)
        pieces += roots[i] == i;
    snwFree(context, roots);
    return pieces;
}

// Thin necks that the cells of a lattice step over leave the body in more pieces than the surface has.
static int TornPieces(const snwPreparer* p, const snwTetMesh* mesh)
{
    int wanted = CountBodyPieces(
        p->context, (const int*)p->fleshTriangles, 3, p->fleshTriangleCount, p->fleshVertexCount);
    int pieces = CountBodyPieces(p->context, (const int*)mesh->tets, 4, mesh->tetCount, mesh->vertexCount);
    return pieces > wanted ? pieces : 0;
}

typedef struct Attempt
{
    snwMesher mesher;
    double factor; // of the wanted elements
} Attempt;

// Weights, maps and what is shown are those of the whole surface; only the body is made of the thinned one.
static snwResult ThinFaces(snwPreparer* p, snwFaces* faces, snwMessage* words)
{
    if (p->def->decimate == 0 || faces->triangleCount <= p->def->decimate)
        return snw_ok;
    snwDecimateDef def = snwDefaultDecimateDef();
    snwDecimated thinned;
    def.faces = *faces;
    def.kind = p->def->decimation;
    def.triangles = p->def->decimate;
    snwResult result = snwDecimateSurface(p->context, &def, &p->arena, &thinned, words);
    if (result >= 0)
        *faces = (snwFaces){
            thinned.vertices, thinned.vertexCount, (const int(*)[3])thinned.triangles, thinned.triangleCount};
    return result;
}

// Without bones the body is all that holds thin parts.
static bool IsCoarse(const snwPreparer* p)
{
    return p->def->coarse && p->rigCount > 0;
}

static snwResult TryMesher(snwPreparer* p, Attempt attempt, snwMeshed* meshed, snwMessage* words)
{
    snwMesherDef def = snwDefaultMesherDef();
    def.faces = (snwFaces){
        p->fleshVertices, p->fleshVertexCount, (const int(*)[3])p->fleshTriangles, p->fleshTriangleCount};
    snwResult result = ThinFaces(p, &def.faces, words);
    if (result < 0)
        return result;
    def.mesher = attempt.mesher;
    def.coarse = IsCoarse(p);
    def.weldTolerance = 1e-7 * p->size;
    def.tets = (int)fmin(attempt.factor * WantedElements(p), 20000000);
    *meshed = (snwMeshed){0};
    return snwMakeTets(p->context, &def, &p->arena, meshed, words);
}

// Finer cells, or TetGen, for a body that came out torn; what is there stays if they are no better.
static snwResult MendBody(snwPreparer* p, snwMeshed* meshed, int pieces)
{
    static const Attempt s_attempts[] = {{snw_mesherLattice, 1.5}, {snw_mesherLattice, 2.2}, {snw_mesherTetgen, 1}};
    for (size_t i = 0; i < sizeof s_attempts / sizeof *s_attempts; ++i)
    {
        snwMeshed other;
        snwMessage words = {0};
        snwResult result = TryMesher(p, s_attempts[i], &other, &words);

        // That a mesher fails is no failure here: there is a body already.
        if (result == snw_errorMemory)
            return snwFailMemory(p->message);
        if (result < 0 || TornPieces(p, &other.mesh) > 0)
            continue;
        snwPreparer_Note(p, "with fewer elements thin parts would tear off: there are %d tetrahedra (%s)",
            other.mesh.tetCount, snwMesher_Name(other.mesher));
        *meshed = other;

        return snw_ok;
    }

    snwPreparer_Note(p, "the body is torn into %d pieces where it is thin: more elements would help", pieces);
    return snw_ok;
}

static snwResult MeshBody(snwPreparer* p)
{
    snwMesher mesher = p->def->mesher != snw_mesherAuto ? p->def->mesher : (snwMesher)p->settings.mesher;
    bool asked = p->def->elements > 0 || p->settings.elements > 0 || mesher != snw_mesherAuto;
    snwMeshed meshed;
    snwMessage words = {0};
    snwResult result = TryMesher(p, (Attempt){mesher, 1}, &meshed, &words);

    // Not even one mesh: the words of that try are the ones to tell.
    if (result < 0)
    {
        if (p->message != NULL)
            *p->message = words;
        return result;
    }

    if (result > 0)
        snwPreparer_Note(p, "%s", words.text);

    // Nobody asked for this mesh in particular, so a better one may take its place.
    int pieces = TornPieces(p, &meshed.mesh);
    if (pieces > 0 && asked && !IsCoarse(p))
        snwPreparer_Note(p, "the body is torn into %d pieces where it is thin: more elements would help", pieces);
    else if (pieces > 0 && !IsCoarse(p))
        result = MendBody(p, &meshed, pieces);

    p->report->mesher = meshed.mesher;
    p->body = meshed.mesh;
    return result < 0 ? result : snw_ok;
}

snwResult snwPreparer_MakeBody(snwPreparer* p)
{
    snwResult result = GatherSurfaces(p);
    if (result < 0)
        return result;
    bool asked = p->def->elements > 0 || p->settings.elements > 0 || p->def->mesher != snw_mesherAuto ||
                 p->settings.mesher != (int)snw_mesherAuto;
    int own = asked ? -1 : FindOwnMesh(p);
    if (own >= 0)
        return UseOwnMesh(p, own);
    result = MeshBody(p);
    return result >= 0 && IsCoarse(p) ? snwPreparer_PartLimbs(p) : result;
}
