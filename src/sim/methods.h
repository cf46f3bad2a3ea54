// Finding methods and their parameters.

#pragma once

#include "sim/method.h"

// All methods, in the order in which they are listed.
#define SNW_METHODS(X)                                                                                                 \
    X(snwPbdMethod)                                                                                                    \
    X(snwApdMethod) X(snwPbcdMethod) X(snwRigpbdMethod) X(snwSkelfemMethod) X(snwSoftcontactMethod)

#define SNW_DECLARE_METHOD(name) extern const snwMethod name;
SNW_METHODS(SNW_DECLARE_METHOD)

int snwMethod_ParamCount(const snwMethod* method);
const snwParamInfo* snwMethod_Param(const snwMethod* method, int param); // NULL if there is none
int snwMethod_FindParam(const snwMethod* method, const char* name);      // -1 if there is none
snwResult snwParam_Check(const snwParamInfo* param, double value, snwMessage* message);
