// What others read: a body of a running sim as meshes, point caches and motion of handles, frame by frame.
//
// One exporter writes one kind of file for one body. Files appear whole or not at all; a sequence has one file per
// frame, so what was written stays when a run ends early, and the caches are closed with the frames that came.

#pragma once

#include "sinew/sinew.h"

typedef enum snwExportKind
{
    snw_exportObj,   // text, one file per frame: path-00000.obj
    snw_exportPly,   // binary, one file per frame: path-00000.ply
    snw_exportPc2,   // point cache, little-endian: path.pc2
    snw_exportMdd,   // point cache, big-endian: path.mdd
    snw_exportMedit, // all elements with their labels: path.mesh
    snw_exportClips, // motion of the handles as clips that scenes read again: path.clips.json
    snw_exportGlb,   // the skin in the rest pose with the handles as joints, and their motion: path.glb
    snw_exportKindCount,
} snwExportKind;

typedef enum snwUpAxis
{
    snw_upUsual, // Z for the caches, for that is what their readers take; Y for the rest
    snw_upY,
    snw_upZ, // x y z -> x -z y
} snwUpAxis;

typedef struct snwExportDef
{
    snwExportKind kind;
    const char* path; // folder and name without ending
    int body;
    int frameCount; // that a whole run has, frame 0 counted: times of an MDD come before its points
    double rate;    // frames per second, for the times of an MDD
    snwUpAxis up;
    bool allVertices; // caches: all vertices of the character in its own order, not those of its skin
    int meditFrame;   // the frame that a .mesh shows; -1: the rest pose
    bool overwrite;
} snwExportDef;

typedef struct snwExporter snwExporter;

snwExportDef snwDefaultExportDef(snwExportKind kind);
const char* snwExportKind_Name(snwExportKind kind); // "obj": the word on the command line, too
bool snwExportKind_IsSequence(snwExportKind kind);

// The name of a body as the name of a file: no slashes, blanks or dots in front; unlike for every body of the scene.
void snwExport_FileName(const snwScene* scene, int body, char* name, size_t capacity);

// Whatever can be wrong with the path is found here, before anything is simulated.
snwResult snwExporter_Open(
    snwContext* context, const snwExportDef* def, snwScene* scene, snwExporter** exporter, snwMessage* message);
snwResult snwExporter_AddFrame(snwExporter* exporter, snwSim* sim, snwMessage* message);
// Closes what was written; the exporter is gone afterwards, also after an error.
snwResult snwExporter_Finish(snwExporter* exporter, snwMessage* message);
// Gives up: nothing unfinished stays. NULL is allowed.
void snwExporter_Drop(snwExporter* exporter);
