#include "prep_sizes.h"

#include <stddef.h>

static const char s_surface[] = "the paper's tets are triangles of the surface: fewer than a solid mesh can have";
static const char s_total[] = "a lattice has fewer vertices per tet than the paper's mesher";

// Vertices of the skins of softcontact's hand and arms come from its degrees of freedom: three per point mass, and
// those of the skeleton. Its biped is soft at the feet only (334 degrees of freedom); ours has a skin all over, at a
// size of its own.
const snwPrepCase snw_prepCases[] = {
    {"cantilever", "cantilever", "apd table 1", {.tets = 7661, .elasticVertices = 1010}, 2, 1, -1, 0, 1690, s_total},
    {"bracelet", "bracelet", "apd table 1", {.tets = 4638}, 12, 12, -1, 0, 1603, s_total},
    {"nunchuck", "nunchuck", "apd table 1", {.tets = 66748}, 2, 1, -1, 0, 14073, s_total},
    {"aerial-silk", "acrobat", "apd table 1", {.tets = 45888, .elasticVertices = 11617}, 9, 8, -1, 0, 12683, s_total},
    {"frog", "frog", "apd table 1", {.tets = 121630, .elasticVertices = 24615}, 18, 13, -1, 0, 29466, s_total},
    {"snail", "snail", "apd table 1", {.tets = 105694, .elasticVertices = 14318}, 1, 0, -1, 0, 28840, s_total},
    {"monster", "monster", "apd table 1", {.tets = 137312, .elasticVertices = 29623}, 59, 9, -1, 0, 37689, s_total},
    {"beam", "beam", "pbcd table 3.1", {.vertices = 180}, 0, 0, -1, 173, 0, s_surface},
    {"jello", "jello", "pbcd table 3.1", {.vertices = 3634}, 0, 0, -1, 7228, 0, s_surface},
    {"fish", "fish", "pbcd table 4.2", {.vertices = 700}, 2, -1, -1, 0, 0, NULL},
    {"head", "head", "pbcd table 4.2", {.vertices = 1250}, 3, -1, -1, 0, 0, NULL},
    {"reptile", "reptile", "pbcd table 4.2", {.vertices = 3620}, 50, -1, -1, 0, 0, NULL},
    {"cow", "cow", "pbcd table 4.2", {.vertices = 11700}, 24, -1, -1, 0, 0, NULL},
    {"finger-flick", "hand", "softcontact table 1", {.skinVertices = 850}, -1, -1, -1, 0, 0, NULL},
    {"pinch-grasp", "hand", "softcontact table 1", {.skinVertices = 468}, -1, -1, -1, 0, 0, NULL},
    {"arm-fold", "upper-body", "softcontact table 1", {.skinVertices = 925}, -1, -1, -1, 0, 0, NULL},
    {"biped-walk", "biped", "", {.skinVertices = 500}, -1, -1, -1, 0, 0, NULL},
    {"manikin", "manikin", "skelfem table 1", {.tets = 14062}, -1, -1, 10, 0, 0, NULL},
    {"bar-24k", "bar", "skelfem table 1", {.refine = 1, .tets = 24576}, -1, -1, 4, 0, 0, NULL},
    {"bar-196k", "bar", "skelfem fig. 5", {.refine = 2, .tets = 196608}, -1, -1, 4, 0, 0, NULL},
    {"bar-1572k", "bar", "skelfem fig. 5", {.refine = 4, .tets = 1572864}, -1, -1, 4, 0, 0, NULL},
    {"dragon", "dragon", "skelfem table 1", {.tets = 67309}, -1, -1, 12, 0, 0, NULL},
    {"dragon-hexes", "dragon", "", {.hexes = 12000}, -1, -1, 12, 0, 0, NULL},
    {"horse", "horse", "", {0}, -1, -1, -1, 0, 0, NULL},
    {"octopus", "octopus", "", {0}, -1, -1, -1, 0, 0, NULL},
    {"ghost", "ghost", "rigpbd table 1", {.vertices = 430, .triangles = 748}, -1, -1, -1, 0, 0, NULL},
    {"starfish", "starfish", "rigpbd table 1", {.vertices = 273, .triangles = 445}, -1, -1, -1, 0, 0, NULL},
    {"worm", "worm", "rigpbd table 1", {.vertices = 839, .triangles = 1536}, -1, -1, -1, 0, 0, NULL},
    {"ellipse", "ellipse", "rigpbd table 1", {.vertices = 1934, .triangles = 3727}, -1, -1, -1, 0, 0, NULL},
    {"mushroom", "mushroom", "rigpbd table 1", {.vertices = 1905, .triangles = 3653}, -1, -1, -1, 0, 0, NULL},
    {"octopus-2d", "octopus-2d", "rigpbd table 1", {.vertices = 392, .triangles = 640}, -1, -1, -1, 0, 0, NULL},
    {"fish-2d", "fish-2d", "rigpbd table 1", {.vertices = 1040, .triangles = 1932}, -1, -1, -1, 0, 0, NULL},
    {"bunny", "bunny", "rigpbd table 1", {.vertices = 2241, .triangles = 4269}, -1, -1, -1, 0, 0, NULL},
};
const int snw_prepCaseCount = (int)(sizeof snw_prepCases / sizeof *snw_prepCases);
