// sinew help: of the program, of a verb, or all of it as a man page.

#include "app/console.h"
#include "app/help.h"
#include "app/nearest.h"
#include "app/verbs.h"

#include <stdio.h>

static snwExit RunHelp(const snwArgs* args)
{
    if (snwArgs_Has(args, "man"))
        snwPrintManPage(stdout);
    else if (args->operandCount == 0)
        snwPrintHelp(stdout);
    else if (snwVerb_Find(args->operands[0]) != NULL)
        snwPrintVerbHelp(snwVerb_Find(args->operands[0]), stdout);
    else
    {
        snwNearest nearest = snwNearest_Start(args->operands[0]);
        for (int i = 0; snwVerbs[i] != NULL; ++i)
            snwNearest_Try(&nearest, snwVerbs[i]->name);
        const char* remedy = nearest.best != NULL ? nearest.best : "sinew help";
        return snwUsage(remedy, "there is no verb '%s'", args->operands[0]);
    }
    return snw_exitOk;
}

static const snwOption s_options[] = {
    {"man", 0, NULL, false, snw_completeNothing, NULL, "print the manual page (for man -l -)"},
    {0},
};

static const snwExample s_examples[] = {
    {"sinew help sim", "the options of sim"},
    {"sinew help --man | man -l -", "read the manual page"},
    {0},
};

const snwVerb snwHelpVerb = {
    .name = "help",
    .operands = "[VERB]",
    .mostOperands = 1,
    .complete = snw_completeWords,
    .words = "demo sim replay info check bench help completions",
    .summary = "explain the program or one verb",
    .about = "",
    .options = s_options,
    .examples = s_examples,
    .run = RunHelp,
};
