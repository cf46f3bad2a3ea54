// Commands as JSON objects, inside a document.

#pragma once

#include "scene/tables.h"

// The definition must hold bodies (with characters), colliders, pins and the method.
snwResult snwCommand_ReadJson(snwJson* json, const snwSceneDef* def, const json_t* value, snwCommand* command);

// Writes the object with its braces. Numbers that name nothing in the scene are written as they are.
void snwCommand_WriteJson(snwText* text, const snwSceneDef* def, const snwCommand* command);
