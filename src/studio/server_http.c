// Requests. Every connection carries one and is closed after its answer: on a loopback address that costs nothing, and
// there is no state between requests that could be confused.

#include "studio/server_parts.h"
#include "studio/transfer.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef enum Phase
{
    snw_phaseNone,
    snw_phaseUpload,  // bytes are coming in
    snw_phaseDiscard, // they are, too, but the answer will be no: a client that still sends does not see one before
    snw_phasePage,    // a page goes out
    snw_phaseFile,    // a file goes out
} Phase;

struct snwExchange
{
    Phase phase;
    snwUpload upload;
    const unsigned char* page;
    int file;
    uint64_t size, sent;
    int status; // of the refusal
    snwMessage message;
};

const size_t snwExchangeSize = sizeof(snwExchange);

static snwServer* ServerOf(struct lws* link)
{
    return lws_context_user(lws_get_context(link));
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers

typedef struct Head
{
    int status;
    const char* type;
    uint64_t size;
    bool keep; // may be kept if it is asked for again: its name changes with its content
    bool file; // never to be shown as a page of ours
} Head;

// HTTP's own words for the statuses that we send.
static const char* StatusWords(int status)
{
    switch (status)
    {
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 400:
            return "Bad Request";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 411:
            return "Length Required";
        case 413:
            return "Content Too Large";
        case 415:
            return "Unsupported Media Type";
        case 426:
            return "Upgrade Required";
        case 503:
            return "Service Unavailable";
        case 507:
            return "Insufficient Storage";
        default:
            return "Error";
    }
}

// Styles of the page's panels are made by script, so those may be inline; nothing else is, and nothing comes from or
// goes to anywhere but here. The token is in the address, so no one is told the address.
static int WriteHttpHead(struct lws* link, const Head* head, char* buffer, size_t capacity)
{
    // The host as the browser called it, if it is one that we know: the page may open its socket only there.
    char host[snw_maxGateHost] = "";
    if (lws_hdr_copy(link, host, sizeof host, WSI_TOKEN_HOST) < 0 ||
        !snwGate_HasHost(&ServerOf(link)->gate, host, strlen(host)))
        host[0] = 0;
    char policy[640] = "default-src 'none'; frame-ancestors 'none'; sandbox";
    if (!head->file)
        snprintf(policy, sizeof policy,
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
            "font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'%s%s; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'",
            host[0] != 0 ? " ws://" : "", host);

    // Downloads are kept from being shown as pages; nothing may be framed or sniffed.
    return snprintf(buffer, capacity,
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\nConnection: close\r\nCache-Control: %s\r\n"
        "Content-Security-Policy: %s\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
        "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n%s%s\r\n",
        head->status, StatusWords(head->status), head->type, (unsigned long long)head->size,
        head->keep ? "no-cache" : "no-store", policy, head->file ? "Content-Disposition: attachment\r\n" : "",
        head->status == 405   ? "Allow: GET, PUT\r\n"
        : head->status == 426 ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                              : "");
}

// Head and body at once; the connection ends with it.
static int Reply(struct lws* link, int status, const char* type, const char* text)
{
    unsigned char buffer[LWS_PRE + 6144];
    char* start = (char*)buffer + LWS_PRE;
    size_t capacity = sizeof buffer - LWS_PRE, length = strlen(text);
    Head head = {.status = status, .type = type, .size = length};
    int size = WriteHttpHead(link, &head, start, capacity);
    if (size < 0 || (size_t)size + length >= capacity)
        return -1;
    memcpy(start + size, text, length + 1);
    lws_write(link, (unsigned char*)start, (size_t)size + length, LWS_WRITE_HTTP_FINAL);
    return -1;
}

static int ReplyText(struct lws* link, int status, const char* text)
{
    return Reply(link, status, "text/plain; charset=utf-8", text);
}

static int ReplyJson(struct lws* link, int status, json_t* object)
{
    char* text = json_dumps(object, JSON_COMPACT);
    int result = Reply(link, status, "application/json; charset=utf-8", text != NULL ? text : "{}");
    free(text);
    json_decref(object);
    return result;
}

static int ReplyError(struct lws* link, int status, const snwMessage* message)
{
    return ReplyJson(link, status,
        json_pack(
            "{s:{s:s, s:s, s:s}}", "error", "text", message->text, "place", message->place, "remedy", message->remedy));
}

static int StatusOf(snwResult result)
{
    return result == snw_errorUnsupported ? 415 : result == snw_errorIo ? 507 : result == snw_errorMemory ? 503 : 400;
}

// ---------------------------------------------------------------------------------------------------------------------
// The gate

static bool ShowsToken(struct lws* link)
{
    static const char header[] = "x-sinew-token:";
    const snwGate* gate = &ServerOf(link)->gate;
    char text[snw_gateTokenLength + 8] = "";
    const char* token = lws_get_urlarg_by_name(link, "token=", text, sizeof text);
    if (token != NULL)
        return snwGate_HasToken(gate, token, strlen(token));
    int size = lws_hdr_custom_copy(link, text, sizeof text, header, sizeof header - 1);
    return size > 0 && snwGate_HasToken(gate, text, (size_t)size);
}

static bool HasToken(struct lws* link)
{
    bool shown = ShowsToken(link);
    if (shown)
        snwStrangers_Remove(ServerOf(link), link);
    return shown;
}

// What every request needs, scripts and styles too. NULL: it may pass.
static const char* Objection(struct lws* link)
{
    const snwGate* gate = &ServerOf(link)->gate;
    char text[snw_maxGateHost + 16];
    int size = lws_hdr_copy(link, text, sizeof text, WSI_TOKEN_HOST);
    if (size <= 0 || !snwGate_HasHost(gate, text, (size_t)size))
        return "This is not the address that sinew studio printed. Open that one, or allow this name with "
               "--allow-host.\n";
    char first[1]; // an empty one has a fragment of no length
    bool said = lws_hdr_total_length(link, WSI_TOKEN_ORIGIN) > 0 ||
                lws_hdr_copy_fragment(link, first, sizeof first, WSI_TOKEN_ORIGIN, 0) >= 0;
    if (!said)
        return NULL;
    size = lws_hdr_copy(link, text, sizeof text, WSI_TOKEN_ORIGIN);
    return size > 0 && snwGate_HasOrigin(gate, text, (size_t)size) ? NULL : "Another page may not ask for this.\n";
}

static int ReplyNoToken(struct lws* link)
{
    return Reply(link, 403, "text/html; charset=utf-8",
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sinew</title>"
        "<body style=\"font:16px/1.5 sans-serif;max-width:40em;margin:4em auto\"><h1>The address is not complete</h1>"
        "<p>Open the whole address that <code>sinew studio</code> printed, with its token: it keeps others out.</p>"
        "</html>\n");
}

// RFC 6455, 4.2.1: a nonce of 16 bytes in base64, which are 22 digits and two signs of padding. The last digit has only
// two bits to tell.
static bool HasKey(struct lws* link)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char key[32];
    return lws_hdr_copy(link, key, sizeof key, WSI_TOKEN_KEY) == 24 && strspn(key, digits) == 22 &&
           strchr("AQgw", key[21]) != NULL && strcmp(key + 22, "==") == 0;
}

