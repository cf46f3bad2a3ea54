// Labels: threads

#include "base/clock.h"
#include "fixture.h"
#include "studio/gate.h"
#include "studio/pages.h"
#include "studio/transfer.h"
#include "studio/viewer.h"
#include "studio_world.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Parts without a network

static bool HasHost(const snwGate* gate, const char* text)
{
    return snwGate_HasHost(gate, text, strlen(text));
}

static bool HasOrigin(const snwGate* gate, const char* text)
{
    return snwGate_HasOrigin(gate, text, strlen(text));
}

TEST(server, gateKnowsNamesExactly)
{
    snwGate gate, other;
    CHECK(snwGate_Open(&gate, NULL) == snw_ok && snwGate_Open(&other, NULL) == snw_ok);
    CHECK(snwGate_Allow(&gate, "127.0.0.1", 7777, NULL) == snw_ok);
    CHECK(snwGate_Allow(&gate, "::1", 7777, NULL) == snw_ok);
    CHECK(snwGate_Allow(&gate, "Box.local:80", 7777, NULL) == snw_ok);
    CHECK(HasHost(&gate, "127.0.0.1:7777") && HasHost(&gate, "[::1]:7777") && HasHost(&gate, "box.local:80"));
    const char* strangers[] = {"", "127.0.0.1", "127.0.0.1:7778", "127.0.0.1:77777", "27.0.0.1:7777", "box.local",
        "box.local:80.evil.org", "evil.org", "127.0.0.1:7777 "};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; ++i)
        CHECK(!HasHost(&gate, strangers[i]));
    CHECK(HasOrigin(&gate, "http://127.0.0.1:7777"));
    CHECK(!HasOrigin(&gate, "https://127.0.0.1:7777") && !HasOrigin(&gate, "null") && !HasOrigin(&gate, ""));
    CHECK(!HasOrigin(&gate, "http://127.0.0.1:7777/") && !HasOrigin(&gate, "http://evil.org"));
    CHECK(snwGate_HasToken(&gate, gate.token, 32) && !snwGate_HasToken(&gate, other.token, 32));
    CHECK(!snwGate_HasToken(&gate, gate.token, 31) && !snwGate_HasToken(&gate, NULL, 0));
    CHECK(strlen(gate.token) == 32 && strcmp(gate.token, other.token) != 0);
    snwMessage message;
    CHECK(snwGate_Allow(&gate, "a b", 1, &message) == snw_errorArgument);
    CHECK(snwGate_Allow(&gate, "evil.org/x", 1, &message) == snw_errorArgument);
}

TEST(server, fileNamesArePlain)
{
    const char* good[] = {"cow.glb", "My Cow (2).OBJ", "k\xC3\xBChe.json", "<b>cow.ply", "a..b.json"};
    const char* bad[] = {"", ".", "..", ".cow.glb", "../cow.glb", "a/b.glb", "a\\b.glb", "cow", "cow.exe", "cow.html",
        "cow.svg", "cow.glb.part", "a\nb.glb", "a\x7F.glb", "a\xC2\x85.glb", "\xFF.glb", "\xC0\xAF.glb",
        "\xED\xA0\x80.glb", "\xE2\x82.glb", "\xF4\x90\x80\x80.glb", "\xE0\x80\xAF.glb"};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i)
        CHECK(snwFileName_Check(good[i], NULL) == snw_ok);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        CHECK(snwFileName_Check(bad[i], NULL) < 0);
    char name[400];
    memset(name, 'a', sizeof name);
    snprintf(name + 300, 100, ".glb");
    CHECK(snwFileName_Check(name, NULL) < 0);
}

static snwBlob* MakeBlob(snwContext* context, size_t size, uint64_t serial, uint32_t model)
{
    snwBlob* blob = snwCreateBlob(context, size);
    memset(blob->data, 0, size);
    if (size >= 16)
        memcpy(blob->data + 12, &model, 4);
    blob->serial = serial;
    return blob;
}

