// Colliders read from and written to JSON: the table does what is a number or a name, the lists of height fields and
// meshes are read here, within a budget of numbers for the whole scene.

#include "scene/colliders.h"
#include "sim/limits.h"

typedef struct Reader
{
    snwJson* json;
    snwArena* arena;
    int numbers; // that may still be read
} Reader;

// The number at a place of a list, whole if it must be.
static snwResult ReadNumber(Reader* reader, const json_t* list, size_t index, bool whole, double* out)
{
    const json_t* value = json_array_get(list, index);
    size_t mark = snwJson_EnterIndex(reader->json, index);
    if (whole && !json_is_integer(value))
        return snwJson_Fail(reader->json, NULL, "must be a whole number, is %s", snwJson_TypeName(value));
    snwResult result = snwJson_ReadReal(
        reader->json, value, whole ? 0 : -SNW_MAX_SIZE, whole ? SNW_MAX_MESH : SNW_MAX_SIZE, out);
    if (result == snw_ok)
        snwJson_Leave(reader->json, mark);
    return result;
}

// A list of lists of as many numbers each.
typedef struct Rows
{
    const char* key;
    const json_t* list;
    int width; // 0: as the first row has it
    int height;
    bool whole; // ints, else doubles
} Rows;

static snwResult CheckNumberRow(snwJson* json, const json_t* row, Rows* rows)
{
    size_t count = json_array_size(row);
    if (!json_is_array(row))
        return snwJson_Fail(json, NULL, "must be a list of numbers, is %s", snwJson_TypeName(row));
    if (count == 0 || count > snw_maxNumbers)
        return snwJson_Fail(json, NULL, "has %zu numbers", count);
    if (rows->width > 0 && count != (size_t)rows->width)
        return snwJson_Fail(json, NULL, "must have %d numbers, has %zu", rows->width, count);
    rows->width = (int)count;
    return snw_ok;
}

static snwResult CheckColliderRows(Reader* reader, Rows* rows)
{
    snwJson* json = reader->json;
    size_t count = json_array_size(rows->list);
    if (!json_is_array(rows->list))
        return snwJson_Fail(json, NULL, "must be a list of lists of numbers, is %s", snwJson_TypeName(rows->list));

    // Rows of one width each; their numbers count against the scene's budget.
    for (size_t i = 0; i < count; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, i);
        snwResult result = CheckNumberRow(json, json_array_get(rows->list, i), rows);
        if (result < 0)
            return result;
        snwJson_Leave(json, mark);
    }

    if (count > (size_t)(reader->numbers / (rows->width > 0 ? rows->width : 1)))
        return snwJson_Fail(json, NULL, "the colliders of a scene have at most %d numbers", snw_maxNumbers);
    rows->height = (int)count;
    reader->numbers -= rows->width * rows->height;
    return snw_ok;
}

static snwResult FillNumberRow(Reader* reader, const Rows* rows, size_t row, void* out)
{
    size_t mark = snwJson_EnterIndex(reader->json, row), width = (size_t)rows->width;
    snwResult result = snw_ok;
    for (size_t i = 0; i < width && result == snw_ok; ++i)
    {
        double number = 0;
        result = ReadNumber(reader, json_array_get(rows->list, row), i, rows->whole, &number);
        if (rows->whole)
            ((int*)out)[row * width + i] = (int)number;
        else
            ((double*)out)[row * width + i] = number;
    }
    if (result == snw_ok)
        snwJson_Leave(reader->json, mark);
    return result;
}

// All rows one behind the other; NULL after a failure, which *result tells, or where there is no list.
static void* ReadColliderRows(Reader* reader, Rows* rows, snwResult* result)
{
    if (*result < 0 || rows->list == NULL)
        return NULL;
    size_t mark = snwJson_Enter(reader->json, rows->key);
    *result = CheckColliderRows(reader, rows);
    if (*result < 0)
        return NULL;
    size_t count = (size_t)rows->width * (size_t)rows->height;
    void* numbers = snwArena_Alloc(reader->arena, count, rows->whole ? sizeof(int) : sizeof(double));
    if (numbers == NULL)
    {
        *result = snwJson_Locate(reader->json, snwFailMemory(reader->json->message));
        return NULL;
    }

    // All rows one behind the other.
    for (int i = 0; i < rows->height && *result == snw_ok; ++i)
        *result = FillNumberRow(reader, rows, (size_t)i, numbers);
    if (*result == snw_ok)
        snwJson_Leave(reader->json, mark);
    return numbers;
}

snwResult snwCollider_ReadJson(
    snwJson* json, snwArena* arena, const json_t* value, int* numbers, snwColliderDef* collider)
{
    snwColliderData data = {.heights = NULL};
    Reader reader = {json, arena, *numbers};
    snwResult result = snwTable_Read(json, &snw_colliderTable, value, &data, NULL);
    snwColliderDef* def = &data.def;
    Rows heights = {.key = "heights", .list = data.heights};
    Rows vertices = {.key = "vertices", .list = data.vertices, .width = 3};
    Rows triangles = {.key = "triangles", .list = data.triangles, .width = 3, .whole = true};

    // Heights decide columns and rows; corners of triangles are whole numbers.
    def->heights = ReadColliderRows(&reader, &heights, &result);
    def->columns = heights.width;
    def->rows = heights.height;
    def->vertices = ReadColliderRows(&reader, &vertices, &result);
    def->vertexCount = vertices.height;
    def->triangles = ReadColliderRows(&reader, &triangles, &result);
    def->triangleCount = triangles.height;
    *numbers = reader.numbers;
    *collider = *def;

    return result;
}

_Static_assert(sizeof(snwVec3) == 3 * sizeof(double), "a row of three numbers is a vertex");

static void WriteTriangle(snwText* text, const int triangle[3])
{
    snwText_Open(text, '[');
    for (int k = 0; k < 3; ++k)
        snwText_Int(text, triangle[k]);
    snwText_Close(text, ']');
}

static void WriteColliderMesh(snwText* text, const snwColliderDef* mesh)
{
    snwText_Key(text, "vertices");
    snwText_Open(text, '[');
    for (int i = 0; i < mesh->vertexCount; ++i)
        snwText_Reals(text, &mesh->vertices[i].x, 3);
    snwText_Close(text, ']');
    snwText_Key(text, "triangles");
    snwText_Open(text, '[');
    for (int i = 0; i < mesh->triangleCount; ++i)
        WriteTriangle(text, mesh->triangles[i]);
    snwText_Close(text, ']');
}

void snwCollider_WriteJson(snwText* text, const snwColliderDef* collider)
{
    snwColliderData data = {.def = *collider};
    snwText_Open(text, '{');
    snwTable_Write(text, &snw_colliderTable, &data);
    if (collider->kind == snw_colliderHeightfield)
    {
        snwText_Key(text, "heights");
        snwText_Open(text, '[');
        for (int i = 0; i < collider->rows; ++i)
            snwText_Reals(text, collider->heights + (size_t)i * (size_t)collider->columns, collider->columns);
        snwText_Close(text, ']');
    }
    if (collider->kind == snw_colliderMesh)
        WriteColliderMesh(text, collider);
    snwText_Close(text, '}');
}
