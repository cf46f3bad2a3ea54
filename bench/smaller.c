#include "smaller.h"

#include "scene/builtin.h"

#include <math.h>

// Sizes of blueprints that count something; "refine" does not.
static const char* const s_sizes[] = {
    "tets", "elastic_vertices", "vertices", "skin_vertices", "hexes", "triangles", NULL};

// {"blueprint": ...} or {"shape": ...}
static void ShrinkCharacter(json_t* character, double scale)
{
    json_t* blueprint = json_object_get(character, "blueprint");
    const snwBuiltIn* builtIn = json_is_string(blueprint) ? snwBuiltIn_Find(json_string_value(blueprint)) : NULL;
    if (builtIn != NULL)
    {
        blueprint = json_loadb(builtIn->text, builtIn->size, 0, NULL);
        json_object_set_new(character, "blueprint", blueprint);
    }
    json_object_del(blueprint, "paint");
    json_object_del(character, "fine");

    json_t* size = json_object_get(character, blueprint != NULL ? "size" : "cells");
    if (blueprint != NULL && size == NULL)
        size = json_object_get(blueprint, "size");
    for (int i = 0; s_sizes[i] != NULL && json_is_object(size); ++i)
    {
        double count = json_number_value(json_object_get(size, s_sizes[i]));
        if (count > 0)
            json_object_set_new(size, s_sizes[i], json_integer((json_int_t)ceil(scale * count)));
    }
    for (size_t i = 0; i < json_array_size(size); ++i)
    {
        double cells = json_number_value(json_array_get(size, i));
        json_array_set_new(size, i, json_integer((json_int_t)fmax(1, round(cbrt(scale) * cells))));
    }
}

void snwMakeSceneSmaller(json_t* scene, double scale, double wider)
{
    json_t *body, *pin;
    const char* name;
    size_t i;
    json_array_foreach(json_object_get(scene, "pins"), i, pin) for (size_t axis = 0; axis < 3; ++axis)
    {
        json_t *lower = json_object_get(pin, "lower"), *upper = json_object_get(pin, "upper");
        json_array_set_new(lower, axis, json_real(json_number_value(json_array_get(lower, axis)) - wider));
        json_array_set_new(upper, axis, json_real(json_number_value(json_array_get(upper, axis)) + wider));
    }
    json_array_foreach(json_object_get(scene, "bodies"), i, body)
        ShrinkCharacter(json_object_get(body, "character"), scale);
    json_object_foreach(json_object_get(scene, "characters"), name, body) ShrinkCharacter(body, scale);
}
