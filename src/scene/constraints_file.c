// Linear constraints of blueprints and scenes: the table, handles and degrees of freedom by name, and which of them a
// handle has.

#include "scene/constraints_file.h"
#include "scene/words.h"
#include "sim/limits.h"
#include "sim/vocabulary.h"

#include <string.h>

static const snwField s_termFields[] = {
    {.key = "handle",
        .type = snw_fieldText,
        .offset = offsetof(snwTermData, handle),
        .required = true,
        .help = "a handle; of a character without handles a bone"},
    {.key = "dof",
        .type = snw_fieldChoice,
        .offset = offsetof(snwTermData, dof),
        .names = snw_dofWords,
        .required = true,
        .help = "coordinate of its point, m, or part of its turn since the rest pose, rad"},
    {.key = "coefficient",
        .type = snw_fieldReal,
        .offset = offsetof(snwTermData, coefficient),
        .lower = -SNW_MAX_POSITION,
        .upper = SNW_MAX_POSITION,
        .help = "1 if absent"},
};

static void InitTerm(void* object, int kind)
{
    (void)kind;
    ((snwTermData*)object)->coefficient = 1;
}

const snwTable snw_termTable = {
    "term", "A degree of freedom in a sum", SNW_TABLE_FIELDS(s_termFields), sizeof(snwTermData), NULL, InitTerm};

static const snwField s_constraintFields[] = {
    {.key = "terms",
        .type = snw_fieldRaw,
        .offset = offsetof(snwConstraintData, terms),
        .required = true,
        .schema = "list",
        .table = &snw_termTable,
        .help = "what is summed"},
    {.key = "value",
        .type = snw_fieldReal,
        .offset = offsetof(snwConstraintData, value),
        .lower = -SNW_MAX_POSITION,
        .upper = SNW_MAX_POSITION,
        .help = "what the sum is, 0 if absent; commands may change it"},
};

static void InitConstraint(void* object, int kind)
{
    (void)kind;
    ((snwConstraintData*)object)->value = 0;
}

const snwTable snw_constraintTable = {"linear_constraint", "A sum of degrees of freedom of handles that stays",
    SNW_TABLE_FIELDS(s_constraintFields), sizeof(snwConstraintData), NULL, InitConstraint};

// ---------------------------------------------------------------------------------------------------------------------

static int HandleCount(const snwBlueprint* blueprint)
{
    return blueprint->handleCount > 0 ? blueprint->handleCount : blueprint->boneCount;
}

static const char* HandleName(int index, const void* data)
{
    const snwBlueprint* blueprint = data;
    return blueprint->handleCount > 0 ? blueprint->handles[index].name : blueprint->bones[index].name;
}

static snwResult FindConstraintHandle(snwJson* json, const snwBlueprint* blueprint, const char* name, int* handle)
{
    for (int i = 0; i < HandleCount(blueprint); ++i)
        if (strcmp(HandleName(i, blueprint), name) == 0)
        {
            *handle = i;
            return snw_ok;
        }
    char remedy[240];
    snwSuggestWord(remedy, sizeof remedy, name, HandleCount(blueprint), HandleName, blueprint);
    snwJson_Enter(json, "handle");
    return snwJson_Fail(json, remedy, "there is no handle '%s'", snwQuoteWord(name).text);
}

// A corner of a cage does not turn; what is flat moves in x and y and turns about z.
static snwResult CheckDof(snwJson* json, const snwBlueprint* blueprint, const snwTermData* data, int handle)
{
    uint32_t dof = 1u << data->dof;
    bool cage = blueprint->handleCount > 0 && blueprint->handles[handle].kind == snw_handleCage;
    if (blueprint->flat.ringCount > 0 && (dof & (snw_dofX | snw_dofY | snw_dofRotationZ)) == 0)
    {
        snwJson_Enter(json, "dof");
        return snwJson_Fail(
            json, "x, y or rotation_z", "a flat character does not move along '%s'", snw_dofWords[data->dof]);
    }
    if (cage && dof >= snw_dofRotationX)
    {
        snwJson_Enter(json, "dof");
        return snwJson_Fail(
            json, "x, y or z", "'%s' is a corner of a cage, which does not turn", snwQuoteWord(data->handle).text);
    }
    return snw_ok;
}

static snwResult ReadTerm(snwJson* json, const json_t* value, const snwBlueprint* blueprint, snwLinearTerm* term)
{
    snwTermData data;
    snwResult result = snwTable_Read(json, &snw_termTable, value, &data, NULL);
    if (result == snw_ok)
        result = FindConstraintHandle(json, blueprint, data.handle, &term->handle);
    if (result == snw_ok)
        result = CheckDof(json, blueprint, &data, term->handle);
    if (result < 0)
        return result;
    term->dof = 1u << data.dof;
    term->coefficient = data.coefficient;
    return snw_ok;
}

static snwResult ReadConstraint(
    snwJson* json, const json_t* value, snwArena* arena, const snwBlueprint* blueprint, snwLinearConstraintDef* out)
{
    snwConstraintData data;
    snwResult result = snwTable_Read(json, &snw_constraintTable, value, &data, NULL);
    if (result < 0)
        return result;

    // sum of coefficient times handle's degree of freedom = value.
    snwLinearTerm* terms = snwJson_NewList(json, arena, "terms", data.terms, snw_maxTerms, sizeof *terms, &result);
    int count = (int)json_array_size(data.terms);
    size_t outer = snwJson_Enter(json, "terms");
    if (result == snw_ok && count == 0)
        return snwJson_Fail(json, NULL, "must have at least one term");

    // Each term names a handle of the blueprint.
    for (int i = 0; i < count && result == snw_ok; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, (size_t)i);
        result = ReadTerm(json, json_array_get(data.terms, (size_t)i), blueprint, &terms[i]);
        if (result == snw_ok)
            snwJson_Leave(json, mark);
    }

    if (result == snw_ok)
        snwJson_Leave(json, outer);
    *out = (snwLinearConstraintDef){terms, count, data.value};
    return result;
}

static snwResult AppendConstraints(
    snwJson* json, snwArena* arena, const snwLinearConstraintDef* added, int count, snwBlueprint* out)
{
    int before = out->constraintCount;
    snwLinearConstraintDef* all = snwArena_Alloc(arena, (size_t)before + (size_t)count, sizeof *all);
    if (all == NULL)
        return snwJson_Locate(json, snwFailMemory(json->message));
    for (int i = 0; i < before + count; ++i)
        all[i] = i < before ? out->constraints[i] : added[i - before];
    out->constraints = all;
    out->constraintCount = before + count;
    return snw_ok;
}

snwResult snwConstraints_ReadJson(snwJson* json, const json_t* list, snwArena* arena, snwBlueprint* blueprint)
{
    snwResult result = snw_ok;
    int count = (int)json_array_size(list), most = snw_maxConstraints - blueprint->constraintCount;
    snwLinearConstraintDef* added = snwJson_NewList(json, arena, "constraints", list, most, sizeof *added, &result);
    if (added == NULL)
        return result;
    size_t outer = snwJson_Enter(json, "constraints");
    for (int i = 0; i < count; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, (size_t)i);
        result = ReadConstraint(json, json_array_get(list, (size_t)i), arena, blueprint, &added[i]);
        if (result < 0)
            return result;
        snwJson_Leave(json, mark);
    }
    snwJson_Leave(json, outer);
    return AppendConstraints(json, arena, added, count, blueprint);
}
