// Help, man page and completions: all written from the tables of cli.h.

#pragma once

#include "app/cli.h"

#include <stdio.h>

void snwPrintHelp(FILE* file);
void snwPrintVerbHelp(const snwVerb* verb, FILE* file);
void snwPrintManPage(FILE* file);

// shell: "bash", "zsh" or "fish"; false if it is none of these.
bool snwPrintCompletions(const char* shell, FILE* file);
