#include "studio_world.h"
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

// ---------------------------------------------------------------------------------------------------------------------
// The stand-in

static bool Post(void* user, int client, const char* text, size_t size)
{
    snwStudioWorld* world = user;
    pthread_mutex_lock(&world->mutex);
    bool kept = !world->deaf && world->heardCount < snw_hearsMost;
    char* copy = kept ? malloc(size + 1) : NULL;
    if (copy != NULL)
    {
        memcpy(copy, text, size);
        copy[size] = 0;
        world->heard[world->heardCount++] = (snwHeard){client, copy, size};
    }
    pthread_cond_broadcast(&world->news);
    pthread_mutex_unlock(&world->mutex);
    return kept;
}

static void Leave(void* user, int client)
{
    snwStudioWorld* world = user;
    (void)client;
    pthread_mutex_lock(&world->mutex);
    ++world->left;
    pthread_cond_broadcast(&world->news);
    pthread_mutex_unlock(&world->mutex);
}

static snwBlob* Take(snwStudioWorld* world, snwBlob** from)
{
    pthread_mutex_lock(&world->mutex);
    snwBlob* blob = *from;
    if (blob != NULL)
        snwBlob_Retain(blob);
    pthread_mutex_unlock(&world->mutex);
    return blob;
}

static snwBlob* TakeFrame(void* user)
{
    snwStudioWorld* world = user;
    return Take(world, &world->frame);
}

static snwBlob* TakeModel(void* user)
{
    snwStudioWorld* world = user;
    return Take(world, &world->model);
}

static void Put(snwStudioWorld* world, snwBlob** place, snwBlob* blob)
{
    pthread_mutex_lock(&world->mutex);
    snwBlob* old = *place;
    *place = blob;
    pthread_mutex_unlock(&world->mutex);
    snwBlob_Release(world->context, old);
    snwServer_News(world->server);
}

// Kind, serial and model where docs/studio.md has them.
static snwBlob* MakeBlob(snwStudioWorld* world, size_t size, uint16_t kind, uint64_t serial)
{
    snwBlob* blob = snwCreateBlob(world->context, size);
    uint32_t number = (uint32_t)serial, model = (uint32_t)world->models;
    memset(blob->data, (int)(serial & 127), size);
    memcpy(blob->data + 6, &kind, 2);
    memcpy(blob->data + 8, &number, 4);
    memcpy(blob->data + 12, &model, 4);
    blob->serial = serial;
    return blob;
}

uint64_t snwStudioWorld_Publish(snwStudioWorld* world, size_t size)
{
    uint64_t serial = ++world->serial;
    Put(world, &world->frame, MakeBlob(world, size, 1, serial));
    return serial;
}

void snwStudioWorld_PublishModel(snwStudioWorld* world, size_t size)
{
    ++world->models;
    Put(world, &world->model, MakeBlob(world, size, 2, world->models));
}

void snwStudioWorld_Tell(snwStudioWorld* world, int client, const char* text)
{
    snwServer_Tell(world->server, client, text, strlen(text));
}

// ---------------------------------------------------------------------------------------------------------------------
// Life

static void* Serve(void* user)
{
    snwStudioWorld* world = user;
    snwServerHost host = {Post, Leave, TakeFrame, TakeModel, world, world->context};
    snwServer_Run(world->server, &host, NULL);
    return NULL;
}

static void WriteFile(const char* folder, const char* name, const char* text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    if (file == NULL)
        return;
    fputs(text, file);
    fclose(file);
}

