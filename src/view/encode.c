// Films from numbered frames by the program ffmpeg, run without a shell: MP4 (H.264) and GIF by the ending of the
// name. If it fails the frames are kept, and its last line goes into the message.

#include "view/encode.h"

#include "base/ending.h"
#include "scene/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SNW_LOOK_NS 20000000 // between two looks at ffmpeg

extern char** environ; // NOLINT: POSIX leaves its declaration to us

int snwFormatFramePath(char* buffer, size_t capacity, const char* frames, int frame)
{
    return snprintf(buffer, capacity, "%s/frame-%05d.png", frames, frame);
}

bool snwIsFilmName(const char* path)
{
    return snwHasEnding(path, ".mp4") || snwHasEnding(path, ".gif");
}

snwResult snwFindEncoder(const char* film, snwMessage* message)
{
    // Without PATH posix_spawnp knows some folders of its own.
    if (getenv("PATH") == NULL || snwHasProgram("ffmpeg"))
        return snw_ok;
    snwResult result = snwFail(message, snw_errorUnsupported, "apt install ffmpeg, or make no film",
        "a film needs the program ffmpeg, which is not here");
    snwMessage_SetFile(message, film);
    return result;
}

// "file:" keeps ffmpeg from reading a colon in a name as a protocol; a percent sign in a folder is doubled.
static char* FormatPattern(snwContext* context, const char* frames)
{
    const char* tail = "/frame-%05d.png";
    char* pattern = snwAlloc(context, 2 * strlen(frames) + strlen(tail) + 8);
    if (pattern == NULL)
        return NULL;
    char* out = pattern + sprintf(pattern, "file:");
    for (const char* in = frames; *in != 0; ++in)
    {
        *out++ = *in;
        if (*in == '%')
            *out++ = '%';
    }
    memcpy(out, tail, strlen(tail) + 1);
    return pattern;
}

static int OpenQuietly(posix_spawn_file_actions_t* actions, const char* logPath)
{
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(actions, 2, logPath, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    return error;
}

// Starts the program without a shell, waits, and gives its wait status; or an errno if it did not start, or ECANCELED.
static int RunProgram(char* const* arguments, const snwEncodeDef* def, int* status)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    pid_t child = 0;

    // Polls only where somebody may want to stop it; else waits.
    error = OpenQuietly(&actions, def->logPath);
    if (error == 0)
        error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);

    // Stopped once, it is waited for to the end.
    bool stopped = false;
    for (pid_t ended = 0; error == 0 && ended == 0;)
    {
        ended = waitpid(child, status, stopped || def->waiting == NULL ? 0 : WNOHANG);
        if (ended < 0 && errno != EINTR)
            error = errno;
        else if (ended < 0)
            ended = 0;
        else if (ended == 0 && def->waiting != NULL && def->waiting(def->user) < 0)
            stopped = kill(child, SIGKILL) == 0;
        else if (ended == 0)
            nanosleep(&(struct timespec){.tv_nsec = SNW_LOOK_NS}, NULL);
    }
    return stopped && error == 0 ? ECANCELED : error;
}

// The last line that is not empty, for the message.
static void ReadLastLine(const char* logPath, char line[160])
{
    line[0] = 0;
    FILE* file = fopen(logPath, "r");
    if (file == NULL)
        return;
    char text[160];
    while (fgets(text, sizeof text, file) != NULL)
    {
        text[strcspn(text, "\r\n")] = 0;
        if (text[0] != 0)
            memcpy(line, text, sizeof text);
    }
    fclose(file);
}

