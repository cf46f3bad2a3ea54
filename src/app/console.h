// What people see: errors and notes on stderr, a progress bar when it is a terminal, and Ctrl-C.

#pragma once

#include "app/cli.h"

void snwConsole_SetLoudness(bool quiet, bool verbose);

// "sinew: error: FILE: PLACE: text", and below it "  try: remedy".
void snwPrintError(const snwMessage* message);

// Prints an error made on the spot; remedy may be NULL. Returns the exit code that belongs to the result.
snwExit snwReport(snwResult result, const char* remedy, const char* format, ...) __attribute__((format(printf, 3, 4)));
snwExit snwReportMessage(const snwMessage* message);
snwExit snwReportMemory(void);

// A mistake on the command line: prints it and returns snw_exitUsage.
snwExit snwUsage(const char* remedy, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A line on stderr unless --quiet; the second only with --verbose.
void snwNote(const char* format, ...) __attribute__((format(printf, 1, 2)));
void snwDetail(const char* format, ...) __attribute__((format(printf, 1, 2)));

snwExit snwExit_FromResult(snwResult result);

// For snwContextDef.log: warnings and errors always, the rest with --verbose.
void snwConsole_Log(snwLogLevel level, const char* text, void* user);

// ---------------------------------------------------------------------------------------------------------------------
// Progress: drawn only on a terminal, at most ten times a second.

typedef struct snwProgress
{
    const char* label;
    int total;
    double started, drawn; // s, monotonic
    bool visible;
} snwProgress;

snwProgress snwProgress_Begin(const char* label, int total);
void snwProgress_Update(snwProgress* progress, int done);
// The line without control codes, at most `columns` wide: the bar shrinks, then goes, then the words are cut.
void snwProgress_Format(const snwProgress* progress, int done, double now, int columns, char* buffer, size_t capacity);
void snwProgress_End(snwProgress* progress); // clears the line

// ---------------------------------------------------------------------------------------------------------------------
// Ctrl-C: the first asks the work to stop after the current frame, the second ends the program at once.

void snwInterrupt_Listen(void);
// true: from now on the first does, too, and takes the folder away if it is empty; NULL: there is none. Preparing
// leaves nothing else behind.
void snwInterrupt_NothingToLose(bool nothing, const char* folder);
// Ends the program a second after the first signal, whatever it is doing then, with these words. For work whose files
// are whole at any moment.
void snwInterrupt_EndSoon(const char* words);
const volatile bool* snwInterrupt_Flag(void);
