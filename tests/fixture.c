#include "fixture.h"
#include "test.h"

#include "base/result.h"
#include "scene/builtin.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* CountingAlloc(size_t size, size_t alignment, void* user)
{
    snwCountingAllocator* counter = user;
    if (__atomic_add_fetch(&counter->allocations, 1, __ATOMIC_RELAXED) == counter->failAt) // of any thread
        return NULL;
    void* memory = NULL;
    if (posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    memset(memory, 0xA5, size); // whoever forgets to clear sees it
    __atomic_add_fetch(&counter->live, 1, __ATOMIC_RELAXED);
    return memory;
}

static void CountingFree(void* memory, void* user)
{
    snwCountingAllocator* counter = user;
    __atomic_sub_fetch(&counter->live, 1, __ATOMIC_RELAXED);
    free(memory);
}

static void Stop(const snwMessage* message)
{
    char text[800];
    snwMessage_Format(message, text, sizeof text);
    fprintf(stderr, "fixture: %s\n", text);
    exit(1);
}

snwContext* snwFixture_Context(int threads, snwSimd simd, snwCountingAllocator* counter)
{
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = threads;
    def.simd = simd;
    if (counter != NULL)
        def.allocator = (snwAllocator){CountingAlloc, CountingFree, counter};
    snwContext* context = NULL;
    snwMessage message;
    if (snwCreateContext(&def, &context, &message) < 0)
        Stop(&message);
    return context;
}

static void Shrink(json_t* size, double scale)
{
    static const char* const counts[] = {"tets", "elastic_vertices", "vertices", "skin_vertices", "hexes", "triangles"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
    {
        json_int_t count = json_integer_value(json_object_get(size, counts[i]));
        if (count > 0)
            json_object_set_new(size, counts[i], json_integer((json_int_t)ceil(scale * (double)count)));
    }
}

static void WriteOut(json_t* character, double scale)
{
    const char* name = json_string_value(json_object_get(character, "blueprint"));
    const snwBuiltIn* builtIn = name != NULL ? snwBuiltIn_Find(name) : NULL;
    if (builtIn == NULL)
        return;
    json_t* blueprint = json_loadb(builtIn->text, builtIn->size, 0, NULL);
    json_object_del(blueprint, "paint");
    Shrink(json_object_get(blueprint, "size"), scale);
    Shrink(json_object_get(character, "size"), scale);
    json_object_set_new(character, "blueprint", blueprint);
}

char* snwFixture_Smaller(const char* text, double scale)
{
    json_t *scene = json_loads(text, 0, NULL), *value;
    const char* name;
    size_t i;
    json_array_foreach(json_object_get(scene, "bodies"), i, value) WriteOut(json_object_get(value, "character"), scale);
    json_object_foreach(json_object_get(scene, "characters"), name, value) WriteOut(value, scale);
    char* result = json_dumps(scene, 0);
    json_decref(scene);
    return result;
}

char* snwFixture_Unpainted(const char* text)
{
    return snwFixture_Smaller(text, 1);
}

snwCharacter* snwFixture_Shape(snwContext* context, snwShapeKind kind, int cells)
{
    snwShapeDef def = snwDefaultShapeDef(kind);
    for (int i = 0; i < 3; ++i)
        def.cells[i] = kind == snw_shapeBar && i == 0 ? 4 * cells : cells;
    snwCharacter* character = NULL;
    snwMessage message;
    if (snwCreateShape(context, &def, &character, &message) < 0)
        Stop(&message);
    return character;
}

snwFixtureScene snwFixture_DefaultScene(void)
{
    return (snwFixtureScene){.kind = snw_shapeBlock, .cells = 4, .height = 1.0, .gravity = true};
}

snwScene* snwFixture_MakeScene(snwContext* context, const snwFixtureScene* fixture)
{
    snwCharacter* character = snwFixture_Shape(context, fixture->kind, fixture->cells);
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = character;
    body.transform.position.y = fixture->height;
    body.velocity = fixture->velocity;
    body.angularVelocity = fixture->spin;
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    snwPinDef pin = snwDefaultPinDef();
    pin.lower = (snwVec3){info.lower.x - 1e-6, -1e3, -1e3};
    pin.upper = (snwVec3){info.lower.x + 1e-6, 1e3, 1e3};
    // One substep: closed forms are per step.
    snwSetting settings[] = {
        {"pbd.damping", fixture->damping}, {"sim.substeps", 1}, {"pbd.iterations", fixture->iterations}};
    snwSceneDef def = snwDefaultSceneDef();
    def.gravity.y = fixture->gravity ? -9.81 : 0.0;
    def.bodies = &body, def.bodyCount = 1;
    def.colliders = &ground, def.colliderCount = fixture->ground;
    def.pins = &pin, def.pinCount = fixture->pinned;
    def.settings = settings, def.settingCount = fixture->iterations > 0 ? 3 : 2;
    def.commands = fixture->script, def.commandCount = fixture->scriptCount;
    snwScene* scene = NULL;
    snwMessage message;
    snwResult result = snwCreateScene(context, &def, &scene, fixture->message != NULL ? fixture->message : &message);
    if (result < 0 && fixture->message == NULL)
        Stop(&message);
    snwCharacter_Release(character);
    return scene;
}

snwSim* snwFixture_MakeSim(snwContext* context, const snwFixtureScene* fixture)
{
    snwSimDef def = snwDefaultSimDef();
    def.scene = snwFixture_MakeScene(context, fixture);
    snwSim* sim = NULL;
    snwMessage message;
    if (snwCreateSim(context, &def, &sim, &message) < 0)
        Stop(&message);
    snwScene_Release(def.scene);
    return sim;
}

snwResult snwFixture_ParseScene(snwContext* context, const char* text, snwSceneFile* file, snwMessage* message)
{
    char* copy = strdup(text);
    if (copy == NULL)
        return snwFailMemory(message);
    for (char* c = copy; *c != 0; ++c)
        *c = (char)(*c == '\'' ? '"' : *c);
    char* plain = snwFixture_Unpainted(copy);
    snwResult result = snwSceneFile_Parse(context, plain, strlen(plain), "test.json", NULL, file, message);
    free(plain);
    free(copy);
    return result;
}

snwSim* snwFixture_OpenSim(snwContext* context, const char* format, ...)
{
    char text[4096];
    va_list args;
    snwSceneFile file;
    snwMessage message = {0};
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (snwFixture_ParseScene(context, text, &file, &message) < 0)
        Stop(&message);
    def.scene = file.scene;
    if (snwCreateSim(context, &def, &sim, &message) < 0)
        Stop(&message);
    snwSceneFile_Close(&file);
    return sim;
}

void snwFixture_Run(snwSim* sim, int steps, double dt)
{
    snwMessage message;
    for (int i = 0; i < steps; ++i)
    {
        if (snwSim_Step(sim, dt, &message) >= 0)
            continue;
        char text[800];
        snwMessage_Format(&message, text, sizeof text);
        snwTest_Fail(__FILE__, __LINE__, "step %d: %s", i, text);
        return;
    }
}
