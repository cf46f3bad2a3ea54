// Linear constraints between the degrees of freedom of a blueprint's handles:
//
//   "constraints": [{"terms": [{"handle": "left", "dof": "y"}, {"handle": "right", "dof": "y", "coefficient": -1}]}]
//
// keeps left and right at one height. Terms without a coefficient count once; without a value they sum to 0.

#pragma once

#include "scene/fields.h"
#include "sim/blueprint.h"

enum
{
    snw_maxConstraints = 256,
    snw_maxTerms = 256, // of a constraint
};

typedef struct snwTermData
{
    const char* handle;
    int dof; // bit of snw_dof...
    double coefficient;
} snwTermData;

typedef struct snwConstraintData
{
    const json_t* terms;
    double value;
} snwConstraintData;

extern const snwTable snw_constraintTable, snw_termTable;

// Reads the value of the key "constraints" (NULL: none) and adds them to those that the blueprint has; its handles (or
// bones, where they serve as such) must be there. Everything is in the arena.
snwResult snwConstraints_ReadJson(snwJson* json, const json_t* list, snwArena* arena, snwBlueprint* blueprint);
