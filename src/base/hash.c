// Four independent lanes of multiply and rotate over 32-byte blocks keep the multiplier busy; the tail is padded with
// zeros and the length goes into the end, so that trailing zeros count.

#include "base/hash.h"

#include <string.h>

#define SNW_HASH_A 0x9E3779B97F4A7C15ull
#define SNW_HASH_B 0xD6E8FEB86659FD93ull

static inline uint64_t RotateBits(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static inline uint64_t MixHash(uint64_t lane, uint64_t word)
{
    return RotateBits((lane ^ word) * SNW_HASH_A, 29) * SNW_HASH_B;
}

// A good last scramble: every input bit reaches every output bit.
static uint64_t ScrambleHash(uint64_t value)
{
    value ^= value >> 32;
    value *= SNW_HASH_B;
    value ^= value >> 32;
    value *= SNW_HASH_B;
    return value ^ value >> 32;
}

uint64_t snwHash(const void* data, size_t size, uint64_t seed)
{
    const unsigned char* bytes = data;
    uint64_t lanes[4] = {
        seed ^ SNW_HASH_A, seed + SNW_HASH_B, RotateBits(seed, 17) ^ SNW_HASH_B, RotateBits(seed, 43) + SNW_HASH_A};
    uint64_t words[4];
    size_t left = size;

    for (; left >= sizeof words; left -= sizeof words, bytes += sizeof words)
    {
        memcpy(words, bytes, sizeof words);
        for (int i = 0; i < 4; ++i)
            lanes[i] = MixHash(lanes[i], words[i]);
    }

    // The tail goes in as one block, filled up with zeros.
    if (left > 0)
    {
        memset(words, 0, sizeof words);
        memcpy(words, bytes, left);
        for (int i = 0; i < 4; ++i)
            lanes[i] = MixHash(lanes[i], words[i]);
    }

    uint64_t hash = (uint64_t)size * SNW_HASH_A;
    for (int i = 0; i < 4; ++i)
        hash = MixHash(hash, ScrambleHash(lanes[i]));
    return ScrambleHash(hash);
}

uint64_t snwHashText(const char* text, uint64_t seed)
{
    return snwHash(text, strlen(text), seed);
}
