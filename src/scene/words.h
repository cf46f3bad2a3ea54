// Words people type: the nearest known one, and quoting in messages.

#pragma once

#include <stdbool.h>
#include <stddef.h>

enum
{
    snw_maxQuote = 48 // bytes of a foreign word that a message shows
};

// Edits (insert, delete, replace, swap neighbours) that turn a into b; only the first 63 bytes count.
int snwWordDistance(const char* a, const char* b);

// The candidate with the fewest edits, or NULL if none comes near. name(i, data) gives candidate i, or NULL to skip it.
typedef const char* snwWordFn(int index, const void* data);
const char* snwNearestWord(const char* word, int count, snwWordFn* name, const void* data);

// A remedy: "did you mean 'gravity'?", or "known: a, b, c" if nothing comes near; cut to fit.
void snwSuggestWord(char* buffer, size_t capacity, const char* word, int count, snwWordFn* name, const void* data);

// Whether a word is what a pattern says: itself, or, with * for any letters and ? for one, whatever the case.
bool snwWord_Matches(const char* pattern, const char* word);

// Bytes of the UTF-8 character at the start of the text; 0 if it is none: cut off, overlong, half of a pair, too large.
int snwUtf8Size(const char* text, size_t size);

// A copy fit for messages: short, whole UTF-8 characters, no control characters.
typedef struct snwQuote
{
    char text[snw_maxQuote + 4];
} snwQuote;

snwQuote snwQuoteWord(const char* word);