static snwResult ExplainEncoding(const snwEncodeDef* def, int error, int status, snwMessage* message)
{
    // It went well: the log is of no use.
    if (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    {
        unlink(def->logPath);
        return snw_ok;
    }
    snwResult result = snw_errorIo;
    if (error == ECANCELED)
        return snwFail(message, snw_errorInterrupted, NULL, "the drawing was stopped");

    // Not here, did not start, or failed: each has its own remedy.
    if (error == ENOENT || (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127))
    {
        result = snwFail(message, snw_errorUnsupported, "apt install ffmpeg; the frames are kept as PNG",
            "a film needs the program ffmpeg, which is not here");
    }
    else if (error != 0)
    {
        result = snwFail(
            message, snw_errorIo, "the frames are kept as PNG", "ffmpeg does not start: %s", strerror(error));
    }
    else
    {
        char line[160];
        ReadLastLine(def->logPath, line);
        result = snwFail(message, snw_errorIo, "see ffmpeg.log beside the frames, which are kept as PNG",
            "ffmpeg failed (%s %d): %s", WIFEXITED(status) ? "exit" : "signal",
            WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), line);
    }

    snwMessage_SetFile(message, def->film);
    return result;
}

enum
{
    snw_maxArguments = 40
};

static void AppendArguments(char** arguments, int* count, const char* const* more)
{
    for (; *more != NULL && *count < snw_maxArguments - 1; ++more)
        arguments[(*count)++] = (char*)*more; // posix_spawn wants char*, but changes nothing
    arguments[*count] = NULL;
}

// H.264 with 4:2:0 colours has even sizes only; players expect BT.709.
static const char s_mp4Filter[] = "pad=ceil(iw/2)*2:ceil(ih/2)*2:0:0:white,scale=out_color_matrix=bt709:out_range=tv";

// One palette for the whole film, made and used in one go. The trim ends the film where this run ended, also if frames
// of a longer run are still in the folder. Above 50 frames per second viewers of GIF fall back to 10.
static void FormatGifFilter(const snwEncodeDef* def, char* filter, size_t capacity)
{
    snprintf(filter, capacity,
        "trim=end_frame=%d,fps=%.6f,split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=bayer:"
        "bayer_scale=5",
        def->frameCount, def->framesPerSecond < 50 ? def->framesPerSecond : 50.0);
}

static snwResult EncodeVideo(const snwEncodeDef* def, const char* pattern, const char* target, snwMessage* message)
{
    char rate[32], count[32], gifFilter[224];
    FormatGifFilter(def, gifFilter, sizeof gifFilter);
    snprintf(rate, sizeof rate, "%.6f", def->framesPerSecond);
    snprintf(count, sizeof count, "%d", def->frameCount);
    const char* input[] = {"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", "-framerate", rate,
        "-start_number", "0", "-i", pattern, "-map_metadata", "-1", NULL};
    const char* mp4[] = {"-frames:v", count, "-vf", s_mp4Filter, "-c:v", "libx264", "-preset", "medium", "-crf", "18",
        "-pix_fmt", "yuv420p", "-color_primaries", "bt709", "-color_trc", "iec61966-2-1", "-colorspace", "bt709",
        "-movflags", "+faststart", "-f", "mp4", target, NULL};
    const char* gif[] = {"-filter_complex", gifFilter, "-f", "gif", target, NULL};
    char* arguments[snw_maxArguments];
    int argumentCount = 0, status = 0;
    AppendArguments(arguments, &argumentCount, input);
    AppendArguments(arguments, &argumentCount, snwHasEnding(def->film, ".gif") ? gif : mp4);
    int error = RunProgram(arguments, def, &status);
    return ExplainEncoding(def, error, status, message);
}

snwResult snwEncodeFilm(snwContext* context, const snwEncodeDef* def, snwMessage* message)
{
    snwPartFile output;
    snwResult result = snwPartFile_Open(&output, context, def->film, def->overwrite, message);
    if (result < 0)
        return result;
    snwPartFile_HandOver(&output);

    // The program writes the file itself; it becomes the film only when it is whole.
    char* pattern = FormatPattern(context, def->frames);
    size_t capacity = strlen(output.part) + 8;
    char* target = snwAlloc(context, capacity);
    result = snw_errorMemory;
    if (pattern != NULL && target != NULL)
    {
        snprintf(target, capacity, "file:%s", output.part);
        result = EncodeVideo(def, pattern, target, message);
    }
    else
    {
        snwFailMemory(message);
    }

    // What is not whole leaves nothing behind.
    snwFree(context, pattern);
    snwFree(context, target);
    if (result >= 0)
        return snwPartFile_Commit(&output, message);
    snwPartFile_Drop(&output);
    return result;
}
