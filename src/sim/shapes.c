// The context's list of what methods have prepared from meshes, found by a hash of the mesh; counted, and freed with
// its last user.

#include "sim/shapes.h"

#include "base/hash.h"

static uint64_t MeshKey(const snwCharacterDef* def, uint64_t key)
{
    snwElements elements = snwCharacterDef_Elements(def);
    key = snwHash(def->vertices, (size_t)def->vertexCount * sizeof *def->vertices, key);
    if (elements.count > 0)
        key = snwHash(
            snwElements_Corners(elements, 0), (size_t)elements.count * (size_t)elements.arity * sizeof(int), key);
    return key;
}

snwResult snwShape_Acquire(
    const snwModelDef* def, const snwMethod* method, uint64_t paramsKey, snwShape** out, snwMessage* message)
{
    snwContext* context = def->context;
    *out = NULL;
    if (method->createShape == NULL)
        return snw_ok;

    uint64_t key = MeshKey(&def->character->def, paramsKey);
    snwResult result = snw_ok;

    // Locked while it is made: a second character with this mesh waits rather than making it again.
    pthread_mutex_lock(&context->shapeMutex);
    snwShape* shape = context->shapes;
    while (shape != NULL && (shape->method != method || shape->key != key))
        shape = shape->next;

    // Nobody has it yet.
    if (shape == NULL)
    {
        void* data = NULL;
        shape = snwAlloc(context, sizeof *shape);
        result = shape == NULL ? snwFailMemory(message) : method->createShape(def, &data, message);
        if (shape != NULL && result >= 0)
        {
            *shape = (snwShape){method, key, 0, data, context->shapes};
            context->shapes = shape;
        }
        else
        {
            snwFree(context, shape);
            shape = NULL;
        }
    }

    if (shape != NULL)
        shape->references++;
    *out = shape;
    pthread_mutex_unlock(&context->shapeMutex);
    return result;
}

void snwShape_Release(snwContext* context, snwShape* shape)
{
    if (shape == NULL)
        return;
    pthread_mutex_lock(&context->shapeMutex);
    if (--shape->references == 0)
    {
        snwShape** link = &context->shapes;
        while (*link != shape)
            link = &(*link)->next;
        *link = shape->next;
        shape->method->destroyShape(context, shape->data);
        snwFree(context, shape);
    }
    pthread_mutex_unlock(&context->shapeMutex);
}