TEST(server, viewerGetsWordsThenModelThenNewestFrame)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwBlob* text = MakeBlob(context, 5, 0, 0);
    snwBlob* models[2] = {MakeBlob(context, 64, 1, 1), MakeBlob(context, 64, 2, 2)};
    snwBlob* frames[4];
    for (int i = 0; i < 4; ++i)
        frames[i] = MakeBlob(context, 48, (uint64_t)i + 1, i < 3 ? 1 : 2);
    snwViewer* viewer = snwCreateViewer(context, context, 1, 8);
    CHECK(!snwViewer_Choose(viewer, NULL, NULL));
    snwViewer_AddText(viewer, text);
    CHECK(snwViewer_Choose(viewer, models[0], frames[0]) && viewer->sending == text && viewer->sendingText);
    snwViewer_Advance(viewer, 2);
    CHECK(snwViewer_Choose(viewer, models[0], frames[0]) && viewer->sending == text && viewer->sent == 2);
    snwViewer_Advance(viewer, 3);
    CHECK(snwViewer_Choose(viewer, models[0], frames[0]) && viewer->sending == models[0] && !viewer->sendingText);
    snwViewer_Advance(viewer, 64);
    for (int i = 0; i < 2; ++i) // two frames, then its credit is spent
    {
        CHECK(snwViewer_Choose(viewer, models[0], frames[i]) && viewer->sending == frames[i]);
        snwViewer_Advance(viewer, 48);
        CHECK(!snwViewer_Choose(viewer, models[0], frames[i])); // none twice
    }
    CHECK(!snwViewer_Choose(viewer, models[0], frames[2]));
    snwViewer_Acknowledge(viewer, 1);
    CHECK(!snwViewer_Choose(viewer, models[1], frames[2]) || viewer->sending == models[1]); // a frame of an old model
    snwViewer_Advance(viewer, 64);
    CHECK(!snwViewer_Choose(viewer, models[1], frames[2]));
    CHECK(snwViewer_Choose(viewer, models[1], frames[3]) && viewer->sending == frames[3]);
    snwViewer_AddText(viewer, text);
    CHECK(!viewer->overflowed);
    snwViewer_AddText(viewer, text);
    CHECK(viewer->overflowed);
    snwDestroyViewer(viewer);
    snwBlob_Release(context, text);
    for (int i = 0; i < 4; ++i)
        snwBlob_Release(context, frames[i]);
    snwBlob_Release(context, models[0]);
    snwBlob_Release(context, models[1]);
    snwDestroyContext(context);
    CHECK_INT((int)counter.live, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Who may come in

typedef struct Request
{
    const char *path, *host, *origin, *more; // NULL: not said
} Request;

static int Ask(snwStudioWorld* world, const Request* request)
{
    char head[2048];
    int length = snprintf(head, sizeof head, "GET %s HTTP/1.1\r\n", request->path);
    if (request->host != NULL)
        length += snprintf(head + length, sizeof head - (size_t)length, "Host: %s\r\n", request->host);
    if (request->origin != NULL)
        length += snprintf(head + length, sizeof head - (size_t)length, "Origin: %s\r\n", request->origin);
    if (request->more != NULL)
        snprintf(head + length, sizeof head - (size_t)length, "%s", request->more);
    snwWire wire;
    int status = snwAnswer_Status(snwStudioWorld_Ask(world, &wire, head, NULL, 0));
    snwWire_Close(&wire);
    return status;
}

static const char s_upgrade[] = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sinew.1\r\n";

static snwContext* OpenWorld(snwStudioWorld* world, const snwServerDef* def)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwStudioWorld_Open(world, context, def);
    return context;
}

static void CloseWorld(snwStudioWorld* world)
{
    snwStudioWorld_Close(world);
    snwDestroyContext(world->context);
}

TEST(server, strangersAreRefused)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    char host[64], origin[64], local[64], socket[128], page[128], file[128];
    snprintf(host, sizeof host, "127.0.0.1:%d", world.port);
    snprintf(local, sizeof local, "localhost:%d", world.port);
    snprintf(origin, sizeof origin, "http://%s", host);
    snprintf(socket, sizeof socket, "/socket?token=%s", world.token);
    snprintf(page, sizeof page, "/?token=%s", world.token);
    snprintf(file, sizeof file, "/file/cow.json?token=%s", world.token);
    const char* paths[] = {page, "/page.js", file, socket};
    const char* strangers[] = {NULL, "127.0.0.1", "evil.org", "127.0.0.1:1", "evil.org:7777"};
    for (int p = 0; p < 4; ++p)
    {
        const char* more = p == 3 ? s_upgrade : NULL;
        for (int i = 0; i < 5; ++i)
            CHECK_INT(Ask(&world, &(Request){paths[p], strangers[i], NULL, more}), 403);
        CHECK_INT(Ask(&world, &(Request){paths[p], host, "http://evil.org", more}), 403);
        CHECK_INT(Ask(&world, &(Request){paths[p], host, "null", more}), 403);
        CHECK_INT(Ask(&world, &(Request){paths[p], host, "", more}), 403);
        char twice[128];
        snprintf(twice, sizeof twice, "%s\r\nHost: evil.org", host);
        CHECK_INT(Ask(&world, &(Request){paths[p], twice, NULL, more}), 403);
        if (p < 3)
        {
            CHECK_INT(Ask(&world, &(Request){paths[p], host, NULL, NULL}), 200);
            CHECK_INT(Ask(&world, &(Request){paths[p], host, origin, NULL}), 200);
            CHECK_INT(Ask(&world, &(Request){paths[p], local, NULL, NULL}), 200);
        }
    }
    snwWire wire;
    CHECK(snwWire_Upgrade(&wire, world.port, world.token));
    snwWire_Close(&wire);
    CloseWorld(&world);
}

