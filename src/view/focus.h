// From where a place on a body is seen best.

#pragma once

#include "view/film.h"

typedef struct snwFocus
{
    snwFloat3 at;
    float radius; // m: what is within it of `at` is what one wants to see
} snwFocus;

// 0..1: how much of the surface around the focus is in sight of a camera that looks at it from so far away, along
// forward (unit), and faces it. By the film's values where it has some: what has none is not missed. 1 if there is
// nothing.
float snwFocus_Seen(const snwFilm* film, int frame, const snwFocus* focus, snwFloat3 forward, float away);
