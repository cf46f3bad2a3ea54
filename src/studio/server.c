// The studio's server: one listening socket, libwebsockets' loop, viewers, and the box of messages from the session's
// thread. Pages and files are in server_http.c, sockets in server_socket.c.

#include "studio/server_parts.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum
{
    snw_maxInboxBytes = 64 << 20, // told by the host and not yet handed to viewers
};

snwServerDef snwDefaultServerDef(void)
{
    return (snwServerDef){.address = "127.0.0.1",
        .port = -1,
        .folder = ".",
        .maxConnections = 512,
        .maxViewers = 64,
        .maxTextBytes = 8 << 20,
        .handshakeSeconds = 5,
        .idleSeconds = 20,
        .silentSeconds = 40};
}

// ---------------------------------------------------------------------------------------------------------------------
// Log

// libwebsockets has one log per process and hands no pointer back, so this is the one place that needs a variable.
static _Atomic(snwContext*) s_logContext;

// Its errors are mostly what clients do wrong: nothing that the user must see without asking.
static void Log(int level, const char* line)
{
    snwContext* context = s_logContext;
    if (context != NULL)
        snwLogText(context, (level & LLL_ERR) != 0 ? snw_logInfo : snw_logDebug, "network: %.*s",
            (int)strcspn(line, "\n"), line);
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwResult AllowHosts(snwServer* server, snwMessage* message)
{
    const snwServerDef* def = &server->def;
    bool everywhere = strcmp(def->address, "0.0.0.0") == 0 || strcmp(def->address, "::") == 0;
    bool loopback = strncmp(def->address, "127.", 4) == 0 || strcmp(def->address, "::1") == 0;
    snwResult result = snw_ok;
    if (everywhere) // the first one is shown
        result = snwGate_Allow(&server->gate, def->hostCount > 0 ? def->hosts[0] : "127.0.0.1", server->port, message);
    else
        result = snwGate_Allow(&server->gate, def->address, server->port, message);
    if (result == snw_ok && (everywhere || loopback))
        result = snwGate_Allow(&server->gate, "localhost", server->port, message);
    if (result == snw_ok && everywhere)
        result = snwGate_Allow(&server->gate, "127.0.0.1", server->port, message);
    for (int i = 0; i < def->hostCount && result == snw_ok; ++i)
        result = snwGate_Allow(&server->gate, def->hosts[i], server->port, message);
    snprintf(server->address, sizeof server->address, "http://%s/?token=%s", server->gate.hosts[0], server->gate.token);
    return result;
}

// The socket's name is the protocol's version; a client that asks for another one, or for none, is refused.
static void SetProtocols(snwServer* server)
{
    server->protocols[0] = (struct lws_protocols){
        .name = "http", .callback = snwHttp_Callback, .per_session_data_size = snwExchangeSize};
    server->protocols[1] = (struct lws_protocols){.name = "sinew.1",
        .callback = snwSocket_Callback,
        .per_session_data_size = sizeof(snwViewer*),
        .tx_packet_size = snw_sendPiece};
    server->protocols[2] = (struct lws_protocols){.name = "listen", .callback = snwListen_Callback};
    server->protocols[3] = (struct lws_protocols){0};
}

static snwResult MakeTransport(snwServer* server, snwMessage* message)
{
    SetProtocols(server);
    server->liveness = (lws_retry_bo_t){.secs_since_valid_ping = (uint16_t)(server->def.silentSeconds * 3 / 8),
        .secs_since_valid_hangup = (uint16_t)server->def.silentSeconds};

    // Limits on connections, headers and time: a stranger can only waste his own.
    struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN,
        .protocols = server->protocols,
        .user = server,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME,
        .max_http_header_data2 = snw_maxHeaderBytes,
        .max_http_header_pool2 = (unsigned)server->def.maxConnections,
        .fd_limit_per_thread = (unsigned)server->def.maxConnections + 16,
        .timeout_secs = (unsigned)server->def.idleSeconds,
        .timeout_secs_ah_idle = (unsigned)server->def.handshakeSeconds,
        .retry_and_idle_policy = &server->liveness};
    s_logContext = server->context;
    lws_set_log_level(LLL_ERR | LLL_WARN, Log);
    server->lws = lws_create_context(&info);
    if (server->lws == NULL)
        return snwFail(message, snw_errorIo, NULL, "libwebsockets does not start");

    // The socket was bound before, so that an address that is taken is told in our words.
    lws_sock_file_fd_type listener = {.filefd = server->listener};
    struct lws_vhost* vhost = lws_get_vhost_by_name(server->lws, "default");
    if (vhost == NULL || lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, listener, "listen", NULL) == NULL)
        return snwFail(message, snw_errorIo, NULL, "libwebsockets does not take the listening socket");
    server->adopted = true;

    return snw_ok;
}