TEST(server, tokenIsNeeded)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    char host[64], path[160], header[96], wrong[40];
    snprintf(host, sizeof host, "127.0.0.1:%d", world.port);
    snprintf(wrong, sizeof wrong, "%s", world.token);
    wrong[31] = wrong[31] == '0' ? '1' : '0';
    const char* places[] = {"/", "/index.html", "/file/cow.json", "/socket"};
    for (int p = 0; p < 4; ++p)
    {
        const char* more = p == 3 ? s_upgrade : NULL;
        CHECK_INT(Ask(&world, &(Request){places[p], host, NULL, more}), 403);
        const char* forms[] = {"?token=", "?token=%s0", "?token=%.31s", "?token=%s%%00", "?token", "?Token=%s"};
        for (int i = 0; i < 6; ++i)
        {
            int length = snprintf(path, sizeof path, "%s", places[p]);
            snprintf(path + length, sizeof path - (size_t)length, forms[i], world.token); // NOLINT: all take a text
            int status = Ask(&world, &(Request){path, host, NULL, more});
            CHECK(status == 403 || status == 0);
        }
        snprintf(path, sizeof path, "%s?token=%s", places[p], wrong);
        CHECK_INT(Ask(&world, &(Request){path, host, NULL, more}), 403);
    }
    snprintf(header, sizeof header, "X-Sinew-Token: %s\r\n", world.token);
    CHECK_INT(Ask(&world, &(Request){"/file/cow.json", host, NULL, header}), 200);
    CHECK_INT(Ask(&world, &(Request){"/page.js", host, NULL, NULL}), 200);
    CloseWorld(&world);
}

TEST(server, pageComesWithItsRules)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    char head[256];
    snwWire wire;
    snprintf(head, sizeof head, "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", world.token, world.port);
    const char* answer = snwStudioWorld_Ask(&world, &wire, head, NULL, 0);
    CHECK_INT(snwAnswer_Status(answer), 200);
    const char* wanted[] = {"Content-Security-Policy: default-src 'none'; script-src 'self';", "nosniff", "no-store",
        "no-referrer", "Content-Type: text/html", "connect-src 'self' ws://127.0.0.1:", "<title>page</title>"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i)
        CHECK(strstr(answer, wanted[i]) != NULL);
    snwWire_Close(&wire);
    snprintf(
        head, sizeof head, "GET /file/cow.json?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", world.token, world.port);
    answer = snwStudioWorld_Ask(&world, &wire, head, NULL, 0);
    CHECK(strstr(answer, "sandbox") != NULL && strstr(answer, "attachment") != NULL);
    CHECK(strstr(answer, "\r\n\r\n{\"cow\": 1}") != NULL);
    snwWire_Close(&wire);
    const char* methods[] = {"POST", "DELETE", "HEAD", "OPTIONS", "PATCH"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    {
        snprintf(
            head, sizeof head, "%s /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", methods[i], world.token, world.port);
        CHECK_INT(snwAnswer_Status(snwStudioWorld_Ask(&world, &wire, head, NULL, 0)), 405);
        snwWire_Close(&wire);
    }
    CloseWorld(&world);
}

TEST(server, withoutAPageItSaysHowToBuildIt)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPages pages;
    CHECK(snwPages_Load(context, NULL, &pages, NULL) == snw_ok);
    const snwPage* page = snwPages_Find(&pages, "/");
    REQUIRE(page != NULL);
    CHECK(strstr((const char*)page->data, "make web") != NULL);
    snwPages_Free(&pages);
    snwMessage message;
    CHECK(snwPages_Load(context, "/no/such/folder", &pages, &message) == snw_errorIo);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

TEST(server, pathsStayInTheFolder)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    char host[64], path[256], target[600], link[600];
    snprintf(host, sizeof host, "127.0.0.1:%d", world.port);
    snprintf(target, sizeof target, "%s/secret.json", world.outside);
    snprintf(link, sizeof link, "%s/link.json", world.folder);
    CHECK(symlink(target, link) == 0);
    snprintf(link, sizeof link, "%s/deep.json", world.folder);
    CHECK(mkdir(link, 0777) == 0);
    const char* tries[] = {"/file/../secret.json", "/file/%2e%2e/secret.json", "/file/..%2fsecret.json",
        "/file/%2e%2e%2fsecret.json", "/file/..%5csecret.json", "/file/..\\secret.json", "/../secret.json",
        "/%2e%2e/secret.json", "/..%2f..%2fsecret.json", "/file//secret.json", "/file/%00/../secret.json",
        "/file/cow.json%00.glb", "/file/%252e%252e%252fsecret.json", "/file/%c0%ae%c0%ae/secret.json",
        "/file/....//secret.json", "/file/link.json", "/file/deep.json", "/file/", "/file/.", "/file/..",
        "/secret.json", "/file/%2Fetc%2Fpasswd", "/file/..;/secret.json", "//file/../../secret.json", "/file/%zz.json",
        "/pages/../secret.json", "/page.js/../../secret.json", "/file/cow.json/", "/file/cow.json/."};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; ++i)
    {
        snprintf(path, sizeof path, "GET %s?token=%s HTTP/1.1\r\nHost: %s\r\n", tries[i], world.token, host);
        snwWire wire;
        const char* answer = snwStudioWorld_Ask(&world, &wire, path, NULL, 0);
        CHECK(snwAnswer_Status(answer) != 200);
        CHECK(strstr(answer, "secret") == NULL && strstr(answer, "root:") == NULL);
        snwWire_Close(&wire);
    }
    CHECK_INT(Ask(&world, &(Request){"/page.js", host, NULL, NULL}), 200);
    CloseWorld(&world);
}

