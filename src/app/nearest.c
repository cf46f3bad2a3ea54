#include "app/nearest.h"

#include <stddef.h>
#include <string.h>

enum
{
    snw_maxWord = 64 // longer words are compared by their beginning
};

static int Least(int a, int b)
{
    return a < b ? a : b;
}

// Three rows of the usual table are enough, also for swapped neighbours.
int snwEditDistance(const char* a, const char* b)
{
    int rows[3][snw_maxWord + 1];
    int n = (int)strnlen(a, snw_maxWord), m = (int)strnlen(b, snw_maxWord);
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= m; ++j)
        row[j] = before[j] = last[j] = j;
    for (int i = 1; i <= n; ++i)
    {
        int* oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = i;
        for (int j = 1; j <= m; ++j)
        {
            row[j] = Least(Least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = Least(row[j], before[j - 2] + 1);
        }
    }
    return row[m];
}

snwNearest snwNearest_Start(const char* word)
{
    // Up to a third of the letters may be wrong: "smi" is sim, "studio" is not sim.
    int length = (int)strnlen(word, snw_maxWord);
    return (snwNearest){word, NULL, 1 + Least(length / 3, 4)};
}

void snwNearest_Try(snwNearest* nearest, const char* candidate)
{
    int distance = snwEditDistance(nearest->word, candidate);
    // A word cut short is meant too: "comp" is completions.
    size_t length = strlen(nearest->word);
    if (length >= 2 && strncmp(candidate, nearest->word, length) == 0)
        distance = 1;
    if (distance < nearest->distance || (distance == nearest->distance && nearest->best == NULL))
    {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
