#include "world.h"

#include <stdlib.h>

// The size stands in front of the block; alignment is never larger than the room for it.
enum
{
    snw_frontRoom = 64
};

static void* CountedAlloc(size_t size, size_t alignment, void* user)
{
    snwCounter* counter = user;
    if (alignment > snw_frontRoom || size > SIZE_MAX / 2)
        return NULL;
    size_t whole = (size + snw_frontRoom + snw_frontRoom - 1) / snw_frontRoom * snw_frontRoom;
    char* memory = aligned_alloc(snw_frontRoom, whole);
    if (memory == NULL)
        return NULL;
    *(size_t*)memory = size;
    atomic_fetch_add(&counter->calls, 1);
    atomic_fetch_add(&counter->bytes, (long long)size);
    return memory + snw_frontRoom;
}

static void CountedFree(void* memory, void* user)
{
    snwCounter* counter = user;
    char* front = (char*)memory - snw_frontRoom;
    atomic_fetch_sub(&counter->bytes, (long long)*(size_t*)front);
    free(front);
}

snwAllocator snwCounter_Allocator(snwCounter* counter)
{
    return (snwAllocator){CountedAlloc, CountedFree, counter};
}

static snwResult MakeScene(
    snwContext* context, const snwBlockDef* block, snwCharacter* character, snwScene** scene, snwMessage* message)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.name = "block";
    body.character = character;
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    snwPinDef pin = snwDefaultPinDef();
    pin.name = "side";
    pin.lower = (snwVec3){info.lower.x - 0.01, info.lower.y - 0.01, info.lower.z - 0.01};
    pin.upper = (snwVec3){info.lower.x + 0.01, info.upper.y + 0.01, info.upper.z + 0.01};
    pin.held = true;
    snwSceneDef def = snwDefaultSceneDef();
    def.name = "block";
    def.method = block->method;
    def.settings = block->settings;
    def.settingCount = block->settingCount;
    def.bodies = &body;
    def.bodyCount = 1;
    def.pins = &pin;
    def.pinCount = 1;
    return snwCreateScene(context, &def, scene, message);
}

snwResult snwMakeBlockSceneWith(snwContext* context, const snwBlockDef* block, snwScene** scene, snwMessage* message)
{
    snwCharacter* character = NULL;
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBlock);
    shape.name = "block";
    shape.size = (snwVec3){1, 1, 1};
    shape.cells[0] = shape.cells[1] = shape.cells[2] = block->cells;
    snwResult result = snwCreateShape(context, &shape, &character, message);
    if (result < 0)
        return result;
    result = MakeScene(context, block, character, scene, message);
    snwCharacter_Release(character);
    return result;
}

snwResult snwMakeBlockScene(snwContext* context, int cells, snwScene** scene, snwMessage* message)
{
    return snwMakeBlockSceneWith(context, &(snwBlockDef){.cells = cells, .method = "pbd"}, scene, message);
}