static int Upload(snwStudioWorld* world, const char* name, const void* data, size_t size, char got[256])
{
    char head[512];
    snwWire wire;
    snprintf(
        head, sizeof head, "PUT /file/%s?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", name, world->token, world->port);
    const char* answer = snwStudioWorld_Ask(world, &wire, head, data, size);
    const char* body = strstr(answer, "\r\n\r\n");
    snprintf(got, 256, "%s", body != NULL ? body + 4 : "");
    int status = snwAnswer_Status(answer);
    snwWire_Close(&wire);
    return status;
}

static int CountFiles(const char* folder)
{
    DIR* stream = opendir(folder);
    int count = 0;
    for (const struct dirent* entry = readdir(stream); entry != NULL; entry = readdir(stream))
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static bool FileIs(const snwStudioWorld* world, const char* name, const void* data, size_t size)
{
    char path[800];
    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    FILE* file = fopen(path, "rb");
    unsigned char* bytes = malloc(size + 1);
    size_t got = file != NULL ? fread(bytes, 1, size + 1, file) : 0;
    bool same = file != NULL && got == size && memcmp(bytes, data, size) == 0;
    if (file != NULL)
        fclose(file);
    free(bytes);
    return same;
}

TEST(server, uploadsArriveWholeAndReplaceNothing)
{
    enum
    {
        size = 3 << 20
    };
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    unsigned char* data = malloc(size);
    uint64_t seed = 7;
    char got[256];
    for (int i = 0; i < size; ++i)
        data[i] = (unsigned char)(256 * snwTest_Random(&seed));
    CHECK_INT(Upload(&world, "big.glb", data, size, got), 201);
    CHECK(strcmp(got, "{\"name\":\"big.glb\"}") == 0 && FileIs(&world, "big.glb", data, size));
    CHECK_INT(Upload(&world, "cow.json", "[]", 2, got), 201);
    CHECK(strcmp(got, "{\"name\":\"cow-2.json\"}") == 0 && FileIs(&world, "cow-2.json", "[]", 2));
    CHECK(FileIs(&world, "cow.json", "{\"cow\": 1}", 10));
    CHECK_INT(Upload(&world, "k%C3%BChe%20%3Cb%3E.obj", "v", 1, got), 201);
    CHECK(FileIs(&world, "k\xC3\xBChe <b>.obj", "v", 1));
    CHECK_INT(CountFiles(world.folder), 4);

    // And out again.
    char head[256];
    snwWire wire;
    snprintf(
        head, sizeof head, "GET /file/big.glb?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", world.token, world.port);
    const char* answer = snwStudioWorld_Ask(&world, &wire, head, NULL, 0);
    const char* body = strstr(answer, "\r\n\r\n");
    CHECK(body != NULL && wire.end == (size_t)(body + 4 - answer) + size && memcmp(body + 4, data, size) == 0);
    snwWire_Close(&wire);
    free(data);
    CloseWorld(&world);
}

TEST(server, uploadsThatAreNoGoodLeaveNothing)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    char got[256], head[256];
    int before = CountFiles(world.folder);
    const char* names[] = {
        "..%2fx.glb", "%2e%2e%5cx.glb", ".x.glb", "x", "x.exe", "x.html", "x%0A.glb", "a%2fb.glb", "x.glb.part"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        int status = Upload(&world, names[i], "abc", 3, got);
        if (status < 400) // 405: no path of a file at all; 403: the line was cut, the host is missing
            snwTest_Fail(__FILE__, __LINE__, "%s: %d", names[i], status);
    }
    const char* lengths[] = {"", "Content-Length: -1\r\n", "Content-Length: 1x\r\n", "Transfer-Encoding: chunked\r\n",
        "Content-Length: 0\r\n", "Content-Length: 536870913\r\n", "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n"};
    const int statuses[] = {411, 411, 411, 411, 400, 413, 411, 411};
    for (int i = 0; i < 8; ++i)
    {
        snwWire wire;
        snprintf(head, sizeof head, "PUT /file/x.glb?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", world.token,
            world.port, lengths[i]);
        CHECK_INT(snwAnswer_Status(snwStudioWorld_Ask(&world, &wire, head, NULL, 0)), statuses[i]);
        snwWire_Close(&wire);
    }
    for (int i = 0; i < 12; ++i) // more than are allowed at a time, if they were not forgotten
    {
        snwWire wire;
        CHECK(snwWire_Open(&wire, world.port));
        snwWire_Say(&wire,
            "PUT /file/cut.glb?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n\r\nhalf", world.token,
            world.port);
        shutdown(wire.socket, SHUT_WR);
        snwWire_ReadAll(&wire, snwTest_Patience());
        snwWire_Close(&wire);
    }
    CHECK_INT(Upload(&world, "whole.glb", "abc", 3, got), 201);
    CHECK_INT(CountFiles(world.folder), before + 1);
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages

TEST(server, messagesReachTheHostWhole)
{
    snwStudioWorld world;
    snwWire wire;
    OpenWorld(&world, NULL);
    REQUIRE(snwWire_Upgrade(&wire, world.port, world.token));
    char* big = malloc(65537);
    memset(big, 'x', 65536);
    big[65536] = 0;
    snwWire_SendText(&wire, "{\"do\": \"hello\"}");
    snwWire_SendFrame(&wire, snw_opText, true, "{\"do\": ", 7); // in three frames, with a ping between
    snwWire_SendFrame(&wire, snw_wireFinal | snw_opPing, true, "?", 1);
    snwWire_SendFrame(&wire, snw_opContinue, true, "\"pl", 3);
    snwWire_SendFrame(&wire, snw_wireFinal | snw_opContinue, true, "ay\"}", 4);
    snwWire_SendText(&wire, "");
    snwWire_SendText(&wire, "no json \xE2\x82\xAC");
    snwWire_SendText(&wire, big);
    CHECK(snwStudioWorld_WaitHeard(&world, 5));
    CHECK(strcmp(world.heard[0].text, "{\"do\": \"hello\"}") == 0 && world.heard[0].client == 1);
    CHECK(strcmp(world.heard[1].text, "{\"do\": \"play\"}") == 0);
    CHECK(world.heard[2].size == 0 && strcmp(world.heard[3].text, "no json \xE2\x82\xAC") == 0);
    CHECK(world.heard[4].size == 65536 && strcmp(world.heard[4].text, big) == 0);
    snwStudioWorld_Deafen(&world); // too many wait: the answer says so, with the number it was asked with
    snwWire_SendText(&wire, "{\"v\": 1, \"id\": 12, \"do\": \"play\"}");
    CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireText);
    CHECK(strncmp((char*)wire.message, "{\"id\": 12, \"ok\": false", 22) == 0);
    snwWire_Close(&wire);
    CHECK(snwStudioWorld_WaitLeft(&world, 1));
    free(big);
    CloseWorld(&world);
}

