// Settings on the command line: NAME=VALUE, and sweeps NAME=a,b,c or NAME=a:b:n, checked against the parameters of
// the methods.

#include "app/settings.h"
#include "app/common.h"
#include "app/console.h"
#include "app/nearest.h"
#include "base/result.h"
#include "scene/material_changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Settings of materials are no parameters of a method: each that was named gets a row here, for the life of the
// program.
static struct
{
    char name[160];
    snwParamInfo info;
} s_materials[64];

static const snwParamInfo* FindMaterial(const char* name)
{
    const snwField* field = snwMaterialSetting_Field(name);
    int i = 0, count = sizeof s_materials / sizeof *s_materials;
    if (field == NULL || strlen(name) >= sizeof s_materials[0].name)
        return NULL;
    while (i < count && s_materials[i].name[0] != 0 && strcmp(s_materials[i].name, name) != 0)
        ++i;
    if (i == count)
        return NULL;
    snprintf(s_materials[i].name, sizeof s_materials[i].name, "%s", name);
    s_materials[i].info = (snwParamInfo){.name = s_materials[i].name,
        .type = snw_paramReal,
        .unit = field->unit != NULL ? field->unit : "",
        .lower = field->lower,
        .upper = field->upper,
        .help = field->help};
    return &s_materials[i].info;
}

const snwParamInfo* snwFindAnyParam(const char* name)
{
    if (snwMaterialSetting_IsOne(name))
        return FindMaterial(name);
    for (int method = 0; method < snwMethodCount(); ++method)
        for (int i = 0; i < snwMethod_GetInfo(method).paramCount; ++i)
            if (strcmp(snwMethod_GetParam(method, i)->name, name) == 0)
                return snwMethod_GetParam(method, i);
    return NULL;
}

static void UnknownParam(const char* name)
{
    if (snwMaterialSetting_IsOne(name))
    {
        snwUsage("material[.BODY][.REGION].KEY, KEY one of density, young, poisson, damping, frequency, settling",
            "there is no setting '%s'", name);
        return;
    }
    snwNearest nearest = snwNearest_Start(name);
    for (int method = 0; method < snwMethodCount(); ++method)
        for (int i = 0; i < snwMethod_GetInfo(method).paramCount; ++i)
            snwNearest_Try(&nearest, snwMethod_GetParam(method, i)->name);
    snwUsage(nearest.best != NULL ? nearest.best : "sinew info --params", "there is no parameter '%s'", name);
}

static bool Acts(const char* name, int method)
{
    for (int i = 0; i < snwMethod_GetInfo(method).paramCount; ++i)
        if (strcmp(snwMethod_GetParam(method, i)->name, name) == 0)
            return true;
    return false;
}

static double SettingOf(const snwSceneDef* scene, const char* name)
{
    const snwParamInfo* param = snwFindAnyParam(name);
    double value = param != NULL ? param->initial : 0;
    for (int i = 0; i < scene->settingCount; ++i)
        if (strcmp(scene->settings[i].name, name) == 0)
            value = scene->settings[i].value;
    return value;
}

// What flesh is made of counts in every method, but for some of its keys.
static snwResult CheckMaterial(const char* name, const snwSceneDef* scene, snwMessage* message)
{
    const char* key = strrchr(name, '.') + 1;
    bool swing = strcmp(key, "frequency") == 0 || strcmp(key, "settling") == 0;
    bool elastic = strcmp(key, "young") == 0 || strcmp(key, "poisson") == 0;
    if (swing && strcmp(scene->method, "pbcd") != 0)
        return snwFail(message, snw_errorArgument, "run pbcd", "%s does nothing here: the method that runs is %s", name,
            scene->method);
    if (elastic && strcmp(scene->method, "pbd") == 0 && SettingOf(scene, "pbd.law") == 0)
        return snwFail(message, snw_errorArgument, "--set pbd.law=compliant",
            "%s does nothing here: pbd's law is projection, whose stiffness is pbd.stretch and pbd.volume", name);
    return snw_ok;
}

snwResult snwSettings_Check(const snwSetting* settings, int count, const snwSceneDef* scene, snwMessage* message)
{
    char remedy[160];
    const char* method = scene->method;
    int index = snwMethod_Find(method);
    for (int i = 0; i < count && index >= 0; ++i)
    {
        if (snwMaterialSetting_IsOne(settings[i].name))
        {
            snwResult result = CheckMaterial(settings[i].name, scene, message);
            if (result < 0)
                return result;
            continue;
        }
        if (Acts(settings[i].name, index))
            continue;
        int other = 0;
        while (other < snwMethodCount() && !Acts(settings[i].name, other))
            ++other;
        snprintf(remedy, sizeof remedy, "sinew info --params %s lists what does; or run %s", method,
            other < snwMethodCount() ? snwMethod_GetInfo(other).name : "another method");
        return snwFail(message, snw_errorArgument, remedy, "%s does nothing here: the method that runs is %s",
            settings[i].name, method);
    }
    return snw_ok;
}

