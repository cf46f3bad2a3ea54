// --set name=value and --sweep name=values, checked against the tables of the methods.

#pragma once

#include "app/cli.h"

#include <jansson.h>

// The parameter of any method, or material[.BODY][.REGION].KEY; NULL if there is none.
const snwParamInfo* snwFindAnyParam(const char* name);

// A number, a choice's name, or true and false; checked against the range.
bool snwParam_ParseValue(const snwParamInfo* param, const char* text, double* value);
void snwParam_FormatValue(const snwParamInfo* param, double value, char* buffer, size_t capacity);
json_t* snwParam_ToJson(const snwParamInfo* param, double value);
void snwParam_FormatRange(const snwParamInfo* param, char* buffer, size_t capacity);

// An error if the scene's method makes nothing of one of these: it would change nothing, untold.
snwResult snwSettings_Check(const snwSetting* settings, int count, const snwSceneDef* scene, snwMessage* message);

// "name=value". The name in the setting is the table's own and lives for ever. Mistakes are reported.
snwExit snwSetting_Parse(const char* text, snwSetting* setting);

enum
{
    snw_maxSweepValues = 1000,
    snw_maxSweeps = 8,
    snw_maxRuns = 100000
};

typedef struct snwSweep
{
    const snwParamInfo* param;
    double values[snw_maxSweepValues];
    int count;
} snwSweep;

// "name=a:b:n" for n even steps from a to b, or "name=v1,v2,v3".
snwExit snwSweep_Parse(const char* text, snwSweep* sweep);
// The same for another option, whose name is in the messages.
snwExit snwSweep_ParseFor(const char* option, const char* text, snwSweep* sweep);
