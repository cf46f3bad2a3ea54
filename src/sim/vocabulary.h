// What kinds are called in files, commands, reports and on the page: one list each, in the order of its enum. Field
// tables take them as they are, for each ends with NULL.

#pragma once

extern const char* const snw_jointTypeWords[];
extern const char* const snw_handleKindWords[];
extern const char* const snw_dofWords[]; // bits of a mask, lowest first
extern const char* const snw_colliderKindWords[];
extern const char* const snw_commandKindWords[];
extern const char* const snw_surfaceKindWords[];
extern const char* const snw_paramTypeWords[];
