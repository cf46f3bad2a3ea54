// Measures per frame as CSV or JSON: columns are the scene's measures, what the method tells, and the times of its
// stages, which may be left out to compare runs.

#include "base/ending.h"
#include "scene/measures_file.h"
#include "scene/text.h"

#include <math.h>
#include <string.h>

// Takes the text and writes it.
static snwResult WriteMeasureText(snwMeasuresWriter* writer, snwText* text, snwMessage* message)
{
    snwResult result = text->failed ? snwFailMemory(message) : snw_ok;
    if (result == snw_ok)
        result = snwPartFile_Write(&writer->output, text->data, text->size, message);
    snwText_Free(text);
    return result;
}

static void PutMeasureText(snwText* text, const char* data)
{
    snwText_Raw(text, data, strlen(data));
}

// One column after the frame's number.
typedef struct Column
{
    char name[64];
    const char* unit;
    const char* help;
    double value;
} Column;

// What a frame has: measures of the scene, then what its method tells, then the times of its stages.
typedef struct Source
{
    const snwSim* sim;
    const snwMeasures* measures;
    snwTimings timings;
    double own[64];
} Source;

static Source ReadMeasuresSource(const snwSim* sim, const snwMeasures* measures)
{
    Source source = {.sim = sim, .measures = measures};
    snwSim_GetTimings(sim, &source.timings);
    snwSim_GetOwnMeasures(sim, -1, source.own);
    return source;
}

static Column GetMeasureColumn(const Source* source, int index)
{
    Column column = {.unit = "ms", .help = "time of this stage in the last step"};
    int own = index - snwMeasureCount(), stage = own - snwSim_GetOwnMeasureCount(source->sim);
    if (stage >= 0)
    {
        snprintf(column.name, sizeof column.name, "stage.%s", source->timings.data[stage].stage);
        column.value = source->timings.data[stage].ms;
        return column;
    }
    const snwMeasureInfo* info = own >= 0 ? snwSim_GetOwnMeasureInfo(source->sim, own) : snwMeasure_GetInfo(index);
    snprintf(column.name, sizeof column.name, "%s", info->name);
    column.unit = info->unit;
    column.help = info->help;
    column.value = own >= 0 ? source->own[own] : snwMeasures_Get(source->measures, index);
    return column;
}

// How many there are, and whether this one is left out.
static int ColumnCount(const snwMeasuresWriter* writer, const Source* source)
{
    return snwMeasureCount() + snwSim_GetOwnMeasureCount(source->sim) + (writer->timeless ? 0 : source->timings.count);
}

static bool LeavesOut(const snwMeasuresWriter* writer, int index)
{
    return writer->timeless && index < snwMeasureCount() && strcmp(snwMeasure_GetInfo(index)->name, "step_ms") == 0;
}

static void WriteCsvHeader(const snwMeasuresWriter* writer, snwText* text, const Source* source)
{
    PutMeasureText(text, "frame");
    for (int i = 0; i < ColumnCount(writer, source); ++i)
    {
        if (LeavesOut(writer, i))
            continue;
        Column column = GetMeasureColumn(source, i);
        PutMeasureText(text, ",");
        PutMeasureText(text, column.name);
        if (column.unit[0] == 0)
            continue;
        PutMeasureText(text, "[");
        PutMeasureText(text, column.unit);
        PutMeasureText(text, "]");
    }
    PutMeasureText(text, "\n");
}

static void WriteJsonColumn(snwText* text, const char* name, const char* unit, const char* help)
{
    snwText_Open(text, '{');
    snwText_Key(text, "name");
    snwText_String(text, name);
    snwText_Key(text, "unit");
    snwText_String(text, unit);
    snwText_Key(text, "help");
    snwText_String(text, help);
    snwText_Close(text, '}');
}

// The rows follow one by one; Finish closes the list and the object.
static void WriteJsonHeader(
    const snwMeasuresWriter* writer, snwText* text, const snwSceneDef* scene, const Source* source)
{
    snwText_Open(text, '{');
    snwText_Key(text, "sinew_measures");
    snwText_Int(text, 1);
    snwText_Key(text, "scene");
    snwText_String(text, scene->name);
    snwText_Key(text, "method");
    snwText_String(text, scene->method);
    snwText_Key(text, "columns");
    snwText_Open(text, '[');
    WriteJsonColumn(text, "frame", "", "0 is the start");

    // Columns tell what they are, and their unit.
    for (int i = 0; i < ColumnCount(writer, source); ++i)
    {
        if (LeavesOut(writer, i))
            continue;
        Column column = GetMeasureColumn(source, i);
        WriteJsonColumn(text, column.name, column.unit, column.help);
    }

    snwText_Close(text, ']');
    snwText_Key(text, "rows");
    PutMeasureText(text, "[");
}

snwResult snwMeasuresWriter_Open(snwMeasuresWriter* writer, snwContext* context, const char* path, bool timeless,
    bool overwrite, snwMessage* message)
{
    *writer = (snwMeasuresWriter){.context = context, .json = snwHasEnding(path, ".json"), .timeless = timeless};
    if (!writer->json && !snwHasEnding(path, ".csv"))
    {
        snwFail(message, snw_errorArgument, "end its name in .csv or .json", "unknown kind of measures file");
        snwMessage_SetFile(message, path);
        return snw_errorArgument;
    }
    return snwPartFile_Open(&writer->output, context, path, overwrite, message);
}

static snwResult WriteMeasuresHeader(snwMeasuresWriter* writer, const Source* source, snwMessage* message)
{
    snwText text = snwCreateText(writer->context, 0);
    if (writer->json)
        WriteJsonHeader(writer, &text, snwScene_GetDef(snwSim_GetScene(source->sim)), source);
    else
        WriteCsvHeader(writer, &text, source);
    writer->started = true;
    return WriteMeasureText(writer, &text, message);
}

snwResult snwMeasuresWriter_AddFrame(
    snwMeasuresWriter* writer, const snwSim* sim, int frame, const snwMeasures* measures, snwMessage* message)
{
    Source source = ReadMeasuresSource(sim, measures);
    snwResult result = writer->started ? snw_ok : WriteMeasuresHeader(writer, &source, message);
    if (result < 0)
        return result;
    snwText text = snwCreateText(writer->context, 0);
    PutMeasureText(&text, writer->json ? (frame > 0 ? ",\n[" : "\n[") : "");
    snwText_Int(&text, frame);

    // A number for every column of the header.
    for (int i = 0; i < ColumnCount(writer, &source); ++i)
    {
        if (LeavesOut(writer, i))
            continue;
        double value = GetMeasureColumn(&source, i).value;
        PutMeasureText(&text, ",");
        if (writer->json || isfinite(value)) // CSV leaves the cell empty, JSON has null
            snwText_Real(&text, value);
    }

    PutMeasureText(&text, writer->json ? "]" : "\n");
    return WriteMeasureText(writer, &text, message);
}

snwResult snwMeasuresWriter_Finish(snwMeasuresWriter* writer, snwMessage* message)
{
    const char* end = writer->json && writer->started ? "\n]}\n" : "";
    snwResult result = snwPartFile_Write(&writer->output, end, strlen(end), message);
    if (result == snw_ok)
        return snwPartFile_Commit(&writer->output, message);
    snwPartFile_Drop(&writer->output);
    return result;
}
