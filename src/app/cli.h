// The command line as data: a table of verbs, each with a table of options. Parsing, help, the man page and the shell
// completions are all made from these tables, so they cannot disagree.

#pragma once

#include "sinew/sinew.h"

typedef enum snwExit
{
    snw_exitOk = 0,
    snw_exitFailed = 1,
    snw_exitUsage = 2,
    snw_exitInput = 3,
    snw_exitDiverged = 4,
    snw_exitInterrupted = 130,
} snwExit;

// What the shell may offer for an argument or an operand.
typedef enum snwComplete
{
    snw_completeNothing,
    snw_completeFile,
    snw_completeFolder,
    snw_completeWords,      // the fixed list in `words`
    snw_completeMethods,    // names of the methods
    snw_completeParams,     // names of all parameters, with '='
    snw_completeDemos,      // asks `sinew demo --list --quiet`
    snw_completeCharacters, // names of the built-in characters
} snwComplete;

typedef struct snwOption
{
    const char* name;     // long name without dashes; NULL ends a table
    char letter;          // short name; 0: none
    const char* argument; // how the help calls it: "DIR"; NULL: a flag
    bool repeatable;
    snwComplete complete;
    const char* words; // separated by blanks, for snw_completeWords; a fixed list is also checked
    const char* help;  // one sentence without a full stop
} snwOption;

typedef struct snwExample
{
    const char* command; // NULL ends a table
    const char* help;
} snwExample;

typedef struct snwArgs snwArgs;

typedef struct snwVerb
{
    const char* name;
    const char* operands; // "SCENE", "[NAME]", "FILE..."; "" if none
    int leastOperands, mostOperands;
    snwComplete complete; // of the operands
    const char* words;    // as in snwOption, offered but not checked
    const char* summary;  // one line
    const char* about;    // paragraphs, each line shorter than 80 columns; "" if the summary says it all
    const snwOption* options;
    const snwExample* examples;
    snwExit (*run)(const snwArgs* args);
} snwVerb;

typedef struct snwGiven
{
    const snwOption* option;
    const char* value; // NULL for a flag
} snwGiven;

struct snwArgs
{
    const snwVerb* verb;
    snwGiven* given; // in the order of the command line
    int givenCount;
    const char** operands;
    int operandCount;
};

// All verbs in the order of the help; NULL ends the table. Options that every verb has come after its own.
extern const snwVerb* const snwVerbs[];
extern const snwOption snwCommonOptions[];

const snwVerb* snwVerb_Find(const char* name); // NULL if there is none

// Reads the words after the verb. Anything wrong is reported on stderr with the nearest known word.
snwExit snwArgs_Parse(const snwVerb* verb, int count, char** words, snwArgs* args);
void snwArgs_Free(snwArgs* args);

bool snwArgs_Has(const snwArgs* args, const char* name);
const char* snwArgs_Text(const snwArgs* args, const char* name); // the last one given; NULL if none
int snwArgs_Count(const snwArgs* args, const char* name);
const char* snwArgs_Nth(const snwArgs* args, const char* name, int index);

// Numbers: *value stays as it is if the option was not given. False: not a number or out of range, already reported.
bool snwArgs_Int(const snwArgs* args, const char* name, int lower, int upper, int* value);
bool snwArgs_Real(const snwArgs* args, const char* name, double lower, double upper, double* value);
bool snwArgs_U64(const snwArgs* args, const char* name, uint64_t* value);

// A whole word as a finite number.
bool snwParseReal(const char* text, double* value);
bool snwParseInt(const char* text, int* value);

// Runs the program with main's arguments.
snwExit snwRunCommandLine(int argc, char** argv);