typedef struct Abuse
{
    int first;
    bool masked;
    const char* data;
    size_t size;
    int status; // of the close; 0: any
} Abuse;

// Whatever comes, the server closes that socket and no other.
TEST(server, malformedMessagesCloseTheirSocket)
{
    snwStudioWorld world;
    snwWire wire, witness;
    OpenWorld(&world, NULL);
    REQUIRE(snwWire_Upgrade(&witness, world.port, world.token));
    char* big = calloc(1, 70000);
    memset(big, 'x', 70000);
    const Abuse abuses[] = {{snw_wireFinal | snw_opText, true, big, 65537, 1009},
        {snw_wireFinal | snw_opText, true, big, 70000, 1009}, {snw_wireFinal | snw_opBinary, true, "abc", 3, 1003},
        {snw_opText, true, big, 65537, 1009}, {snw_wireFinal | snw_opText, true, "\xFF\xFE", 2, 0},
        {snw_wireFinal | snw_opContinue, true, "abc", 3, 0}, {snw_wireFinal | 3, true, "abc", 3, 0},
        {snw_wireFinal | 0x70 | snw_opText, true, "abc", 3, 0}, {snw_opPing, true, "abc", 3, 0},
        {snw_wireFinal | snw_opPing, true, big, 200, 0}};
    int count = (int)(sizeof abuses / sizeof *abuses);
    for (int i = 0; i < count; ++i)
    {
        REQUIRE(snwWire_Upgrade(&wire, world.port, world.token));
        snwWire_SendFrame(&wire, abuses[i].first, abuses[i].masked, abuses[i].data, abuses[i].size);
        int status = snwWire_WaitForClose(&wire, snwTest_Patience());
        if (status < 0)
            snwTest_Fail(__FILE__, __LINE__, "abuse %d is not closed", i);
        if (abuses[i].status != 0)
            CHECK_INT(status, abuses[i].status);
        snwWire_Close(&wire);
    }
    CHECK(snwStudioWorld_WaitLeft(&world, count));
    snwWire_SendText(&witness, "still here");
    REQUIRE(snwStudioWorld_WaitHeard(&world, 1));
    CHECK(strcmp(world.heard[0].text, "still here") == 0);
    CHECK_INT(snwStudioWorld_Heard(&world), 1);
    free(big);
    snwWire_Close(&witness);
    CloseWorld(&world);
}

// Half a frame and then nothing; a length that never comes; noise. None of it is heard, nothing stays behind.
TEST(server, truncatedAndRandomBytesAreSurvived)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    uint64_t seed = 99;
    for (int round = 0; round < 40; ++round)
    {
        unsigned char noise[600];
        snwWire wire;
        bool upgraded = round % 2 == 0;
        REQUIRE(upgraded ? snwWire_Upgrade(&wire, world.port, world.token) : snwWire_Open(&wire, world.port));
        if (round == 0)
            snwWire_Send(&wire, "\x81\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x02\x03\x04zz", 16);
        else if (round == 2)
            snwWire_Send(&wire, "\x81\x85\x01", 3);
        else
        {
            for (int i = 0; i < 600; ++i)
                noise[i] = (unsigned char)(256 * snwTest_Random(&seed));
            snwWire_Send(&wire, noise, (size_t)(1 + 599 * snwTest_Random(&seed)));
        }
        snwWire_Close(&wire);
    }
    CHECK(snwStudioWorld_WaitLeft(&world, 20));
    snwWire wire;
    CHECK(snwWire_Upgrade(&wire, world.port, world.token));
    snwWire_Close(&wire);
    CloseWorld(&world);
}