static snwResult MakeServer(snwServer* server, snwMessage* message)
{
    server->folder = open(server->def.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (server->folder < 0)
    {
        snwFail(message, snw_errorIo, "choose another folder", "cannot use the folder: %s", strerror(errno));
        snwMessage_SetFile(message, server->def.folder);
        return snw_errorIo;
    }

    // A spare descriptor: given up when there are no others, so that connections can at least be refused.
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    server->scratch = snwAllocRaw(server->context, LWS_PRE + snw_sendPiece);
    snwResult result = server->scratch == NULL ? snwFailMemory(message) : snwGate_Open(&server->gate, message);
    if (result == snw_ok && server->def.token != NULL)
        result = snwGate_SetToken(&server->gate, server->def.token, message);
    if (result == snw_ok)
        result = snwPages_Load(server->context, server->def.pages, &server->pages, message);
    if (result == snw_ok)
        result = snwServer_Bind(server, message);
    if (result == snw_ok)
        result = AllowHosts(server, message);

    return result == snw_ok ? MakeTransport(server, message) : result;
}

snwResult snwCreateServer(snwContext* context, const snwServerDef* def, snwServer** server, snwMessage* message)
{
    snwServer* made = snwAlloc(context, sizeof *made);
    *server = NULL;
    if (made == NULL)
        return snwFailMemory(message);
    made->context = context;
    made->def = *def;
    made->folder = made->listener = made->spare = -1;
    pthread_mutex_init(&made->mutex, NULL);
    snwResult result = MakeServer(made, message);
    if (result == snw_ok)
        *server = made;
    else
        snwDestroyServer(made);
    return result;
}

static void CloseFile(int file)
{
    if (file >= 0)
        close(file);
}

void snwDestroyServer(snwServer* server)
{
    if (server == NULL)
        return;

    // Its own connections first: they still use what is freed below.
    if (server->lws != NULL)
        lws_context_destroy(server->lws);
    s_logContext = NULL;

    // A listener that came from outside is its owner's.
    snwContext* context = server->context;
    if (!server->adopted)
        CloseFile(server->listener);
    CloseFile(server->spare);
    CloseFile(server->folder);
    for (int i = 0; i < server->inbox.count; ++i)
        snwBlob_Release(context, server->inbox.data[i].text);
    snwArray_Free(context, &server->inbox);
    snwArray_Free(context, &server->viewers);
    snwArray_Free(context, &server->strangers);
    snwPages_Free(&server->pages);
    snwFree(context, server->scratch);
    pthread_mutex_destroy(&server->mutex);
    snwFree(context, server);
}

const char* snwServer_Address(const snwServer* server)
{
    return server->address;
}

const char* snwServer_Token(const snwServer* server)
{
    return server->gate.token;
}

int snwServer_Port(const snwServer* server)
{
    return server->port;
}

// ---------------------------------------------------------------------------------------------------------------------
// From other threads

static void Rouse(snwServer* server)
{
    if (!atomic_exchange(&server->woken, true))
        lws_cancel_service(server->lws);
}

void snwServer_Tell(snwServer* server, int client, const char* text, size_t size)
{
    snwBlob* blob = snwCreateBlob(server->context, size);
    if (blob == NULL)
        return; // whoever waits for it asks again
    memcpy(blob->data, text, size);
    pthread_mutex_lock(&server->mutex);
    snwTold told = {client, blob};
    bool kept = size <= snw_maxInboxBytes - server->inboxBytes && snwArray_Push(server->context, &server->inbox, told);
    if (kept)
        server->inboxBytes += size;
    pthread_mutex_unlock(&server->mutex);
    if (kept)
        Rouse(server);
    else
        snwBlob_Release(server->context, blob);
}

void snwServer_News(snwServer* server)
{
    if (!atomic_exchange(&server->news, true))
        Rouse(server);
}

void snwServer_Stop(snwServer* server)
{
    atomic_store(&server->stop, true);
    Rouse(server);
}

// ---------------------------------------------------------------------------------------------------------------------
// The loop

static void HandOut(snwServer* server, const snwTold* told)
{
    for (int i = 0; i < server->viewers.count; ++i)
    {
        snwViewer* viewer = server->viewers.data[i];
        if (told->client == 0 || told->client == viewer->number)
            snwViewer_AddText(viewer, told->text);
    }
    snwBlob_Release(server->context, told->text);
}

static void ReadInbox(snwServer* server)
{
    snwArray(snwTold) inbox = {0};
    pthread_mutex_lock(&server->mutex);
    inbox.data = server->inbox.data;
    inbox.count = server->inbox.count;
    server->inbox.data = NULL;
    server->inbox.count = server->inbox.capacity = 0;
    server->inboxBytes = 0;
    pthread_mutex_unlock(&server->mutex);
    for (int i = 0; i < inbox.count; ++i)
        HandOut(server, &inbox.data[i]);
    snwArray_Free(server->context, &inbox);
}

void snwServer_Show(snwServer* server, snwBlob* frame, snwBlob* model)
{
    snwBlob_Release(server->host.context, server->frame);
    snwBlob_Release(server->host.context, server->model);
    server->frame = frame;
    server->model = model;
}

// The frame first: its model is published before it, so the model taken after it is at least as new.
static void TakeNews(snwServer* server)
{
    if (!atomic_exchange(&server->news, false))
        return;
    snwBlob* frame = server->host.takeFrame(server->host.user);
    snwBlob* model = server->host.takeModel(server->host.user);
    snwServer_Show(server, frame, model);
}

static void Wake(snwServer* server)
{
    ReadInbox(server);
    TakeNews(server);
    snwServer_Stir(server);
}

// A signal may come to any thread and wakes nobody: it is looked for.
static void Tick(lws_sorted_usec_list_t* list)
{
    snwServer* server = lws_container_of(list, snwServer, tick);
    if (server->def.interrupt != NULL && *server->def.interrupt)
        atomic_store(&server->stop, true);
    lws_sul_schedule(server->lws, 0, &server->tick, Tick, 50 * LWS_US_PER_MS);
}

static void SayGoodbye(snwServer* server)
{
    double until = snwClock_Seconds() + 0.5; // those who do not read get none
    server->closing = true;
    snwServer_Stir(server);
    while (server->viewers.count > 0 && snwClock_Seconds() < until && lws_service(server->lws, 0) >= 0)
    {
    }
    lws_sul_cancel(&server->tick);
    snwServer_Forget(server);
}

snwResult snwServer_Run(snwServer* server, const snwServerHost* host, snwMessage* message)
{
    server->host = *host;
    atomic_store(&server->news, true); // what is there already
    atomic_store(&server->woken, true);
    Tick(&server->tick);
    int result = 0;
    while (result >= 0 && !atomic_load(&server->stop))
    {
        result = lws_service(server->lws, 0);
        if (atomic_exchange(&server->woken, false))
            Wake(server);
    }
    SayGoodbye(server);
    return result >= 0 ? snw_ok : snwFail(message, snw_errorIo, NULL, "the network failed: %s", strerror(errno));
}
