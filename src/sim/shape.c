// Characters made of simple shapes: the first bodies of every test and demo.

#include "geom/shapes.h"
#include "sim/character.h"

#include <math.h>

enum
{
    shape_maxShapeCells = 512,
    shape_maxBallCells = 256,
    shape_maxShapeTets = 20000000
};

snwShapeDef snwDefaultShapeDef(snwShapeKind kind)
{
    snwShapeDef def = {.name = "block",
        .kind = kind,
        .size = {0.4, 0.4, 0.4},
        .cells = {8, 8, 8},
        .material = snwDefaultMaterial(),
        .springMass = 1.0,
        .color = {0.75f, 0.35f, 0.25f}};
    if (kind == snw_shapeBar)
        def.name = "bar", def.size = (snwVec3){1.2, 0.2, 0.2}, def.cells[0] = 24, def.cells[1] = def.cells[2] = 4;
    else if (kind == snw_shapeBall)
        def.name = "ball", def.cells[0] = 12;
    else if (kind == snw_shapeSpring)
        def.name = "spring", def.size = (snwVec3){1, 0, 0};
    return def;
}

static snwResult CheckShapeDef(const snwShapeDef* def, snwMessage* message)
{
    if (def->kind < snw_shapeBar || def->kind > snw_shapeSpring)
        return snwFail(message, snw_errorArgument, NULL, "shape kind is %d", (int)def->kind);
    bool box = def->kind == snw_shapeBar || def->kind == snw_shapeBlock;
    const double size[3] = {def->size.x, def->size.y, def->size.z};

    // A cell of a box is six tets.
    double tets = 6.0;
    int most = box ? shape_maxShapeCells : shape_maxBallCells;

    // A ball and a spring have one size only.
    for (int i = 0; i < (box ? 3 : 1); ++i)
    {
        if (!(size[i] > 0.0) || !isfinite(size[i]))
            return snwFail(message, snw_errorArgument, NULL, "size[%d] must be > 0 m, is %g", i, size[i]);
        if (def->kind != snw_shapeSpring && (def->cells[i] < 1 || def->cells[i] > most))
            return snwFail(message, snw_errorArgument, NULL, "cells[%d] must be 1..%d, is %d", i, most, def->cells[i]);
        tets *= def->cells[i];
    }

    if (box && tets > shape_maxShapeTets)
        return snwFail(
            message, snw_errorArgument, "use fewer cells", "%.0f tets, at most %d", tets, shape_maxShapeTets);
    if (def->kind == snw_shapeSpring && (!(def->springMass > 0.0) || !isfinite(def->springMass)))
        return snwFail(message, snw_errorArgument, NULL, "springMass must be > 0 kg, is %g", def->springMass);
    return snwMaterial_Check(&def->material, message);
}

static snwResult CreateFromMesh(snwContext* context, const snwShapeDef* def, const snwTetMesh* mesh,
    snwCharacterDef* character, snwCharacter** out, snwMessage* message)
{
    character->name = def->name;
    character->source = def->source;
    character->vertices = mesh->vertices;
    character->vertexCount = mesh->vertexCount;
    character->tets = (const int(*)[4])mesh->tets;
    character->tetCount = mesh->tetCount;
    character->materials = &def->material;
    character->materialCount = 1;
    for (int i = 0; i < 3; ++i)
        character->color[i] = def->color[i];
    return snwCreateCharacter(context, character, out, message);
}

static snwResult CreateSpring(snwContext* context, const snwShapeDef* def, snwCharacter** out, snwMessage* message)
{
    snwVec3 vertices[2] = {{-0.5 * def->size.x, 0, 0}, {0.5 * def->size.x, 0, 0}};
    const int edges[1][2] = {{0, 1}};
    const double masses[2] = {def->springMass, def->springMass};
    snwTetMesh mesh = {.vertices = vertices, .vertexCount = 2};
    snwCharacterDef character = snwDefaultCharacterDef();
    character.edges = edges;
    character.edgeCount = 1;
    character.masses = masses;
    return CreateFromMesh(context, def, &mesh, &character, out, message);
}

snwResult snwCreateShape(snwContext* context, const snwShapeDef* def, snwCharacter** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckShapeDef(def, message);
    if (result < 0)
        return result;
    if (def->kind == snw_shapeSpring)
        return CreateSpring(context, def, out, message);
    snwArena arena = {.context = context};
    snwTetMesh mesh;
    bool made = def->kind == snw_shapeBall ? snwMakeBallMesh(&arena, 0.5 * def->size.x, (def->cells[0] + 1) / 2, &mesh)
                                           : snwMakeBoxMesh(&arena, def->size, def->cells, &mesh);
    snwCharacterDef character = snwDefaultCharacterDef();
    result = made ? CreateFromMesh(context, def, &mesh, &character, out, message) : snwFailMemory(message);
    snwArena_Free(&arena);
    return result;
}
