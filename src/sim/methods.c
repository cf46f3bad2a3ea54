// The list of methods, and the parameters they share.

#include "sim/methods.h"

#include <stdio.h>
#include <string.h>

#define LIST_METHOD(name) &name,
static const snwMethod* const s_methods[] = {SNW_METHODS(LIST_METHOD)};

static const snwParamInfo s_shared[snw_sharedParamCount] = {
    [snw_paramSubsteps] = {.name = "sim.substeps",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 1000,
        .initial = 4,
        .live = true,
        .help = "equal parts into which each step is cut"},
    [snw_paramJitter] = {.name = "sim.jitter",
        .type = snw_paramReal,
        .unit = "m/s",
        .lower = 0,
        .upper = 100,
        .initial = 0,
        .live = false,
        .help = "random velocity each body starts with, from the scene's seed: for runs over many seeds"},
};

int snwMethodCount(void)
{
    return (int)(sizeof s_methods / sizeof s_methods[0]);
}

const snwMethod* snwMethod_Get(int index)
{
    return s_methods[index];
}

int snwMethod_Find(const char* name)
{
    for (int i = 0; i < snwMethodCount(); ++i)
        if (strcmp(s_methods[i]->name, name) == 0)
            return i;
    return -1;
}

int snwMethod_ParamCount(const snwMethod* method)
{
    return snw_sharedParamCount + method->paramCount;
}

const snwParamInfo* snwMethod_Param(const snwMethod* method, int param)
{
    if (param < 0 || param >= snwMethod_ParamCount(method))
        return NULL;
    if (param == snw_paramSubsteps && method->substeps != NULL)
        return method->substeps;
    return param < snw_sharedParamCount ? &s_shared[param] : &method->params[param - snw_sharedParamCount];
}

int snwMethod_FindParam(const snwMethod* method, const char* name)
{
    for (int i = 0; i < snwMethod_ParamCount(method); ++i)
        if (strcmp(snwMethod_Param(method, i)->name, name) == 0)
            return i;
    return -1;
}

snwMethodInfo snwMethod_GetInfo(int index)
{
    if (index < 0 || index >= snwMethodCount())
        return (snwMethodInfo){0};
    const snwMethod* method = s_methods[index];
    return (snwMethodInfo){method->name, method->title, method->source, snwMethod_ParamCount(method)};
}

const snwParamInfo* snwMethod_GetParam(int method, int param)
{
    return method < 0 || method >= snwMethodCount() ? NULL : snwMethod_Param(s_methods[method], param);
}

snwResult snwParam_Check(const snwParamInfo* param, double value, snwMessage* message)
{
    char remedy[128];
    snprintf(remedy, sizeof remedy, "%s takes %g..%g%s%s", param->name, param->lower, param->upper,
        param->unit[0] ? " " : "", param->unit);
    if (!(value >= param->lower && value <= param->upper))
        return snwFail(message, snw_errorArgument, remedy, "%s = %g is out of range", param->name, value);
    if (param->type != snw_paramReal && value != (double)(int64_t)value)
        return snwFail(message, snw_errorArgument, remedy, "%s = %g is not a whole number", param->name, value);
    return snw_ok;
}