TEST(server, upgradesNeedTheProtocol)
{
    snwStudioWorld world;
    OpenWorld(&world, NULL);
    char head[1024];
    const char* forms[] = {"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sinew.2\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: listen\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: http\r\n",
        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Upgrade: other\r\nConnection: Upgrade\r\n", "Upgrade: websocket\r\nSec-WebSocket-Protocol: sinew.1\r\n"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
    {
        snwWire wire;
        snprintf(head, sizeof head, "GET /socket?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", world.token,
            world.port, forms[i]);
        CHECK(snwAnswer_Status(snwStudioWorld_Ask(&world, &wire, head, NULL, 0)) != 101);
        snwWire_Close(&wire);
    }
    // RFC 6455, 4.2.1 and 4.4
    static const struct
    {
        const char *version, *key;
        int status;
    } handshakes[] = {
        {"Sec-WebSocket-Version: 12\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", 426},
        {"Sec-WebSocket-Version: 130\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", 426},
        {"", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", 426},
        {"Sec-WebSocket-Version: 13\r\n", "", 400},
        {"Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: \r\n", 400},
        {"Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j\r\n", 400},
        {"Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n", 400},
        {"Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=A\r\n", 400},
        {"Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: dGhlIHNh-XBsZSBub25jZQ==\r\n", 400},
    };
    for (size_t i = 0; i < sizeof handshakes / sizeof *handshakes; ++i)
    {
        snwWire wire;
        snprintf(head, sizeof head,
            "GET /socket?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Protocol: sinew.1\r\n%s%s",
            world.token, world.port, handshakes[i].version, handshakes[i].key);
        int status = snwAnswer_Status(snwStudioWorld_Ask(&world, &wire, head, NULL, 0));
        if (status != handshakes[i].status)
            snwTest_Fail(__FILE__, __LINE__, "handshake %zu: %d", i, status);
        snwWire_Close(&wire);
    }
    const char* others[] = {"CONNECT evil.org:80 HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n",
        "GET http://evil.org/ HTTP/1.1\r\n", "GET\r\n", "GET / HTTP/9.9\r\n", "\r\n\r\n", "\x16\x03\x01\x02"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
    {
        snwWire wire;
        CHECK(snwAnswer_Status(snwStudioWorld_Ask(&world, &wire, others[i], NULL, 0)) != 200);
        snwWire_Close(&wire);
    }
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static uint32_t Number(const snwWire* wire, int offset)
{
    uint32_t number;
    memcpy(&number, wire->message + offset, 4);
    return number;
}

static void Acknowledge(snwWire* wire, uint32_t serial)
{
    char text[96];
    snprintf(text, sizeof text, "{\"v\": 1, \"do\": \"ack\", \"serial\": %u}", serial);
    snwWire_SendText(wire, text);
}

TEST(server, framesFollowTheirModelWithinCredit)
{
    enum
    {
        size = 700000 // of a frame: more than one piece
    };
    snwStudioWorld world;
    snwWire wire;
    OpenWorld(&world, NULL);
    snwStudioWorld_PublishModel(&world, 1000000);
    snwStudioWorld_Publish(&world, size);
    REQUIRE(snwWire_Upgrade(&wire, world.port, world.token));
    CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary && wire.messageSize == 1000000 &&
          wire.message[6] == 2);
    CHECK(
        snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary && wire.messageSize == size && wire.message[6] == 1);
    CHECK_INT((int)Number(&wire, 8), 1);
    CHECK(wire.message[size - 1] == 1);
    for (int i = 0; i < 5; ++i) // 2 .. 6; the second one goes out, then there is no credit
    {
        snwStudioWorld_Publish(&world, size);
        if (i == 0)
            CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary && Number(&wire, 8) == 2);
    }
    CHECK(snwWire_Next(&wire, 0.05) == snw_wireNothing);
    Acknowledge(&wire, 2);
    CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary && Number(&wire, 8) == 6); // the newest, no queue
    CHECK(snwWire_Next(&wire, 0.05) == snw_wireNothing);
    snwStudioWorld_PublishModel(&world, 100);
    CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary && wire.message[6] == 2 && wire.messageSize == 100);
    snwStudioWorld_Publish(&world, size);
    CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary && Number(&wire, 8) == 7 && Number(&wire, 12) == 2);
    CHECK_INT(snwStudioWorld_Heard(&world), 0); // acks are no requests
    snwWire_Close(&wire);
    CloseWorld(&world);
}

