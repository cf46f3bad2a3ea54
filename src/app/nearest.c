// The nearest of words that are tried one by one, for "did you mean".

#include "app/nearest.h"
#include "scene/words.h"

#include <string.h>

snwNearest snwNearest_Start(const char* word)
{
    // Up to a third of the letters may be wrong: "smi" is sim, "studio" is not sim.
    int length = (int)strnlen(word, 12);
    return (snwNearest){word, NULL, 1 + length / 3};
}

void snwNearest_Try(snwNearest* nearest, const char* candidate)
{
    int distance = snwWordDistance(nearest->word, candidate);
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