static void MakeFolders(snwStudioWorld* world, char* pages, size_t capacity)
{
    snprintf(world->outside, sizeof world->outside, "%s/studio-XXXXXX", snwTest_TempDir());
    if (mkdtemp(world->outside) == NULL)
        snwTest_Fail(__FILE__, __LINE__, "no folder");
    snprintf(world->folder, sizeof world->folder, "%s/files", world->outside);
    snprintf(pages, capacity, "%s/pages", world->outside);
    mkdir(world->folder, 0777);
    mkdir(pages, 0777);
    WriteFile(world->outside, "secret.json", "{\"secret\": 1}");
    WriteFile(world->folder, "cow.json", "{\"cow\": 1}");
    WriteFile(pages, "index.html", "<!doctype html><title>page</title>");
    WriteFile(pages, "page.js", "const page = 1;");
}

bool snwStudioWorld_Open(snwStudioWorld* world, snwContext* context, const snwServerDef* def)
{
    char pages[512];
    snwMessage message;
    *world = (snwStudioWorld){.context = context, .def = def != NULL ? *def : snwDefaultServerDef()};
    pthread_mutex_init(&world->mutex, NULL);
    pthread_cond_init(&world->news, NULL);
    MakeFolders(world, pages, sizeof pages);
    world->def.folder = world->folder;
    world->def.pages = pages;
    world->def.port = 0;
    world->def.idleSeconds = world->def.silentSeconds = 36000; // whoever is cut off is so for a reason of its own
    if (snwCreateServer(context, &world->def, &world->server, &message) < 0)
    {
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
        return false;
    }
    world->port = snwServer_Port(world->server);
    world->token = snwServer_Token(world->server);
    return pthread_create(&world->thread, NULL, Serve, world) == 0;
}

void snwStudioWorld_Close(snwStudioWorld* world)
{
    snwServer_Stop(world->server);
    pthread_join(world->thread, NULL);
    snwDestroyServer(world->server);
    snwBlob_Release(world->context, world->frame);
    snwBlob_Release(world->context, world->model);
    for (int i = 0; i < world->heardCount; ++i)
        free(world->heard[i].text);
    pthread_cond_destroy(&world->news);
    pthread_mutex_destroy(&world->mutex);
}

static bool Wait(snwStudioWorld* world, const int* counter, int count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += snwTest_Patience();
    int error = 0;
    pthread_mutex_lock(&world->mutex);
    while (*counter < count && error == 0)
        error = pthread_cond_timedwait(&world->news, &world->mutex, &until);
    bool there = *counter >= count;
    pthread_mutex_unlock(&world->mutex);
    return there;
}

bool snwStudioWorld_WaitHeard(snwStudioWorld* world, int count)
{
    return Wait(world, &world->heardCount, count);
}

bool snwStudioWorld_WaitLeft(snwStudioWorld* world, int count)
{
    return Wait(world, &world->left, count);
}

static int Look(snwStudioWorld* world, const int* counter)
{
    pthread_mutex_lock(&world->mutex);
    int count = *counter;
    pthread_mutex_unlock(&world->mutex);
    return count;
}

int snwStudioWorld_Heard(snwStudioWorld* world)
{
    return Look(world, &world->heardCount);
}

int snwStudioWorld_Left(snwStudioWorld* world)
{
    return Look(world, &world->left);
}

void snwStudioWorld_Deafen(snwStudioWorld* world)
{
    pthread_mutex_lock(&world->mutex);
    world->deaf = true;
    pthread_mutex_unlock(&world->mutex);
}

// ---------------------------------------------------------------------------------------------------------------------
// Requests

const char* snwStudioWorld_Ask(snwStudioWorld* world, snwWire* wire, const char* head, const void* body, size_t size)
{
    if (!snwWire_Open(wire, world->port))
        return "";
    snwWire_Send(wire, head, strlen(head));
    if (size > 0)
        snwWire_Say(wire, "Content-Length: %zu\r\n", size);
    snwWire_Send(wire, "\r\n", 2);
    if (size > 0)
        snwWire_Send(wire, body, size);
    const char* answer = snwWire_ReadAll(wire, snwTest_Patience());
    return answer != NULL ? answer : "";
}

int snwAnswer_Status(const char* answer)
{
    return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
}
