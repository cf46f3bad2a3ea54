// The nearest known word to one that is not known.

#pragma once

typedef struct snwNearest
{
    const char* word;
    const char* best; // NULL: nothing is near enough to be meant
    int distance;
} snwNearest;

snwNearest snwNearest_Start(const char* word);
void snwNearest_Try(snwNearest* nearest, const char* candidate);
