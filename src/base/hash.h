// A 64-bit hash of bytes: the name of a state. Not for adversaries.

#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t snwHash(const void* data, size_t size, uint64_t seed);
uint64_t snwHashText(const char* text, uint64_t seed);
