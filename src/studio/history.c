// Undo and redo. A live value is undone by the command that gives it back, and time goes on; what a hand did is undone
// by going back to the moment before it.

#include "studio/session_parts.h"

#include <stdio.h>
#include <string.h>

#define SNW_SAME_DEED 1.0 // s: within, moving a slider is one deed

static void FreeDeed(snwContext* context, snwDeed* deed)
{
    snwMoment_Free(context, &deed->moment);
    snwFree(context, deed->before);
    snwFree(context, deed->after);
    *deed = (snwDeed){0};
}

static size_t DeedBytes(const snwDeed* deed)
{
    return sizeof *deed + (deed->moment.stage != NULL ? snwMoment_Bytes(&deed->moment) : 0) +
           (size_t)(deed->beforeCount + deed->afterCount) * sizeof(snwCommand);
}

static void ClearRedo(snwSession* session)
{
    for (int i = 0; i < session->history.redo.count; ++i)
        FreeDeed(session->context, &session->history.redo.data[i]);
    session->history.redo.count = 0;
}

void snwHistory_Free(snwSession* session)
{
    ClearRedo(session);
    for (int i = 0; i < session->history.undo.count; ++i)
        FreeDeed(session->context, &session->history.undo.data[i]);
    snwArray_Free(session->context, &session->history.undo);
    snwArray_Free(session->context, &session->history.redo);
}

// The oldest go first; one deed may always be undone.
static void ShrinkHistory(snwSession* session)
{
    snwHistory* history = &session->history;
    size_t bytes = 0;
    int keep = 0;
    while (keep < history->undo.count && keep < snw_maxUndo)
    {
        bytes += DeedBytes(&history->undo.data[history->undo.count - 1 - keep]);
        if (keep > 0 && (double)bytes > session->def.cacheBytes / 4)
            break;
        ++keep;
    }
    int drop = history->undo.count - keep;
    for (int i = 0; i < drop; ++i)
        FreeDeed(session->context, &history->undo.data[i]);
    if (drop > 0)
        memmove(history->undo.data, history->undo.data + drop, (size_t)keep * sizeof *history->undo.data);
    history->undo.count = keep;
}

static void AddDeed(snwSession* session, snwDeed* deed)
{
    ClearRedo(session);
    session->stale = true;
    session->workRevision++;
    if (!snwArray_Push(session->context, &session->history.undo, *deed))
        FreeDeed(session->context, deed);
    ShrinkHistory(session);
}

void snwHistory_AddMoment(snwSession* session, const char* label, snwMoment* before)
{
    snwDeed deed = {.moment = *before, .time = snwSession_Now(session)};
    *before = (snwMoment){0};
    snprintf(deed.label, sizeof deed.label, "%s", label);
    if (deed.moment.stage != NULL)
        AddDeed(session, &deed);
}

// A slider under the hand says a new value with every pixel.
static bool ExtendDeed(snwSession* session, const snwDeed* deed)
{
    snwHistory* history = &session->history;
    snwDeed* last = history->undo.count > 0 ? &history->undo.data[history->undo.count - 1] : NULL;
    if (last == NULL || deed->key == 0 || last->key != deed->key || last->moment.stage != NULL ||
        history->redo.count > 0 || deed->time - last->time > SNW_SAME_DEED)
        return false;
    snwFree(session->context, last->after);
    last->after = deed->after;
    last->afterCount = deed->afterCount;
    last->time = deed->time;
    memcpy(last->label, deed->label, sizeof last->label);
    snwFree(session->context, deed->before);
    return true;
}

void snwHistory_AddCommands(snwSession* session, const char* label, uint64_t key, const snwCommand* before,
    int beforeCount, const snwCommand* after, int afterCount)
{
    snwDeed deed = {.key = key, .time = snwSession_Now(session), .beforeCount = beforeCount, .afterCount = afterCount};
    snprintf(deed.label, sizeof deed.label, "%s", label);
    deed.before = snwCopyArray(session->context, before, (size_t)beforeCount, sizeof *before);
    deed.after = snwCopyArray(session->context, after, (size_t)afterCount, sizeof *after);
    if (deed.before == NULL || deed.after == NULL)
        FreeDeed(session->context, &deed);
    else if (!ExtendDeed(session, &deed))
        AddDeed(session, &deed);
}

const char* snwHistory_Label(const snwSession* session, bool again)
{
    const snwHistory* history = &session->history;
    if (again)
        return history->redo.count > 0 ? history->redo.data[history->redo.count - 1].label : NULL;
    return history->undo.count > 0 ? history->undo.data[history->undo.count - 1].label : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult PushAll(snwSession* session, const snwCommand* commands, int count, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < count && result >= 0; ++i)
        result = snwSession_Push(session, &commands[i], message);
    return result;
}

// The moment of a deed and that of now change places: so undo and redo are the same.
static snwResult SwapMoments(snwSession* session, snwDeed* deed, snwMessage* message)
{
    snwMoment now;
    snwSession_ForgetHands(session);
    snwResult result = snwSession_TakeMoment(session, &now, message);
    if (result < 0)
        return result;
    result = snwSession_GoTo(session, &deed->moment, message);
    if (result >= 0)
    {
        snwMoment then = deed->moment;
        deed->moment = now;
        now = then;
    }
    snwMoment_Free(session->context, &now);
    return result;
}

snwResult snwSession_Undo(snwSession* session, bool again, char* label, size_t capacity, snwMessage* message)
{
    snwHistory* history = &session->history;
    if ((again ? history->redo.count : history->undo.count) == 0)
        return snwFail(message, snw_errorArgument, NULL, "there is nothing to %s", again ? "do again" : "undo");

    // While an old frame is shown, first back to the present.
    snwResult result = session->timeline.shown >= 0
                           ? snwSession_Seek(session, session->recording.hashes.count - 1, message)
                           : snw_ok;
    if (result < 0)
        return result;

    // Room in both lists before anything changes: a deed must not be lost half way.
    if (!snwArray_Reserve(session->context, &history->undo, 1) ||
        !snwArray_Reserve(session->context, &history->redo, 1))
        return snwFailMemory(message);
    snwDeed deed = again ? history->redo.data[history->redo.count - 1] : history->undo.data[history->undo.count - 1];

    // What a hand did is undone by going back; values by commands.
    if (deed.moment.stage != NULL)
        result = SwapMoments(session, &deed, message);
    else
        result = again ? PushAll(session, deed.after, deed.afterCount, message)
                       : PushAll(session, deed.before, deed.beforeCount, message);

    deed.key = 0;
    snprintf(label, capacity, "%s", deed.label);
    if (result < 0)
        return result;

    // From one list to the other.
    if (again)
    {
        history->redo.count--;
        history->undo.data[history->undo.count++] = deed;
    }
    else
    {
        history->undo.count--;
        history->redo.data[history->redo.count++] = deed;
    }

    session->stale = true;
    return result;
}
