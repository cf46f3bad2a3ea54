// Films of flat characters: paper figures before a wall, seen straight from the front.
//
// All of them lie in one plane, so a camera far away sees them as on paper. Colliders are cut by that plane and drawn
// as flat shapes, a little behind the figures; everything throws a soft shadow on the wall.

#pragma once

#include "view/film.h"

// Nothing but flat bodies.
bool snwFilm_IsFlat(const snwFilm* film);

// A view that has the figures, and the ground and obstacles near them, in all frames. picture.centre and radius are
// there.
snwCamera snwFilm_FlatCamera(const snwFilm* film);

// The body's positions with a little height, m above the plane: what is above and to the right at rest lies over the
// rest of it where it folds, and later bodies over earlier ones. Into film->layers.
const float* snwFilm_LayFlat(const snwFilm* film, int body, int frame);

// The cut through a collider as a solid of the picture.
snwResult snwFilm_AddFlatCollider(snwFilm* film, int collider, snwMessage* message);
