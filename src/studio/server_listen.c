// Connections: our own listening socket, which libwebsockets only watches. So the number of connections has a bound
// that holds before a byte is read, a free port can be looked for, and running out of descriptors does not spin.

#include "studio/server_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum
{
    snw_firstPort = 7777,
    snw_portsToTry = 100,
};

typedef union Address
{
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} Address;

static bool ParseAddress(const char* text, Address* address, socklen_t* size)
{
    *address = (Address){0};
    if (inet_pton(AF_INET, text, &address->four.sin_addr) == 1)
    {
        address->any.sa_family = AF_INET;
        *size = sizeof address->four;
        return true;
    }
    address->any.sa_family = AF_INET6;
    *size = sizeof address->six;
    return inet_pton(AF_INET6, text, &address->six.sin6_addr) == 1;
}

static void SetPort(Address* address, int port)
{
    if (address->any.sa_family == AF_INET)
        address->four.sin_port = htons((uint16_t)port);
    else
        address->six.sin6_port = htons((uint16_t)port);
}

static bool MakeListener(snwServer* server, Address* address, socklen_t size, int port)
{
    int yes = 1;
    SetPort(address, port);
    server->listener = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (server->listener >= 0 && bind(server->listener, &address->any, size) == 0 &&
        listen(server->listener, 128) == 0 && getsockname(server->listener, &address->any, &size) == 0)
    {
        server->port = ntohs(address->any.sa_family == AF_INET ? address->four.sin_port : address->six.sin6_port);
        return true;
    }
    int error = errno;
    if (server->listener >= 0)
        close(server->listener);
    server->listener = -1;
    errno = error;
    return false;
}

snwResult snwServer_Bind(snwServer* server, snwMessage* message)
{
    const snwServerDef* def = &server->def;
    Address address;
    socklen_t size = 0;
    if (!ParseAddress(def->address, &address, &size))
        return snwFail(
            message, snw_errorArgument, "127.0.0.1, 0.0.0.0 or ::1", "no numeric address: '%s'", def->address);
    int first = def->port < 0 ? snw_firstPort : def->port, tries = def->port < 0 ? snw_portsToTry : 1;
    for (int i = 0; i < tries; ++i)
    {
        if (MakeListener(server, &address, size, first + i))
            return snw_ok;
        if (errno != EADDRINUSE)
            break;
    }
    return snwFail(message, snw_errorIo, def->port > 0 ? "another --port, or --port 0 for any" : NULL,
        "cannot listen at %s, port %d: %s", def->address, first, strerror(errno));
}

// ---------------------------------------------------------------------------------------------------------------------
// Accepting

void snwStrangers_Remove(snwServer* server, const struct lws* link)
{
    int kept = 0;
    for (int i = 0; i < server->strangers.count; ++i)
        if (server->strangers.data[i] != link)
            server->strangers.data[kept++] = server->strangers.data[i];
    server->strangers.count = kept;
}

// When all connections are taken, the oldest one that has not shown the token goes: who only holds connections keeps
// nobody out that has it.
static bool MakeConnectionRoom(snwServer* server)
{
    if (server->connections >= server->def.maxConnections && server->strangers.count > 0)
        lws_set_timeout(server->strangers.data[0], PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
    return server->connections < server->def.maxConnections;
}

static void Adopt(snwServer* server, struct lws_vhost* vhost, int connection)
{
    int yes = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (fcntl(connection, F_SETFD, FD_CLOEXEC) != 0 || !MakeConnectionRoom(server))
    {
        close(connection);
        return;
    }
    struct lws* link = lws_adopt_socket_vhost(vhost, connection);                  // closes it if it fails
    if (link != NULL && !snwArray_Push(server->context, &server->strangers, link)) // NOLINT: pointers are meant
        lws_set_timeout(link, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

// Without a descriptor left the connection would stay in the queue and wake us for ever: the spare one is given up to
// take it and close it.
static bool RefuseConnection(snwServer* server)
{
    if (server->spare < 0)
        return false;
    close(server->spare);
    int connection = accept(server->listener, NULL, NULL);
    if (connection >= 0)
        close(connection);
    server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return connection >= 0;
}

static void AcceptConnections(snwServer* server, struct lws* link)
{
    enum
    {
        atOnce = 64 // then the others get their turn
    };
    for (int i = 0; i < atOnce; ++i)
    {
        int connection = accept(server->listener, NULL, NULL);
        if (connection >= 0)
            Adopt(server, lws_get_vhost(link), connection);
        else if ((errno != EMFILE && errno != ENFILE) || !RefuseConnection(server))
            break;
    }
}

int snwListen_Callback(struct lws* link, enum lws_callback_reasons reason, void* user, void* in, size_t size)
{
    (void)user;
    (void)in;
    (void)size;
    if (reason == LWS_CALLBACK_RAW_RX_FILE)
        AcceptConnections(lws_context_user(lws_get_context(link)), link);
    return reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION ? -1 : 0; // no client speaks this
}
