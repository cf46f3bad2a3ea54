// Words that people type: how far two are apart (letters missing, wrong or swapped), the nearest known one, patterns
// with * and ?, quotes in messages, and bytes of UTF-8.

#include "scene/words.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxWord = 63
};

static int Least(int a, int b)
{
    return a < b ? a : b;
}

int snwWordDistance(const char* a, const char* b)
{
    // Three rows of the usual table: two back (for swaps), the last one, and the one being filled.
    int rows[3][snw_maxWord + 1];
    int m = (int)strnlen(a, snw_maxWord), n = (int)strnlen(b, snw_maxWord);
    int *older = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= n; ++j)
        last[j] = j;

    // Damerau's distance: besides single letters, neighbours that were swapped cost one.
    for (int i = 1; i <= m; ++i)
    {
        row[0] = i;
        for (int j = 1; j <= n; ++j)
        {
            row[j] = Least(Least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = Least(row[j], older[j - 2] + 1);
        }

        int* free = older;
        older = last, last = row, row = free;
    }

    return last[n];
}

const char* snwNearestWord(const char* word, int count, snwWordFn* name, const void* data)
{
    int length = (int)strnlen(word, snw_maxWord);
    int least = length / 3 + 2; // further away it is a guess, not a typing mistake
    const char* nearest = NULL;
    for (int i = 0; i < count; ++i)
    {
        const char* candidate = name(i, data);
        int distance = candidate == NULL ? INT_MAX : snwWordDistance(word, candidate);
        if (distance < least)
            least = distance, nearest = candidate;
    }
    return nearest;
}

static void ListWords(char* buffer, size_t capacity, int count, snwWordFn* name, const void* data)
{
    int used = snprintf(buffer, capacity, "known:");
    for (int i = 0; i < count && used > 0 && (size_t)used < capacity; ++i)
    {
        const char* word = name(i, data);
        if (word == NULL || strlen(word) > snw_maxWord)
            continue;
        if ((size_t)used + strlen(word) + 8 > capacity)
        {
            snprintf(buffer + used, capacity - (size_t)used, " ...");
            return;
        }
        used += snprintf(buffer + used, capacity - (size_t)used, "%s%s", buffer[used - 1] == ':' ? " " : ", ", word);
    }
    if (used == (int)strlen("known:"))
        buffer[0] = 0; // nothing to list is no remedy
}

void snwSuggestWord(char* buffer, size_t capacity, const char* word, int count, snwWordFn* name, const void* data)
{
    const char* nearest = snwNearestWord(word, count, name, data);
    if (nearest != NULL)
        snprintf(buffer, capacity, "did you mean '%s'?", snwQuoteWord(nearest).text);
    else
        ListWords(buffer, capacity, count, name, data);
}

snwQuote snwQuoteWord(const char* word)
{
    snwQuote quote;
    size_t length = strnlen(word, snw_maxQuote + 1), used = length <= snw_maxQuote ? length : snw_maxQuote;
    while (used > 0 && used < length && ((unsigned char)word[used] & 0xC0) == 0x80)
        used--; // never cut inside a character
    for (size_t i = 0; i < used; ++i)
        quote.text[i] = (unsigned char)word[i] < 32 || word[i] == 127 ? '?' : word[i];
    memcpy(quote.text + used, used < length ? "..." : "", used < length ? 4 : 1);
    return quote;
}

bool snwWord_Matches(const char* pattern, const char* word)
{
    if (strpbrk(pattern, "*?") == NULL)
        return strcmp(pattern, word) == 0;
    const char *star = NULL, *retry = NULL; // the last * and where it was tried

    // Without recursion: after a mismatch the last star takes one more letter.
    while (*word != 0)
    {
        if (*pattern == '*')
        {
            star = ++pattern;
            retry = word;
        }
        else if (*pattern == '?' || tolower((unsigned char)*pattern) == tolower((unsigned char)*word))
        {
            ++pattern;
            ++word;
        }
        else if (star != NULL)
        {
            pattern = star;
            word = ++retry;
        }
        else
            return false;
    }

    while (*pattern == '*')
        ++pattern;
    return *pattern == 0;
}

int snwUtf8Size(const char* text, size_t size)
{
    static const unsigned s_least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned first = (unsigned char)text[0], value;
    int wanted = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (wanted < 2 || (size_t)wanted > size)
        return wanted == 1;
    value = first & (0xffu >> (wanted + 1));
    for (int i = 1; i < wanted; ++i)
    {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    return value < s_least[wanted] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : wanted;
}
