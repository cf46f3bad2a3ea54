// Saved states: the input is a list of edits of a sound block, whose hash is then made right, so that what lies behind
// the hash is reached. Whatever is accepted must step without harm; whatever is refused must change nothing.

#include "fuzz.h"

#include "base/hash.h"

#include <string.h>

static const char s_scene[] =
    "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"block\", \"cells\": [1, 1, 1]}}],"
    " \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\"}],"
    " \"pins\": [{\"name\": \"p\", \"body\": \"b\", \"lower\": [-1, -1, -1], \"upper\": [0, 1, 1]}],"
    " \"commands\": [{\"step\": 1, \"kind\": \"drag\", \"body\": \"b\", \"vertex\": 3, \"position\": [0, 1, 0]},"
    " {\"step\": 2, \"kind\": \"push\", \"body\": \"b\", \"force\": [1, 2, 3], \"duration\": 1}]}";

enum
{
    snw_headerSize = 40, // of a saved state; the last eight bytes are the hash of what follows
    snw_editSize = 10    // two bytes of place, eight of content
};

static snwSim* MakeSim(snwContext* context)
{
    snwSceneFile file;
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    def.maxGrabs = 4;
    if (snwSceneFile_Parse(context, s_scene, strlen(s_scene), "fixed", NULL, &file, NULL) < 0)
        abort();
    def.scene = file.scene;
    if (snwCreateSim(context, &def, &sim, NULL) < 0)
        abort();
    snwSceneFile_Close(&file);
    for (int i = 0; i < 4; ++i)
        if (snwSim_Step(sim, 1.0 / 60, NULL) < 0)
            abort();
    return sim;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static snwFuzzMemory s_memory;
    static snwSim* s_sim;
    static unsigned char *s_sound, *s_edited;
    static size_t s_size;
    if (s_sim == NULL)
    {
        s_sim = MakeSim(snwFuzz_NewContext(&s_memory, 64 << 20));
        s_size = snwSim_GetStateSize(s_sim);
        s_sound = malloc(s_size);
        s_edited = malloc(s_size);
        if (s_sound == NULL || s_edited == NULL || snwSim_Save(s_sim, s_sound, s_size, NULL, NULL) < 0)
            abort();
    }
    memcpy(s_edited, s_sound, s_size);
    for (; size >= snw_editSize; data += snw_editSize, size -= snw_editSize)
    {
        size_t place = (size_t)(data[0] | data[1] << 8) % (s_size / 8) * 8;
        memcpy(s_edited + place, data + 2, 8);
    }
    uint64_t hash = snwHash(s_edited + snw_headerSize, s_size - snw_headerSize, 0);
    memcpy(s_edited + snw_headerSize - sizeof hash, &hash, sizeof hash);
    uint64_t before = snwSim_Hash(s_sim);
    if (snwSim_Restore(s_sim, s_edited, s_size, NULL) < 0)
    {
        if (snwSim_Hash(s_sim) != before)
            abort();
        return 0;
    }
    for (int i = 0; i < 3 && snwSim_Step(s_sim, 1.0 / 60, NULL) >= 0; ++i)
        continue;
    if (snwSim_Restore(s_sim, s_sound, s_size, NULL) < 0)
        abort();
    return 0;
}
