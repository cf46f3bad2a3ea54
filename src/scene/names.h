// From names in files to numbers in the engine, and parameter values as people write them.

#pragma once

#include "scene/fields.h"

// Each sets *index, or fails with the nearest known name. What the name belongs to must be in the definition already.
snwResult snwFindBody(snwJson* json, const snwSceneDef* def, const char* name, int* index);
snwResult snwFindCollider(snwJson* json, const snwSceneDef* def, const char* name, int* index);
snwResult snwFindProp(snwJson* json, const snwSceneDef* def, const char* name, int* index);
snwResult snwFindPin(snwJson* json, const snwSceneDef* def, const char* name, int* index);
snwResult snwFindMethod(snwJson* json, const char* name, int* method);

snwResult snwFindMotion(snwJson* json, const snwCharacter* character, const char* name, int* index);

// value: a name or a number.
snwResult snwFindHandle(snwJson* json, const snwCharacter* character, const json_t* value, int* index);
snwResult snwFindJoint(snwJson* json, const snwCharacter* character, const json_t* value, int* index);
// The name, or NULL where it has none or shares it.
const char* snwHandleName(const snwCharacter* character, int index);
const char* snwJointName(const snwCharacter* character, int index);

// Number of the parameter in the method's list; -1 if it has none of that name.
int snwParam_Find(int method, const char* name);
// The parameter of any method; fails with the nearest name.
snwResult snwParam_FindAny(snwJson* json, const char* name, const snwParamInfo** info);

// Numbers, true and false, or the name of a choice.
snwResult snwParam_ReadValue(snwJson* json, const snwParamInfo* info, const json_t* value, double* out);
snwResult snwParam_CheckValue(snwJson* json, const snwParamInfo* info, double value);
void snwParam_WriteValue(snwText* text, const snwParamInfo* info, double value);
