// The program sinew: a command line, and a check that what was printed has arrived.

#include "app/cli.h"
#include "app/console.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Data that never reached the disk or the pipe must not look like success.
static snwExit CloseOutput(snwExit result)
{
    bool lost = ferror(stdout) != 0;
    if (fclose(stdout) == 0 && !lost)
        return result;
    snwReport(snw_errorIo, "is the disk full, or the reader gone?", "could not write to stdout: %s", strerror(errno));
    return result == snw_exitOk ? snw_exitFailed : result;
}

int main(int argc, char** argv)
{
    return CloseOutput(snwRunCommandLine(argc, argv));
}