static bool HasVersion(struct lws* link)
{
    char version[8];
    return lws_hdr_copy(link, version, sizeof version, WSI_TOKEN_VERSION) == 2 && strcmp(version, "13") == 0;
}

// Before anything is upgraded to another protocol.
static int CheckUpgrade(struct lws* link, const char* what)
{
    const snwServer* server = ServerOf(link);

    // A plain web page could ask for a socket, too: origin, path, token and version must all be right.
    char path[64] = "";
    if (what == NULL || strcasecmp(what, "websocket") != 0)
        return ReplyText(link, 400, "Only websocket can be upgraded to.\n");
    const char* objection = Objection(link);
    if (objection != NULL)
        return ReplyText(link, 403, objection);
    if (lws_hdr_copy(link, path, sizeof path, WSI_TOKEN_GET_URI) <= 0 || strcmp(path, "/socket") != 0)
        return ReplyText(link, 404, "There is no socket here.\n");
    if (!HasToken(link))
        return ReplyText(link, 403, "The token is missing or wrong.\n");
    if (!HasVersion(link))
        return ReplyText(link, 426, "The version of the protocol is 13.\n");
    if (!HasKey(link))
        return ReplyText(link, 400, "The key of the handshake is missing or wrong.\n");
    if (server->viewers.count >= server->def.maxViewers)
        return ReplyText(link, 503, "Too many viewers.\n");

    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Out

static int StartSending(struct lws* link, snwExchange* exchange, const Head* head)
{
    unsigned char buffer[LWS_PRE + 2048];
    int size = WriteHttpHead(link, head, (char*)buffer + LWS_PRE, sizeof buffer - LWS_PRE);
    exchange->size = head->size;
    exchange->sent = 0;
    if (size < 0 || (size_t)size >= sizeof buffer - LWS_PRE ||
        lws_write(link, buffer + LWS_PRE, (size_t)size, LWS_WRITE_HTTP_HEADERS) < size)
        return -1;
    lws_callback_on_writable(link);
    return 0;
}

static int SendPage(struct lws* link, snwExchange* exchange, const char* path)
{
    const snwPage* page = snwPages_Find(&ServerOf(link)->pages, path);
    if (page == NULL)
        return ReplyText(link, 404, "There is no such page.\n");
    bool index = strcmp(page->path, "/index.html") == 0;
    if (index && !HasToken(link))
        return ReplyNoToken(link);
    exchange->phase = snw_phasePage;
    exchange->page = page->data;
    return StartSending(link, exchange, &(Head){.status = 200, .type = page->type, .size = page->size, .keep = !index});
}

static int SendFile(struct lws* link, snwExchange* exchange, const char* name)
{
    uint64_t size = 0;
    int file = snwDownload_Open(ServerOf(link)->folder, name, &size, &exchange->message);
    if (file < 0)
        return ReplyError(link, exchange->message.result == snw_errorInput ? 404 : 400, &exchange->message);
    exchange->phase = snw_phaseFile;
    exchange->file = file;
    return StartSending(link, exchange, &(Head){.status = 200, .type = snwMimeType(name), .size = size, .file = true});
}

// false: the file got shorter or cannot be read; the length that was announced is not kept and the client notices.
static bool FillPiece(snwExchange* exchange, unsigned char* buffer, size_t size)
{
    if (exchange->phase == snw_phasePage)
    {
        memcpy(buffer, exchange->page + exchange->sent, size);
        return true;
    }
    size_t filled = 0;
    while (filled < size)
    {
        ssize_t got = read(exchange->file, buffer + filled, size - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        filled += (size_t)got;
    }
    return true;
}

static int SendMore(struct lws* link, snwExchange* exchange)
{
    unsigned char* buffer = ServerOf(link)->scratch + LWS_PRE;
    if (exchange->phase != snw_phasePage && exchange->phase != snw_phaseFile)
        return 0;
    if (exchange->sent == exchange->size)
        return -1; // all is out, libwebsockets holds nothing back when it asks for more
    uint64_t rest = exchange->size - exchange->sent;
    size_t size = rest < snw_sendPiece ? (size_t)rest : snw_sendPiece;
    if (!FillPiece(exchange, buffer, size) || lws_write(link, buffer, size, LWS_WRITE_HTTP) < (int)size)
        return -1;
    exchange->sent += size;
    lws_set_timeout(link, PENDING_TIMEOUT_HTTP_CONTENT, ServerOf(link)->def.idleSeconds);
    lws_callback_on_writable(link);
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// In

// -1: there is none, or it is no number.
static int64_t ContentLength(struct lws* link)
{
    char text[24];
    int size = lws_hdr_copy(link, text, sizeof text, WSI_TOKEN_HTTP_CONTENT_LENGTH);
    if (size <= 0 || size > 15)
        return -1;
    int64_t length = 0;
    for (int i = 0; i < size; ++i)
    {
        if (isdigit((unsigned char)text[i]) == 0)
            return -1;
        length = length * 10 + (text[i] - '0');
    }
    return length;
}

static int StartUpload(struct lws* link, snwExchange* exchange, const char* name)
{
    snwServer* server = ServerOf(link);
    int64_t length = ContentLength(link);
    if (length < 0 || lws_hdr_total_length(link, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0)
        return ReplyText(link, 411, "The length of the file must be said.\n");
    if (server->uploads >= snw_maxUploads)
        return ReplyText(link, 503, "Too many files are coming in.\n");
    snwResult result = snwUpload_Begin(&exchange->upload, server->folder, name, (uint64_t)length, &exchange->message);
    bool tooLarge = (uint64_t)length > SNW_MAX_UPLOAD_BYTES;
    if (result < 0 && (tooLarge || length == 0))
        return ReplyError(link, tooLarge ? 413 : 400, &exchange->message);
    exchange->phase = result == snw_ok ? snw_phaseUpload : snw_phaseDiscard;
    exchange->status = StatusOf(result);
    server->uploads += result == snw_ok;
    return 0;
}

static void EndUpload(snwServer* server, snwExchange* exchange, Phase phase)
{
    if (exchange->phase == snw_phaseUpload)
    {
        snwUpload_Drop(&exchange->upload);
        --server->uploads;
    }
    exchange->phase = phase;
}

static int TakeUpload(struct lws* link, snwExchange* exchange, const void* data, size_t size)
{
    if (exchange->phase != snw_phaseUpload)
        return exchange->phase == snw_phaseDiscard ? 0 : -1;
    snwResult result = snwUpload_Write(&exchange->upload, data, size, &exchange->message);
    if (result < 0)
    {
        exchange->status = StatusOf(result);
        EndUpload(ServerOf(link), exchange, snw_phaseDiscard);
    }
    return 0;
}

static int FinishUpload(struct lws* link, snwExchange* exchange)
{
    if (exchange->phase == snw_phaseDiscard)
        return ReplyError(link, exchange->status, &exchange->message);
    if (exchange->phase != snw_phaseUpload)
        return -1;
    snwResult result = snwUpload_Finish(&exchange->upload, &exchange->message);
    EndUpload(ServerOf(link), exchange, snw_phaseNone);
    if (result < 0)
        return ReplyError(link, StatusOf(result), &exchange->message);
    return ReplyJson(link, 201, json_pack("{s:s}", "name", exchange->upload.name));
}

// ---------------------------------------------------------------------------------------------------------------------
// Requests

static int Respond(struct lws* link, snwExchange* exchange, const char* path, size_t size)
{
    static const char files[] = "/file/";
    const char* objection = Objection(link);
    if (objection != NULL)
        return ReplyText(link, 403, objection);
    if (path == NULL || strlen(path) != size) // a zero byte inside
        return ReplyText(link, 400, "This is no path.\n");
    bool get = lws_hdr_total_length(link, WSI_TOKEN_GET_URI) > 0;
    bool put = lws_hdr_total_length(link, WSI_TOKEN_PUT_URI) > 0;
    bool file = strncmp(path, files, sizeof files - 1) == 0;
    if (!get && !(put && file))
        return ReplyText(link, 405, "Only GET, and PUT of files.\n");
    if (file && !HasToken(link))
        return ReplyText(link, 403, "The token is missing or wrong.\n");
    if (put)
        return StartUpload(link, exchange, path + sizeof files - 1);
    return file ? SendFile(link, exchange, path + sizeof files - 1) : SendPage(link, exchange, path);
}

static void EndExchange(snwServer* server, snwExchange* exchange)
{
    if (exchange->phase == snw_phaseFile)
        close(exchange->file);
    EndUpload(server, exchange, snw_phaseNone);
}

// Called by libwebsockets for all that happens to a connection; -1 closes it.
int snwHttp_Callback(struct lws* link, enum lws_callback_reasons reason, void* user, void* in, size_t size)
{
    snwServer* server = ServerOf(link);
    snwExchange* exchange = user;
    switch (reason)
    {
        case LWS_CALLBACK_WSI_CREATE:
            ++server->connections;
            return 0;
        case LWS_CALLBACK_WSI_DESTROY:
            --server->connections;
            snwStrangers_Remove(server, link);
            return 0;
        case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
            lws_set_timeout(link, PENDING_TIMEOUT_USER_REASON_BASE, server->def.handshakeSeconds);
            return 0;
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
            return CheckUpgrade(link, in);
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: // a socket without the protocol's name
        case LWS_CALLBACK_RAW_ADOPT:                  // CONNECT
        case LWS_CALLBACK_RAW_RX:
            return -1;
        case LWS_CALLBACK_HTTP:
            return exchange != NULL ? Respond(link, exchange, in, size) : -1;
        case LWS_CALLBACK_HTTP_BODY:
            return exchange != NULL ? TakeUpload(link, exchange, in, size) : -1;
        case LWS_CALLBACK_HTTP_BODY_COMPLETION:
            return exchange != NULL ? FinishUpload(link, exchange) : -1;
        case LWS_CALLBACK_HTTP_WRITEABLE:
            return exchange != NULL ? SendMore(link, exchange) : -1;
        case LWS_CALLBACK_CLOSED_HTTP:
        case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
            if (exchange != NULL)
                EndExchange(server, exchange);
            return 0;
        default:
            return 0;
    }
}
