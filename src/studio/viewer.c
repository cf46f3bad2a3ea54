// What one page gets, and when: texts in their order, the newest model, frames only as fast as the page says that it
// has drawn them. Between threads nothing is copied but references.

#include "studio/viewer.h"
#include "base/context.h"

#include <assert.h>
#include <string.h>

enum
{
    snw_mostTexts = 4096,  // waiting for one client
    snw_modelOfFrame = 12, // where a frame names its model, see docs/studio.md
};

snwViewer* snwCreateViewer(snwContext* context, snwContext* shown, int number, size_t mostTextBytes)
{
    snwViewer* viewer = snwAlloc(context, sizeof *viewer);
    if (viewer == NULL)
        return NULL;
    viewer->context = context;
    viewer->shown = shown;
    viewer->number = number;
    viewer->mostTextBytes = mostTextBytes;
    return viewer;
}

static snwBlob* TakeText(snwViewer* viewer)
{
    snwBlob* text = viewer->texts[viewer->firstText];
    viewer->firstText = (viewer->firstText + 1) % viewer->textCapacity;
    --viewer->textCount;
    viewer->textBytes -= text->size;
    return text;
}

static void EndSending(snwViewer* viewer)
{
    snwBlob_Release(viewer->sendingText ? viewer->context : viewer->shown, viewer->sending);
    viewer->sending = NULL;
}

void snwDestroyViewer(snwViewer* viewer)
{
    if (viewer == NULL)
        return;
    while (viewer->textCount > 0)
        snwBlob_Release(viewer->context, TakeText(viewer));
    EndSending(viewer);
    snwFree(viewer->context, viewer->texts);
    snwFree(viewer->context, viewer->request);
    snwFree(viewer->context, viewer);
}

// ---------------------------------------------------------------------------------------------------------------------
// Out

static bool GrowTexts(snwViewer* viewer)
{
    int capacity = viewer->textCapacity * 2 + 16;
    snwBlob** texts = snwAllocArray(viewer->context, (size_t)capacity, sizeof *texts); // NOLINT: pointers are meant
    if (texts == NULL)
        return false;
    for (int i = 0; i < viewer->textCount; ++i)
        texts[i] = viewer->texts[(viewer->firstText + i) % viewer->textCapacity];
    snwFree(viewer->context, viewer->texts);
    viewer->texts = texts;
    viewer->textCapacity = capacity;
    viewer->firstText = 0;
    return true;
}

void snwViewer_AddText(snwViewer* viewer, snwBlob* text)
{
    bool full = viewer->textCount == snw_mostTexts || text->size > viewer->mostTextBytes - viewer->textBytes;
    if (full || (viewer->textCount == viewer->textCapacity && !GrowTexts(viewer)))
    {
        viewer->overflowed = true;
        return;
    }
    snwBlob_Retain(text);
    viewer->texts[(viewer->firstText + viewer->textCount++) % viewer->textCapacity] = text;
    viewer->textBytes += text->size;
}

void snwViewer_Acknowledge(snwViewer* viewer, uint64_t serial)
{
    int left = 0;
    for (int i = 0; i < viewer->underwayCount; ++i)
        if (viewer->underway[i] > serial)
            viewer->underway[left++] = viewer->underway[i];
    viewer->underwayCount = left;
}

// The model of a frame is published before it, so the newest model is at least as new; if it is newer, a frame of it
// is about to come and this one is not worth sending.
static bool BelongsTo(const snwBlob* frame, const snwBlob* model)
{
    uint32_t serial = 0;
    if (frame->size < snw_modelOfFrame + sizeof serial)
        return false;
    memcpy(&serial, frame->data + snw_modelOfFrame, sizeof serial);
    return serial == (uint32_t)model->serial;
}

static bool WantsFrame(const snwViewer* viewer, const snwBlob* model, const snwBlob* frame)
{
    return frame != NULL && viewer->underwayCount < snw_frameCredit && frame->serial > viewer->frame &&
           BelongsTo(frame, model);
}

bool snwViewer_WantsToSend(const snwViewer* viewer, const snwBlob* model, const snwBlob* frame)
{
    if (viewer->sending != NULL || viewer->textCount > 0)
        return true;
    return model != NULL && (model->serial != viewer->model || WantsFrame(viewer, model, frame));
}

static void BeginSending(snwViewer* viewer, snwBlob* blob, bool text)
{
    viewer->sending = blob;
    viewer->sent = 0;
    viewer->sendingText = text;
}

bool snwViewer_Choose(snwViewer* viewer, snwBlob* model, snwBlob* frame)
{
    // One at a time: a blob is sent in pieces.
    if (viewer->sending != NULL)
        return true;

    // Texts first, then a model it has not seen, then a frame if it keeps up.
    if (viewer->textCount > 0)
        BeginSending(viewer, TakeText(viewer), true);
    else if (model != NULL && model->serial != viewer->model)
    {
        snwBlob_Retain(model);
        BeginSending(viewer, model, false);
        viewer->model = model->serial;
    }
    else if (model != NULL && WantsFrame(viewer, model, frame))
    {
        snwBlob_Retain(frame);
        BeginSending(viewer, frame, false);
        viewer->frame = frame->serial;
        viewer->underway[viewer->underwayCount++] = frame->serial;
    }

    return viewer->sending != NULL;
}

void snwViewer_Advance(snwViewer* viewer, size_t size)
{
    assert(viewer->sending != NULL && size <= viewer->sending->size - viewer->sent);
    viewer->sent += size;
    if (viewer->sent == viewer->sending->size)
        EndSending(viewer);
}

// ---------------------------------------------------------------------------------------------------------------------
// In

bool snwViewer_AddRequest(snwViewer* viewer, const void* data, size_t size, size_t most)
{
    if (size > most - viewer->requestSize)
        return false;
    if (viewer->request == NULL)
        viewer->request = snwAllocRaw(viewer->context, most);
    if (viewer->request == NULL)
        return false;
    if (size > 0)
        memcpy(viewer->request + viewer->requestSize, data, size);
    viewer->requestSize += size;
    return true;
}