bool snwParam_ParseValue(const snwParamInfo* param, const char* text, double* value)
{
    // A choice is one of its words.
    if (param->type == snw_paramChoice)
    {
        for (int i = 0; param->choices[i] != NULL; ++i)
            if (strcmp(param->choices[i], text) == 0)
                return *value = i, true;
        return false;
    }

    if (param->type == snw_paramBool && strcmp(text, "true") == 0)
        return *value = 1, true;
    if (param->type == snw_paramBool && strcmp(text, "false") == 0)
        return *value = 0, true;

    // Numbers, within the parameter's range; 0 and 1 will do for a bool.
    double number = 0;
    bool whole = param->type != snw_paramReal;
    if (!snwParseReal(text, &number) || number < param->lower || number > param->upper)
        return false;
    if (whole && number != floor(number))
        return false;
    *value = number;

    return true;
}

void snwParam_FormatValue(const snwParamInfo* param, double value, char* buffer, size_t capacity)
{
    if (param->type == snw_paramChoice)
        snprintf(buffer, capacity, "%s", param->choices[(int)value]);
    else if (param->type == snw_paramBool)
        snprintf(buffer, capacity, "%s", value != 0 ? "true" : "false");
    else
        snprintf(buffer, capacity, "%.9g", value);
}

json_t* snwParam_ToJson(const snwParamInfo* param, double value)
{
    if (param->type == snw_paramChoice)
        return json_string(param->choices[(int)value]);
    if (param->type == snw_paramBool)
        return json_boolean(value != 0);
    if (param->type == snw_paramInt)
        return json_integer((json_int_t)value); // as a scene would have it
    return snwJsonReal(value);
}

void snwParam_FormatRange(const snwParamInfo* param, char* buffer, size_t capacity)
{
    size_t length = 0;
    buffer[0] = 0;
    if (param->type == snw_paramBool)
        snprintf(buffer, capacity, "true, false");
    else if (param->type != snw_paramChoice)
        snprintf(buffer, capacity, "%g .. %g", param->lower, param->upper);
    for (int i = 0; param->type == snw_paramChoice && param->choices[i] != NULL && length < capacity; ++i)
        length += (size_t)snprintf(buffer + length, capacity - length, "%s%s", i > 0 ? ", " : "", param->choices[i]);
}

static snwExit BadValue(const snwParamInfo* param, const char* text)
{
    char range[192];
    snwParam_FormatRange(param, range, sizeof range);
    return snwUsage(range, "%s cannot be '%s'", param->name, text);
}

// Cuts "name=rest" and finds the parameter.
static bool SplitName(const char* option, const char* text, const snwParamInfo** param, const char** rest)
{
    char name[128];
    size_t length = strcspn(text, "=");
    if (text[length] != '=' || length >= sizeof name)
        return snwUsage("name=value", "%s %s has no '='", option, text), false;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *rest = text + length + 1;
    *param = snwFindAnyParam(name);
    if (*param == NULL)
        UnknownParam(name);
    return *param != NULL;
}

snwExit snwSetting_Parse(const char* text, snwSetting* setting)
{
    const snwParamInfo* param = NULL;
    const char* rest = NULL;
    if (!SplitName("--set", text, &param, &rest))
        return snw_exitUsage;
    setting->name = param->name;
    return snwParam_ParseValue(param, rest, &setting->value) ? snw_exitOk : BadValue(param, rest);
}

// a:b:n
static bool ParseSteps(const char* text, double* first, double* last, int* count)
{
    char copy[128];
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return false;
    char* second = strchr(copy, ':');
    char* third = second != NULL ? strchr(second + 1, ':') : NULL;
    if (third == NULL)
        return false;
    *second = *third = 0;
    return snwParseReal(copy, first) && snwParseReal(second + 1, last) && snwParseInt(third + 1, count) &&
           *count >= 1 && *count <= snw_maxSweepValues;
}

static snwExit SweepSteps(const char* option, const char* text, snwSweep* sweep)
{
    double first = 0, last = 0;
    if (!ParseSteps(text, &first, &last, &sweep->count))
        return snwUsage("first:last:count, for example 1:10:4", "%s does not understand '%s'", option, text);
    for (int i = 0; i < sweep->count; ++i)
    {
        double t = sweep->count > 1 ? (double)i / (sweep->count - 1) : 0;
        double value = first + t * (last - first);
        if (sweep->param->type != snw_paramReal)
            value = round(value);
        if (value < sweep->param->lower || value > sweep->param->upper)
            return BadValue(sweep->param, text);
        sweep->values[i] = value;
    }
    return snw_exitOk;
}

static snwExit SweepList(const char* option, const char* text, snwSweep* sweep)
{
    sweep->count = 0;
    for (;; text++)
    {
        char word[64];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (sweep->count == snw_maxSweepValues)
            return snwUsage("fewer values", "%s takes at most %d values", option, snw_maxSweepValues);
        if (!snwParam_ParseValue(sweep->param, word, &sweep->values[sweep->count++]))
            return BadValue(sweep->param, word);
        text += length;
        if (*text == 0)
            return snw_exitOk;
    }
}

snwExit snwSweep_ParseFor(const char* option, const char* text, snwSweep* sweep)
{
    const char* rest = NULL;
    if (!SplitName(option, text, &sweep->param, &rest))
        return snw_exitUsage;
    return strchr(rest, ':') != NULL ? SweepSteps(option, rest, sweep) : SweepList(option, rest, sweep);
}

snwExit snwSweep_Parse(const char* text, snwSweep* sweep)
{
    return snwSweep_ParseFor("--sweep", text, sweep);
}
