// Viewers: messages in, messages out.

#include "studio/server_parts.h"
#include "studio/session.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static snwServer* ServerOf(struct lws* link)
{
    return lws_context_user(lws_get_context(link));
}

void snwServer_Stir(snwServer* server)
{
    for (int i = 0; i < server->viewers.count; ++i)
    {
        snwViewer* viewer = server->viewers.data[i];
        if (viewer->overflowed)
            lws_set_timeout(viewer->link, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        else if (server->closing || snwViewer_WantsToSend(viewer, server->model, server->frame))
            lws_callback_on_writable(viewer->link);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Coming and going

static int Welcome(snwServer* server, struct lws* link, snwViewer** slot)
{
    snwViewer* viewer = snwCreateViewer(
        server->context, server->host.context, server->lastNumber + 1, server->def.maxTextBytes);
    if (viewer == NULL || !snwArray_Push(server->context, &server->viewers, viewer)) // NOLINT: pointers are meant
    {
        snwDestroyViewer(viewer);
        return -1;
    }
    ++server->lastNumber;
    viewer->link = link;
    *slot = viewer;
    lws_callback_on_writable(link);
    return 0;
}

static void RemoveViewer(snwServer* server, snwViewer* viewer)
{
    for (int i = 0; i < server->viewers.count; ++i)
        if (server->viewers.data[i] == viewer)
            server->viewers.data[i] = server->viewers.data[--server->viewers.count];
    server->host.leave(server->host.user, viewer->number);
    snwDestroyViewer(viewer);
}

void snwServer_Forget(snwServer* server)
{
    while (server->viewers.count > 0)
    {
        snwViewer* viewer = server->viewers.data[0];
        *(snwViewer**)lws_wsi_user(viewer->link) = NULL;
        RemoveViewer(server, viewer);
    }
    snwServer_Show(server, NULL, NULL);
}

static int Close(struct lws* link, enum lws_close_status status, const char* why)
{
    unsigned char text[64];
    int length = snprintf((char*)text, sizeof text, "%s", why);
    lws_close_reason(link, status, text, (size_t)length);
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// In

// {"v": 1, "do": "ack", "serial": 12} never reaches the session: credit is a matter of the transport.
static bool ReadAck(const snwViewer* viewer, uint64_t* serial)
{
    enum
    {
        most = 200
    };
    if (viewer->requestSize > most) // no honest one is
        return false;
    json_t* object = json_loadb(viewer->request, viewer->requestSize, 0, NULL);
    const char* word = json_string_value(json_object_get(object, "do"));
    const json_t* number = json_object_get(object, "serial");
    bool ack = word != NULL && strcmp(word, "ack") == 0 && json_is_integer(number) && json_integer_value(number) >= 0;
    if (ack)
        *serial = (uint64_t)json_integer_value(number);
    json_decref(object);
    return ack;
}

// The session takes no more for now; the page must not wait for an answer.
static void Decline(snwServer* server, snwViewer* viewer)
{
    char answer[256];
    json_t* object = json_loadb(viewer->request, viewer->requestSize, 0, NULL);
    const json_t* number = json_object_get(object, "id");
    const char* error = "\"ok\": false, \"error\": {\"text\": \"too many requests are waiting\", \"place\": \"\", "
                        "\"remedy\": \"wait for the answers\"}}";
    if (json_is_integer(number))
        snprintf(answer, sizeof answer, "{\"id\": %lld, %s", (long long)json_integer_value(number), error);
    else
        snprintf(answer, sizeof answer, "{%s", error);
    json_decref(object);
    snwServer_Tell(server, viewer->number, answer, strlen(answer));
}

static void AnswerViewer(snwServer* server, snwViewer* viewer)
{
    uint64_t serial = 0;
    if (ReadAck(viewer, &serial))
    {
        snwViewer_Acknowledge(viewer, serial);
        if (snwViewer_WantsToSend(viewer, server->model, server->frame))
            lws_callback_on_writable(viewer->link);
    }
    else if (!server->host.post(server->host.user, viewer->number, viewer->request, viewer->requestSize))
        Decline(server, viewer);
}

static int ReceiveMessage(snwServer* server, struct lws* link, snwViewer* viewer, const void* data, size_t size)
{
    lws_validity_confirmed(link);
    if (lws_frame_is_binary(link))
        return Close(link, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "text only");
    if (!snwViewer_AddRequest(viewer, data, size, snw_maxRequestBytes))
        return Close(link, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "at most 64 KiB");
    if (lws_is_final_fragment(link) && lws_remaining_packet_payload(link) == 0)
    {
        AnswerViewer(server, viewer);
        viewer->requestSize = 0;
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Out

// In pieces: what the socket does not take at once is copied by libwebsockets, and a client that never reads shall not
// hold a copy of a whole model.
static bool SendPiece(snwServer* server, struct lws* link, snwViewer* viewer)
{
    const snwBlob* blob = viewer->sending;
    size_t rest = blob->size - viewer->sent, size = rest < snw_sendPiece ? rest : snw_sendPiece;
    int kind = viewer->sent > 0 ? LWS_WRITE_CONTINUATION : viewer->sendingText ? LWS_WRITE_TEXT : LWS_WRITE_BINARY;
    if (size < rest)
        kind |= LWS_WRITE_NO_FIN;
    memcpy(server->scratch + LWS_PRE, blob->data + viewer->sent, size);
    int written = lws_write(link, server->scratch + LWS_PRE, size, (enum lws_write_protocol)kind);
    if (written < (int)size)
        return false;
    snwViewer_Advance(viewer, size);
    return true;
}

static int SendToViewer(snwServer* server, struct lws* link, snwViewer* viewer)
{
    if (server->closing && viewer->sending == NULL)
        return Close(link, LWS_CLOSE_STATUS_GOINGAWAY, "the studio was closed");
    while (!lws_send_pipe_choked(link) && snwViewer_Choose(viewer, server->model, server->frame))
        if (!SendPiece(server, link, viewer))
            return -1;
    if (server->closing || snwViewer_WantsToSend(viewer, server->model, server->frame))
        lws_callback_on_writable(link);
    return 0;
}

int snwSocket_Callback(struct lws* link, enum lws_callback_reasons reason, void* user, void* in, size_t size)
{
    snwViewer** slot = user;
    switch (reason)
    {
        case LWS_CALLBACK_ESTABLISHED:
            return Welcome(ServerOf(link), link, slot);
        case LWS_CALLBACK_RECEIVE:
            return slot != NULL && *slot != NULL ? ReceiveMessage(ServerOf(link), link, *slot, in, size) : -1;
        case LWS_CALLBACK_SERVER_WRITEABLE:
            return slot != NULL && *slot != NULL ? SendToViewer(ServerOf(link), link, *slot) : -1;
        case LWS_CALLBACK_CLOSED:
            if (slot != NULL && *slot != NULL)
            {
                RemoveViewer(ServerOf(link), *slot);
                *slot = NULL;
            }
            return 0;
        default:
            return 0;
    }
}
