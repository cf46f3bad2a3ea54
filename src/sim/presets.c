// Materials by name. What they look like decides: frequency and settling are what is seen of flesh on moving bones,
// young and poisson how it gives way where something touches it. Elasticity adds to the frequency: a layer of depth L
// on a bone swings at sqrt(f^2 + G / (16 rho L^2)), G = young / (2 + 2 poisson). So young is less than what a tensile
// test of such stuff gives; with these numbers and 10 cm of depth it adds a tenth to a third.

#include "sim/presets.h"
#include "sim/limits.h"

#include <math.h>
#include <string.h>

const char* const snw_presetNames[] = {"flesh", "muscle", "fat", "rubber", "jelly", "inflatable", NULL};

static const snwPresetInfo s_presets[] = {
    {"flesh", "skin with some of everything beneath it: lags a little, swings once, is still",
        {.density = 1000, .young = 3e3, .poisson = 0.45, .frequency = 4, .settling = 0.5}},
    {"muscle", "firm and short: trembles rather than swings",
        {.density = 1060, .young = 1.5e4, .poisson = 0.45, .frequency = 8, .settling = 0.25}},
    {"fat", "heavy and slow: hangs, lags, rolls on",
        {.density = 920, .young = 1e3, .poisson = 0.48, .frequency = 3, .settling = 0.7}},
    {"rubber", "bouncy: fast, and rings long",
        {.density = 1100, .young = 1e4, .poisson = 0.45, .frequency = 6, .settling = 1.5}},
    {"jelly", "wobbles for long and follows late",
        {.density = 1000, .young = 2e3, .poisson = 0.45, .frequency = 2.5, .settling = 1.5}},
    {"inflatable", "a light skin full of air: gives way, flutters, is soon still",
        {.density = 60, .young = 3e2, .poisson = 0.3, .frequency = 5, .settling = 0.3}},
};

int snwPresetCount(void)
{
    return (int)(sizeof s_presets / sizeof s_presets[0]);
}

const snwPresetInfo* snwPreset_GetInfo(int preset)
{
    return preset >= 0 && preset < snwPresetCount() ? &s_presets[preset] : NULL;
}

int snwPreset_Find(const char* name)
{
    for (int i = 0; name != NULL && i < snwPresetCount(); ++i)
        if (strcmp(s_presets[i].name, name) == 0)
            return i;
    return -1;
}

snwMaterial snwMaterial_Soften(const snwMaterial* material, double softness)
{
    snwMaterial softer = *material;
    double root = sqrt(softness);
    softer.young = fmin(fmax(material->young / softness, SNW_MIN_YOUNG), SNW_MAX_YOUNG);
    softer.damping = fmin(material->damping / root, SNW_MAX_DAMPING);
    softer.frequency = fmin(material->frequency / root, SNW_MAX_FREQUENCY);
    softer.settling = fmin(material->settling * root, SNW_MAX_SETTLING);
    return softer;
}
