// What the points and parts of a body look like.

#include "studio/stage.h"

#include "sim/character.h"
#include "sim/scene.h"
#include "view/film_prepared.h"
#include "asset/fine_skin.h"
#include "view/picture.h"

#include <string.h>

bool snwShownBody_Color(const snwShownBody* body, const snwCharacterDef* def, int point, float color[3])
{
    const snwFilmSurface* surface = body->surface;
    if (surface != NULL && surface->fine == NULL && surface->prepared == NULL)
    {
        const float* p = surface->points + 3 * (size_t)point;
        snwFlesh_Color(&surface->blueprint.blueprint.flesh, (snwVec3){(double)p[0], (double)p[1], (double)p[2]}, color);
        return true;
    }
    const float* rows = surface != NULL ? surface->colors : NULL;
    if (rows != NULL)
        memcpy(color, rows + 3 * (size_t)point, 3 * sizeof(float));
    else if (surface == NULL && def->colors != NULL)
        memcpy(color, def->colors[body->carriers[point]], 3 * sizeof(float));
    else
        return false;
    return true;
}

snwShownPaint snwShown_FindPaint(const snwShown* shown, const snwSceneDef* scene, int index)
{
    const snwShownPart* part = &shown->parts[index];
    const snwShownBody* body = &shown->bodies[part->body];
    const snwCharacterDef* def = &scene->bodies[part->body].character->def;
    const snwFilmSurface* surface = body->surface;
    snwShownPaint paint = {0};

    // An artist's surfaces bring their own paint.
    if (surface != NULL && surface->prepared != NULL)
    {
        const snwFilmPart* painted = &surface->parts[index - body->firstPart];
        paint.texture = painted->texture;
        memcpy(paint.color, painted->color, sizeof paint.color);
        return paint;
    }

    // A texture is shown in its own colours, so the colour beside it is white.
    snwFloat3 color = snwPicture_BodyColor(part->body, def->color);
    bool textured = surface != NULL ? surface->fine != NULL && surface->fine->texcoords != NULL
                                    : def->texcoords != NULL;
    if (textured && def->texture.width > 0)
    {
        paint.texture = def->texture;
        color = (snwFloat3){1, 1, 1};
    }

    snwFloat3_Store(color, paint.color);
    return paint;
}

const float* snwShownBody_Texcoord(const snwShownBody* body, const snwCharacterDef* def, int point)
{
    if (body->surface == NULL)
        return def->texcoords[body->carriers[point]];
    return body->surface->fine != NULL ? body->surface->fine->texcoords + 2 * (size_t)point
                                       : body->surface->paint + 3 * (size_t)point;
}
