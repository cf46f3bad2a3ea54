// The wall behind paper figures: a square across the view, far larger than the picture.

#include "view/wall.h"

snwResult snwPicture_AddWall(snwPicture* picture, const snwCamera* camera, float distance, snwMessage* message)
{
    float half = 40 * picture->radius;
    snwFloat3 centre = snwFloat3_MulAdd(picture->centre, distance, camera->forward);
    float positions[12];

    // A square across the view, far beyond its borders.
    for (int i = 0; i < 4; ++i)
    {
        float x = i == 0 || i == 3 ? -half : half, y = i < 2 ? -half : half;
        snwFloat3_Store(snwFloat3_MulAdd(snwFloat3_MulAdd(centre, x, camera->right), y, camera->up), positions + 3 * i);
    }

    const int triangles[] = {0, 1, 2, 0, 2, 3};
    int mesh;
    return snwPicture_AddMesh(picture,
        &(snwMeshLook){.kind = snw_pictureWall,
            .positions = positions,
            .vertexCount = 4,
            .triangles = triangles,
            .triangleCount = 2,
            .flat = true},
        &mesh, message);
}
