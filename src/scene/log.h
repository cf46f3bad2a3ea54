// Writing command logs. See tools.h for what a log holds.
//
//   {"sinew_log": 1, "version": "0.1.0", "simd": "avx2", "scene": {...}}
//   {"frame": 0, "hash": "0123456789abcdef"}
//   {"command": {"step": 0, "kind": "push", ...}}       applied just before step 0, which makes frame 1
//   {"frame": 1, "hash": "..."}
//   {"end": 1, "frames": 1, "checksum": "..."}          the last frame, how many were meant, hash of all bytes before
//
// The scene has its own script of commands, and a sim made from it runs that script by itself. The log therefore holds
// only what was pushed beyond the script (that is what snwSim_GetLog lists), and nothing is ever applied twice.
//
// The log grows under "path.part", flushed after every frame, and gets its name when it ends; a crashed run leaves the
// part, which reads as a log that is not complete.

#pragma once

#include "scene/file.h"
#include "scene/text.h"
#include "sinew/tools.h"

typedef struct snwLogWriter
{
    snwPartFile output;
    snwContext* context;
    const snwSceneDef* scene;
    uint64_t checksum;
    int commandCount; // written so far
    int frameCount;
} snwLogWriter;

snwResult snwLogWriter_Open(snwLogWriter* writer, snwContext* context, const char* path, const snwSceneFile* file,
    bool overwrite, snwMessage* message);
// The line of a command, with its end; text->failed tells about memory.
void snwLog_FormatCommand(snwText* text, const snwSceneDef* scene, const snwCommand* command);
// Writes lines made by snwLog_FormatCommand: of a frame that is known already, and whose commands the sim has
// forgotten.
snwResult snwLogWriter_AddCommands(snwLogWriter* writer, const char* lines, size_t size, snwMessage* message);
// Writes the commands applied since the last frame, and the frame. sim may be NULL: no commands.
snwResult snwLogWriter_AddFrame(snwLogWriter* writer, const snwSim* sim, int frame, uint64_t hash, snwMessage* message);
// frames: how many the run was meant to have; a log with fewer is not complete.
snwResult snwLogWriter_Finish(snwLogWriter* writer, int frames, snwMessage* message);
void snwLogWriter_Abandon(snwLogWriter* writer); // leaves the part
