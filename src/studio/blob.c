// Bytes that several threads read: a frame, a model or a text, with a count of references in front of the data.
// Whoever lets go last frees it.

#include "studio/blob.h"
#include "base/context.h"

enum
{
    snw_blobFront = 64, // the blob itself, rounded so that the data stays aligned
};

_Static_assert(sizeof(snwBlob) <= snw_blobFront, "the blob fits in front of its data");

snwBlob* snwCreateBlob(snwContext* context, size_t size)
{
    if (size > SIZE_MAX - snw_blobFront)
        return NULL;
    unsigned char* memory = snwAllocRaw(context, snw_blobFront + size);
    if (memory == NULL)
        return NULL;
    snwBlob* blob = (snwBlob*)memory;
    atomic_init(&blob->references, 1);
    blob->serial = 0;
    blob->size = size;
    blob->data = memory + snw_blobFront;
    return blob;
}

void snwBlob_Retain(snwBlob* blob)
{
    atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
}

// Whoever lets go last frees it, and must see all that the others wrote before.
void snwBlob_Release(snwContext* context, snwBlob* blob)
{
    if (blob != NULL && atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) == 1)
        snwFree(context, blob);
}
