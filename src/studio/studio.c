// The studio as a whole: a session that simulates and a server that talks to pages, tied together by callbacks, each
// on a thread of its own.

#include "studio/studio.h"
#include "scene/file.h"

snwStudioDef snwDefaultStudioDef(void)
{
    return (snwStudioDef){.folder = "sinew-studio", .server = snwDefaultServerDef()};
}

static void TellClient(int client, const char* text, size_t size, void* user)
{
    snwServer_Tell(user, client, text, size);
}

static void TellServerNews(void* user)
{
    snwServer_News(user);
}

static bool Post(void* user, int client, const char* text, size_t size)
{
    return snwSession_Post(user, client, text, size);
}

static void LeaveClient(void* user, int client)
{
    snwSession_Leave(user, client);
}

static snwBlob* TakeFrame(void* user)
{
    return snwSession_TakeFrame(user);
}

static snwBlob* TakeModel(void* user)
{
    return snwSession_TakeModel(user);
}

// The session speaks through the server from its first moment to its last, so it lives within the server's life.
static snwResult RunSession(snwServer* server, const snwStudioDef* def, snwMessage* message)
{
    snwSessionDef sessionDef = snwDefaultSessionDef();
    sessionDef.source = def->source;
    sessionDef.folder = def->folder;
    sessionDef.threads = def->threads;
    sessionDef.tell = TellClient;
    sessionDef.news = TellServerNews;
    sessionDef.user = server;
    snwSession* session = NULL;
    snwResult result = snwCreateSession(&sessionDef, &session, message);
    if (result < 0)
        return result;

    snwServerHost host = {Post, LeaveClient, TakeFrame, TakeModel, session, snwSession_GetContext(session)};
    if (def->ready != NULL)
        def->ready(server, session, def->user);

    // From here on this thread is the server's; the session has threads of its own.
    result = snwServer_Run(server, &host, message);
    snwDestroySession(session);
    return result;
}

snwResult snwStudio_Run(snwContext* context, const snwStudioDef* def, snwMessage* message)
{
    snwServerDef serverDef = def->server;
    serverDef.folder = def->folder;
    snwServer* server = NULL;
    snwResult result = snwMakeFolder(def->folder, message);
    if (result == snw_ok)
        result = snwCreateServer(context, &serverDef, &server, message);
    if (result == snw_ok)
        result = RunSession(server, def, message);
    snwDestroyServer(server);
    return result;
}
