// sinew completions: a script for bash, zsh or fish on stdout.

#include "app/console.h"
#include "app/help.h"
#include "app/verbs.h"

#include <stdio.h>

static snwExit RunCompletions(const snwArgs* args)
{
    if (snwPrintCompletions(args->operands[0], stdout))
        return snw_exitOk;
    return snwUsage("bash, zsh or fish", "there are no completions for '%s'", args->operands[0]);
}

static const snwOption s_options[] = {{0}};

static const snwExample s_examples[] = {
    {"source <(sinew completions bash)", "complete sinew in this shell"},
    {"sinew completions zsh > ~/.zfunc/_sinew", "for every zsh to come"},
    {"sinew completions fish > ~/.config/fish/completions/sinew.fish", "for every fish to come"},
    {0},
};

const snwVerb snwCompletionsVerb = {
    .name = "completions",
    .operands = "SHELL",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeWords,
    .words = "bash zsh fish",
    .summary = "print completions for bash, zsh or fish",
    .about = "",
    .options = s_options,
    .examples = s_examples,
    .run = RunCompletions,
};
