// sinew studio: the server for the browser, and the browser opened with the address that holds the token.

#include "app/common.h"
#include "app/console.h"
#include "app/verbs.h"
#include "scene/builtin.h"
#include "studio/folder.h"
#include "studio/pages.h"
#include "studio/studio.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char** environ;

// The words of a command can be read by every user of the machine, so the browser is given a page that only this user
// can read and that leads to the address with its token.
#define SNW_DOOR ".open-studio.html"

static bool WriteDoor(const char* path, const char* address)
{
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE* stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream == NULL)
        return false;
    fprintf(stream,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sinew</title>"
        "<meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">"
        "<a href=\"%s\">Open the studio</a></html>\n",
        address, address);
    return fclose(stream) == 0;
}

// Its words would stand between ours, so it has none.
static void OpenBrowser(const char* folder, const char* address)
{
    bool desktop = getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL;

    // Only where there is a desktop to open it on.
    char path[snw_maxPath];
    if (!desktop || !snwHasProgram("xdg-open"))
        return;
    if (!snwJoinPath(path, sizeof path, folder, SNW_DOOR) || !WriteDoor(path, address))
    {
        snwNote("could not start a browser; open the address yourself");
        return;
    }

    // Started, and left to itself.
    char* const words[] = {(char*)"xdg-open", path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t id;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return;
    bool silent = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
                  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0;
    if (!silent || posix_spawnp(&id, words[0], &actions, NULL, words, environ) != 0)
        snwNote("could not start a browser; open the address yourself");
    posix_spawn_file_actions_destroy(&actions);
}

typedef struct Visit
{
    const snwArgs* args;
    const char* folder;
} Visit;

static void Ready(const snwServer* server, snwSession* session, void* user)
{
    (void)session;
    const Visit* visit = user;
    const snwArgs* args = visit->args;
    const char* address = snwServer_Address(server);
    if (snwArgs_Has(args, "json"))
        snwPrintJson(json_pack("{s:i, s:s, s:i, s:s}", "schema", 1, "address", address, "port", snwServer_Port(server),
            "token", snwServer_Token(server)));
    else
        printf("%s\n", address);
    fflush(stdout); // someone may wait for it at the other end of a pipe
    snwNote("the studio is open; Ctrl-C closes it");
    if (!snwArgs_Has(args, "no-open"))
        OpenBrowser(visit->folder, address);
}

enum
{
    snw_maxHostsGiven = 8
};

static snwExit ReadServer(const snwArgs* args, snwServerDef* def, const char** hosts, char pages[snw_maxPath])
{
    if (!snwArgs_Int(args, "port", 0, 65535, &def->port))
        return snw_exitUsage;
    if (snwArgs_Has(args, "listen"))
        def->address = snwArgs_Text(args, "listen");
    def->hostCount = snwArgs_Count(args, "allow-host");
    if (def->hostCount > snw_maxHostsGiven)
        return snwUsage("fewer names", "--allow-host is given more than %d times", (int)snw_maxHostsGiven);
    for (int i = 0; i < def->hostCount; ++i)
        hosts[i] = snwArgs_Nth(args, "allow-host", i);
    def->hosts = hosts;
    def->token = getenv("SINEW_TOKEN"); // no option: others can read the words of a command
    def->pages = snwPages_Folder(pages, snw_maxPath);
    def->interrupt = snwInterrupt_Flag();
    return snw_exitOk;
}

// What is opened later fails on the page; a word that nothing has fails here.
static snwResult CheckSource(snwContext* context, const snwStudioDef* def, snwMessage* message)
{
    char path[snw_maxPath];
    const char* name = def->source;
    if (name == NULL || snwFileExists(name) || snwBuiltIn_Find(name) != NULL ||
        snwScenes_Find(name, path, sizeof path) ||
        (snwJoinPath(path, sizeof path, def->folder, name) && snwFileExists(path)))
        return snw_ok;
    return snwScenes_FailUnknown(context, name, message);
}

static snwExit Serve(const snwArgs* args, const snwStudioDef* def)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    snwMessage message = {0};

    // One thread for the server; the session has a context of its own.
    contextDef.log = snwConsole_Log;
    contextDef.threadCount = 1;
    if (snwCreateContext(&contextDef, &context, &message) < 0)
        return snwReportMessage(&message);
    snwInterrupt_Listen();
    snwResult result = CheckSource(context, def, &message);
    if (result == snw_ok)
        result = snwStudio_Run(context, def, &message);

    // The page with the token is of no use any more.
    char door[snw_maxPath];
    if (snwJoinPath(door, sizeof door, def->folder, SNW_DOOR))
        unlink(door);
    snwDestroyContext(context);
    if (result == snw_errorArgument) // an address or a name on the command line
    {
        snwPrintError(&message);
        return snw_exitUsage;
    }

    if (result >= 0 && !snwArgs_Has(args, "json"))
        snwNote("the studio is closed");
    return result < 0 ? snwReportMessage(&message) : snw_exitOk;
}

static snwExit RunStudio(const snwArgs* args)
{
    snwStudioDef def = snwDefaultStudioDef();
    const char* hosts[snw_maxHostsGiven];
    char pages[snw_maxPath];
    snwExit result = ReadServer(args, &def.server, hosts, pages);
    if (result != snw_exitOk || !snwArgs_Int(args, "threads", 0, 64, &def.threads))
        return snw_exitUsage;
    if (args->operandCount > 0)
        def.source = args->operands[0];
    if (snwArgs_Has(args, "folder"))
        def.folder = snwArgs_Text(args, "folder");
    Visit visit = {args, def.folder};
    def.ready = Ready;
    def.user = &visit;
    return Serve(args, &def);
}

static const snwOption s_options[] = {
    {"port", 'p', "N", false, snw_completeNothing, NULL, "listen here; 0 is any free port (default: 7777 or the next)"},
    {"listen", 0, "ADDR", false, snw_completeNothing, NULL,
        "numeric address to listen at (default 127.0.0.1: only this machine)"},
    {"allow-host", 0, "NAME", true, snw_completeNothing, NULL, "another name that browsers may use for this server"},
    {"folder", 0, "DIR", false, snw_completeFolder, NULL,
        "where dropped files and exports go (default sinew-studio); no other file is touched"},
    {"no-open", 0, NULL, false, snw_completeNothing, NULL, "do not open a browser"},
    {"threads", 't', "N", false, snw_completeNothing, NULL, "threads of the simulation; 0 is one per core (default)"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print the address as JSON"},
    {0},
};

static const snwExample s_examples[] = {
    {"sinew studio", "something to play with"},
    {"sinew studio cow", "a character of the cast"},
    {"sinew studio scenes/jello.json", "a scene"},
    {"sinew studio character.glb --folder work", "an artist's file; exports go to work/"},
    {"sinew studio --listen 0.0.0.0 --allow-host box.local", "for others in the network, who need the printed address"},
    {0},
};

const snwVerb snwStudioVerb = {
    .name = "studio",
    .operands = "[FILE or SCENE]",
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "play with a character in the browser",
    .about = "Starts a server for this machine only, prints its address and opens it where there is\n"
             "a desktop. The page shows the living character: drag it, tune it, record, export.\n"
             "The address holds a random token (SINEW_TOKEN in the environment: that one), without\n"
             "which nobody sees anything. Ctrl-C closes.",
    .options = s_options,
    .examples = s_examples,
    .run = RunStudio,
};