TEST(server, manyViewersSeeTheSame)
{
    enum
    {
        count = 20
    };
    snwStudioWorld world;
    snwWire wires[count], more;
    snwServerDef def = snwDefaultServerDef();
    def.maxViewers = count;
    OpenWorld(&world, &def);
    for (int i = 0; i < count; ++i)
        REQUIRE(snwWire_Upgrade(&wires[i], world.port, world.token));
    CHECK(!snwWire_Upgrade(&more, world.port, world.token)); // one too many
    snwWire_Close(&more);
    snwStudioWorld_PublishModel(&world, 500);
    snwStudioWorld_Publish(&world, 100000);
    snwStudioWorld_Tell(&world, 0, "for all");
    snwStudioWorld_Tell(&world, 7, "for one");
    for (int i = 0; i < count; ++i)
    {
        int binaries = 0, texts = 0, own = 0;
        while (binaries < 2 || texts < 1 + (i == 6))
        {
            snwWireKind kind = snwWire_Next(&wires[i], snwTest_Patience());
            REQUIRE(kind == snw_wireBinary || kind == snw_wireText);
            binaries += kind == snw_wireBinary;
            texts += kind == snw_wireText;
            own += kind == snw_wireText && strcmp((char*)wires[i].message, "for one") == 0;
        }
        CHECK_INT(own, i == 6);
    }
    for (int i = 0; i < count; ++i)
        snwWire_Close(&wires[i]);
    CHECK(snwStudioWorld_WaitLeft(&world, count));
    CHECK(snwWire_Upgrade(&more, world.port, world.token)); // their places are free again
    snwWire_Close(&more);
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Clients that do not do their part

// What the host says and shows while one client never reads: it never waits, the others get all of it, and the one that
// lets too much pile up is cut off.
TEST(server, clientThatNeverReadsIsCutOff)
{
    enum
    {
        steps = 400
    };
    snwStudioWorld world;
    snwWire deaf, good;
    snwServerDef def = snwDefaultServerDef();
    def.maxTextBytes = 1 << 20;
    OpenWorld(&world, &def);
    REQUIRE(snwWire_Upgrade(&deaf, world.port, world.token));
    REQUIRE(snwWire_Upgrade(&good, world.port, world.token));
    char* state = malloc(60001);
    memset(state, 's', 60000);
    state[60000] = 0;
    snwStudioWorld_PublishModel(&world, 3000000);
    int texts = 0;
    uint64_t newest = 0, seen = 0;
    for (int step = 0; step < steps; ++step)
    {
        newest = snwStudioWorld_Publish(&world, 300000);
        snwStudioWorld_Tell(&world, 0, state);
        bool told = false;
        while (!told || (step == steps - 1 && seen != newest)) // the good one reads along
        {
            snwWireKind kind = snwWire_Next(&good, snwTest_Patience());
            REQUIRE(kind == snw_wireBinary || kind == snw_wireText);
            told = told || kind == snw_wireText;
            texts += kind == snw_wireText;
            if (kind == snw_wireBinary && good.message[6] == 1)
            {
                seen = Number(&good, 8);
                Acknowledge(&good, seen);
            }
        }
    }
    CHECK_INT(texts, steps);
    CHECK(snwStudioWorld_WaitLeft(&world, 1)); // the deaf one
    CHECK_INT(snwStudioWorld_Left(&world), 1);
    free(state);
    snwWire_Close(&deaf);
    snwWire_Close(&good);
    CloseWorld(&world);
}

TEST(server, slowHandshakesHoldNobodyUp)
{
    enum
    {
        count = 200
    };
    snwStudioWorld world;
    static snwWire wires[count];
    snwServerDef def = snwDefaultServerDef();
    def.handshakeSeconds = 1;
    OpenWorld(&world, &def);
    for (int i = 0; i < count; ++i)
    {
        REQUIRE(snwWire_Open(&wires[i], world.port));
        if (i % 3 == 0)
            snwWire_Say(&wires[i], "GET / HTTP/1.1\r\nHost: 127.");
        else if (i % 3 == 1)
            snwWire_Say(&wires[i], "G");
    }
    snwWire good;
    CHECK(snwWire_Upgrade(&good, world.port, world.token));
    for (int i = 0; i < count; ++i) // one byte now and then is no progress
        if (i % 3 == 0)
            snwWire_Send(&wires[i], "0", 1);
    for (int i = 0; i < count; ++i)
    {
        CHECK(snwWire_ReadAll(&wires[i], 40) != NULL); // of one second, and less than the minute of any other deadline
        snwWire_Close(&wires[i]);
    }
    snwWire_SendText(&good, "still here"); // no handshake's deadline is for those who are in
    CHECK(snwStudioWorld_WaitHeard(&world, 1));
    snwWire_Close(&good);
    CloseWorld(&world);
}

TEST(server, headersAndConnectionsAreBounded)
{
    enum
    {
        most = 8,
        size = 100000
    };
    snwStudioWorld world;
    snwServerDef def = snwDefaultServerDef();
    def.maxConnections = most + 4; // two are the listener's and the loop's
    OpenWorld(&world, &def);
    char* long1 = malloc(size + 64);
    for (int form = 0; form < 3; ++form)
    {
        static const char* const starts[] = {"GET /", "GET / HTTP/1.1\r\nX-Long: ", "GET / HTTP/1.1\r\nHost: "};
        snwWire wire;
        int length = snprintf(long1, 64, "%s", starts[form]);
        memset(long1 + length, 'a', size);
        REQUIRE(snwWire_Open(&wire, world.port));
        snwWire_Send(&wire, long1, (size_t)length + size);
        const char* answer = snwWire_ReadAll(&wire, snwTest_Patience());
        CHECK(answer != NULL && snwAnswer_Status(answer) != 200);
        snwWire_Close(&wire);
    }
    free(long1);
    snwWire wires[4 * most], good, better;
    int closed = 0;
    for (int i = 0; i < 2 * most; ++i)
        REQUIRE(snwWire_Open(&wires[i], world.port));
    CHECK(snwWire_Upgrade(&good, world.port, world.token)); // those who show the token find room, and keep it
    for (int i = 2 * most; i < 4 * most; ++i)
        REQUIRE(snwWire_Open(&wires[i], world.port));
    CHECK(snwWire_Upgrade(&better, world.port, world.token));
    for (int i = 0; i < 2 * most; ++i)
        closed += snwWire_ReadAll(&wires[i], snwTest_Patience()) != NULL;
    CHECK_INT(closed, 2 * most); // the oldest strangers went
    snwWire_SendText(&good, "still here");
    snwWire_SendText(&better, "here too");
    CHECK(snwStudioWorld_WaitHeard(&world, 2));
    snwWire_Close(&good);
    snwWire_Close(&better);
    for (int i = 0; i < 4 * most; ++i)
        snwWire_Close(&wires[i]);
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Beginning and end

static int CountDescriptors(void)
{
    return CountFiles("/proc/self/fd");
}

TEST(server, closesCleanly)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    long live = counter.live;
    int descriptors = CountDescriptors();
    snwStudioWorld world;
    snwWire wire, deaf, half;
    snwServerDef def = snwDefaultServerDef();
    def.handshakeSeconds = 36000; // if anybody is waited for, this never ends
    REQUIRE(snwStudioWorld_Open(&world, context, &def));
    REQUIRE(snwWire_Upgrade(&wire, world.port, world.token));
    REQUIRE(snwWire_Upgrade(&deaf, world.port, world.token));
    REQUIRE(snwWire_Open(&half, world.port));
    snwWire_Say(&half, "PUT /file/x.glb?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 9\r\n\r\nhalf",
        world.token, world.port);
    snwStudioWorld_PublishModel(&world, 20000000); // more than a socket takes: the deaf one is in the middle of it
    CHECK(snwWire_Next(&wire, snwTest_Patience()) == snw_wireBinary);
    snwServer_Stop(world.server);
    CHECK_INT(snwWire_WaitForClose(&wire, snwTest_Patience()), 1001);
    snwStudioWorld_Close(&world);
    CHECK_INT(world.left, 2);
    snwWire_Close(&wire);
    snwWire_Close(&deaf);
    snwWire_Close(&half);
    CHECK_INT(CountDescriptors(), descriptors);
    CHECK_INT((int)(counter.live - live), 0);
    CHECK_INT(CountFiles(world.folder), 1);
    snwDestroyContext(context);
}

TEST(server, takesAFreePortOrSaysWhyNot)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwServerDef def = snwDefaultServerDef();
    snwServer *first = NULL, *second = NULL, *third = NULL;
    snwMessage message;
    def.folder = snwTest_TempDir();
    CHECK(snwCreateServer(context, &def, &first, &message) == snw_ok);
    CHECK(snwCreateServer(context, &def, &second, &message) == snw_ok);
    REQUIRE(first != NULL && second != NULL);
    CHECK(snwServer_Port(first) >= 7777 && snwServer_Port(second) > snwServer_Port(first));
    CHECK(strcmp(snwServer_Token(first), snwServer_Token(second)) != 0);
    CHECK(strstr(snwServer_Address(first), "http://127.0.0.1:") == snwServer_Address(first));
    def.port = snwServer_Port(first);
    CHECK(snwCreateServer(context, &def, &third, &message) == snw_errorIo && strstr(message.text, "in use") != NULL);
    def.address = "box.local";
    CHECK(snwCreateServer(context, &def, &third, &message) == snw_errorArgument);
    def.address = "127.0.0.1";
    def.port = 0;
    def.folder = "/no/such/folder";
    CHECK(snwCreateServer(context, &def, &third, &message) == snw_errorIo);
    CHECK(third == NULL);
    snwDestroyServer(second);
    snwDestroyServer(first);
    snwDestroyContext(context);
}

TEST(server, memoryThatEndsLeaksNothing)
{
    int descriptors = CountDescriptors();
    for (long fail = 1; fail < 20; ++fail)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        long live = counter.live;
        snwServerDef def = snwDefaultServerDef();
        snwServer* server = NULL;
        snwMessage message;
        def.folder = snwTest_TempDir();
        def.port = 0;
        counter.failAt = counter.allocations + fail;
        snwResult result = snwCreateServer(context, &def, &server, &message);
        CHECK(result == snw_ok ? counter.allocations < counter.failAt : result == snw_errorMemory);
        if (server != NULL)
            snwServer_Tell(server, 0, "text", 4);
        snwDestroyServer(server);
        CHECK_INT((int)(counter.live - live), 0);
        snwDestroyContext(context);
        if (result == snw_ok)
            break;
    }
    CHECK_INT(CountDescriptors(), descriptors);
}
