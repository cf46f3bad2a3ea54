// What tets are judged by: dihedral angles, volumes, inversion, edge lengths; of one tet, of a mesh, or of its flesh
// alone.

#include "geom/quality.h"
#include "geom/mesh.h"

void snwTet_DihedralCosines(const snwVec3 p[4], double* smallest, double* largest)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    snwVec3 normals[4];
    double lengths[4];

    *smallest = 1, *largest = -1;

    // Normals of the four faces, outwards; a face without area counts as flat.
    for (int i = 0; i < 4; ++i)
    {
        snwVec3 a = p[faces[i][0]];
        normals[i] = snwVec3_Cross(snwVec3_Sub(p[faces[i][1]], a), snwVec3_Sub(p[faces[i][2]], a));
        lengths[i] = snwVec3_Length(normals[i]);
    }

    // Every edge lies between two faces, so each pair gives one angle.
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
        {
            double product = lengths[i] * lengths[j];
            double cosine = product > 0 ? -snwVec3_Dot(normals[i], normals[j]) / product : 1;
            *smallest = fmin(*smallest, cosine);
            *largest = fmax(*largest, cosine);
        }

    *smallest = fmax(*smallest, -1);
    *largest = fmin(*largest, 1);
}

static void AddTetQuality(snwMeshQuality* quality, const snwVec3 p[4])
{
    double smallest, largest, volume = snwTet_Volume(p[0], p[1], p[2], p[3]);
    snwTet_DihedralCosines(p, &smallest, &largest);
    quality->minDihedral = fmin(quality->minDihedral, acos(largest) * 180 / SNW_PI);
    quality->maxDihedral = fmax(quality->maxDihedral, acos(smallest) * 180 / SNW_PI);
    quality->volume += volume;
    quality->inverted += !(volume > 0);
    quality->tetCount++;
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
        {
            double length = snwVec3_Distance(p[i], p[j]);
            quality->shortestEdge = fmin(quality->shortestEdge, length);
            quality->longestEdge = fmax(quality->longestEdge, length);
        }
}

snwMeshQuality snwTetMesh_FleshQuality(const snwTetMesh* mesh, const int* tetBones)
{
    snwMeshQuality quality = {.minDihedral = 180, .shortestEdge = INFINITY};
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        if (tetBones != NULL && tetBones[i] >= 0)
            continue;
        const int* t = mesh->tets[i];
        AddTetQuality(&quality,
            (const snwVec3[4]){mesh->vertices[t[0]], mesh->vertices[t[1]], mesh->vertices[t[2]], mesh->vertices[t[3]]});
    }
    return quality;
}

snwMeshQuality snwTetMesh_Quality(const snwTetMesh* mesh)
{
    return snwTetMesh_FleshQuality(mesh, NULL);
}
