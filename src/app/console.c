// What is said to people: errors, warnings and notes on stderr, in colour where that is wanted, progress bars, and
// Ctrl-C, which ends work at a point from which it can go on.

#include "app/console.h"
#include "base/clock.h"
#include "base/result.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#define SNW_GRACE_US 800000 // for work to end by itself

static bool s_quiet, s_verbose;

void snwConsole_SetLoudness(bool quiet, bool verbose)
{
    s_quiet = quiet;
    s_verbose = verbose && !quiet;
}

static bool IsTerminal(void)
{
    const char* term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && (term == NULL || strcmp(term, "dumb") != 0);
}

// https://no-color.org: any value that is not empty turns colour off.
static bool UseColor(void)
{
    const char* off = getenv("NO_COLOR");
    return (off == NULL || off[0] == 0) && IsTerminal();
}

static void PrintLabel(const char* label, const char* color)
{
    if (UseColor())
        fprintf(stderr, "sinew: \033[1;%sm%s:\033[0m ", color, label);
    else
        fprintf(stderr, "sinew: %s: ", label);
}

static void PrintMessage(const snwMessage* message, const char* label, const char* color)
{
    PrintLabel(label, color);
    if (message->file[0] != 0)
        fprintf(stderr, "%s: ", message->file);
    if (message->place[0] != 0)
        fprintf(stderr, "%s: ", message->place);
    fprintf(stderr, "%s\n", message->text);
    if (message->remedy[0] != 0)
        fprintf(stderr, "  try: %s\n", message->remedy);
}

void snwPrintError(const snwMessage* message)
{
    PrintMessage(message, "error", "31");
}

snwExit snwExit_FromResult(snwResult result)
{
    switch (result)
    {
        case snw_ok:
        case snw_warning:
            return snw_exitOk;
        case snw_errorArgument: // mistakes on the command line were found before: the file is to blame
        case snw_errorInput:
            return snw_exitInput;
        case snw_errorDiverged:
            return snw_exitDiverged;
        case snw_errorInterrupted:
            return snw_exitInterrupted;
        default:
            return snw_exitFailed;
    }
}

snwExit snwReportMessage(const snwMessage* message)
{
    if (message->result > 0 && !s_quiet)
        PrintMessage(message, "warning", "33");
    else if (message->result < 0)
        snwPrintError(message);
    return snwExit_FromResult(message->result);
}

snwExit snwReport(snwResult result, const char* remedy, const char* format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snwMessage message;
    snwFail(&message, result, remedy, "%s", text);
    return snwReportMessage(&message);
}

snwExit snwReportMemory(void)
{
    return snwReport(snw_errorMemory, NULL, "out of memory");
}

snwExit snwUsage(const char* remedy, const char* format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snwReport(snw_errorArgument, remedy, "%s", text);
    return snw_exitUsage;
}

void snwNote(const char* format, ...)
{
    if (s_quiet)
        return;
    va_list args;
    va_start(args, format);
    fputs("sinew: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void snwDetail(const char* format, ...)
{
    if (!s_verbose)
        return;
    va_list args;
    va_start(args, format);
    fputs("sinew: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void snwConsole_Log(snwLogLevel level, const char* text, void* user)
{
    (void)user;
    if (level == snw_logError)
        PrintLabel("error", "31");
    else if (level == snw_logWarning && !s_quiet)
        PrintLabel("warning", "33");
    else if (s_verbose)
        fputs("sinew: ", stderr);
    else
        return;
    fprintf(stderr, "%s\n", text);
}

// ---------------------------------------------------------------------------------------------------------------------
// Progress

snwProgress snwProgress_Begin(const char* label, int total)
{
    double now = snwClock_Seconds();
    return (snwProgress){label, total, now, now, !s_quiet && total > 0 && IsTerminal()};
}

static void FormatSeconds(double seconds, char* buffer, size_t capacity)
{
    int whole = (int)(seconds + 0.5);
    if (whole < 3600)
        snprintf(buffer, capacity, "%d:%02d", whole / 60, whole % 60);
    else
        snprintf(buffer, capacity, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

void snwProgress_Format(const snwProgress* progress, int done, double now, int columns, char* buffer, size_t capacity)
{
    enum
    {
        most = 30,
        least = 5
    };
    char bar[most + 1], left[32], tail[96];

    // Time left, as if every frame took as long as the mean so far.
    FormatSeconds((now - progress->started) * (progress->total - done) / done, left, sizeof left);
    snprintf(tail, sizeof tail, "%d/%d  %s left", done, progress->total, left);
    int room = columns - 14 - (int)strlen(tail); // the label's ten, two brackets, two blanks
    int width = room > most ? most : room;

    // Too narrow for a bar: words alone.
    if (width < least)
        snprintf(buffer, capacity, "%s %s", progress->label, tail);
    else
    {
        int filled = (int)((double)width * done / progress->total);
        for (int i = 0; i < width; ++i)
            bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
        bar[width] = 0;
        snprintf(buffer, capacity, "%-10s [%s] %s", progress->label, bar, tail);
    }

    if (columns >= 0 && strlen(buffer) > (size_t)columns)
        buffer[columns] = 0;
}

// Asked for every time: windows are resized.
static int TerminalColumns(void)
{
    struct winsize size = {0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void snwProgress_Update(snwProgress* progress, int done)
{
    double now = snwClock_Seconds();
    if (!progress->visible || done <= 0 || (now - progress->drawn < 0.1 && done < progress->total))
        return;
    progress->drawn = now;
    char line[192];
    snwProgress_Format(progress, done, now, TerminalColumns() - 1, line, sizeof line); // the last column would wrap
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
}

void snwProgress_End(snwProgress* progress)
{
    if (progress->visible)
        fputs("\r\033[K", stderr);
    progress->visible = false;
}

// ---------------------------------------------------------------------------------------------------------------------
// Ctrl-C

static volatile bool s_interrupted;
static volatile bool s_nothingToLose;
static const char* volatile s_newFolder;
static const char* volatile s_lastWords; // NULL: work ends when it looks at the flag

static void OnInterrupt(int signal)
{
    (void)signal;
    if (s_nothingToLose && s_newFolder != NULL)
        rmdir(s_newFolder);
    if (s_interrupted || s_nothingToLose)
        _exit(snw_exitInterrupted);
    s_interrupted = true;
    if (s_lastWords != NULL)
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = SNW_GRACE_US}}, NULL);
}

static void OnGraceOver(int signal)
{
    (void)signal;
    ssize_t told = write(STDERR_FILENO, s_lastWords, strlen(s_lastWords));
    (void)told;
    _exit(snw_exitInterrupted);
}

void snwInterrupt_Listen(void)
{
    struct sigaction action = {.sa_handler = OnInterrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    // A terminal that closes is as good as Ctrl-C; nohup says that it shall not be.
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

void snwInterrupt_EndSoon(const char* words)
{
    struct sigaction action = {.sa_handler = OnGraceOver};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    s_lastWords = words;
}

void snwInterrupt_NothingToLose(bool nothing, const char* folder)
{
    s_newFolder = folder;
    s_nothingToLose = nothing;
}

const volatile bool* snwInterrupt_Flag(void)
{
    return &s_interrupted;
}
