// Reading objects by tables.

#include "scene/fields.h"
#include "math/display.h"
#include "scene/words.h"
#include "math/quat.h"
#include "math/types.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxText = 127 // bytes of names
};

static const char* PlainName(int index, const void* data)
{
    return ((const char* const*)data)[index];
}

// People write "3 kg" or "0.5".
static const char* NumberRemedy(const json_t* value)
{
    return json_is_string(value) ? "a plain number in SI units, without quotes" : NULL;
}

snwResult snwJson_ReadReal(snwJson* json, const json_t* value, double lower, double upper, double* out)
{
    if (!json_is_number(value))
        return snwJson_Fail(json, NumberRemedy(value), "must be a number, is %s", snwJson_TypeName(value));
    double number = json_number_value(value);
    if (!isfinite(number))
        return snwJson_Fail(json, NULL, "must be finite");
    if ((lower != 0 || upper != 0) && (number < lower || number > upper))
        return snwJson_Fail(json, NULL, "must be %.10g..%.10g, is %.10g", lower, upper, number);
    *out = number;
    return snw_ok;
}

static snwResult ReadInt(snwJson* json, const json_t* value, double lower, double upper, int* out)
{
    if (!json_is_integer(value))
        return snwJson_Fail(json, NumberRemedy(value), "must be a whole number, is %s",
            json_is_real(value) ? "a number with a point" : snwJson_TypeName(value));
    long long number = json_integer_value(value);
    double least = lower != 0 || upper != 0 ? lower : INT_MIN, most = lower != 0 || upper != 0 ? upper : INT_MAX;
    if ((double)number < least || (double)number > most)
        return snwJson_Fail(json, NULL, "must be %.10g..%.10g, is %lld", least, most, number);
    *out = (int)number;
    return snw_ok;
}

static snwResult ReadU64(snwJson* json, const json_t* value, uint64_t* out)
{
    if (!json_is_integer(value))
        return snwJson_Fail(json, NumberRemedy(value), "must be a whole number, is %s",
            json_is_real(value) ? "a number with a point" : snwJson_TypeName(value));
    if (json_integer_value(value) < 0)
        return snwJson_Fail(json, NULL, "must be 0 or more, is %lld", (long long)json_integer_value(value));
    *out = (uint64_t)json_integer_value(value);
    return snw_ok;
}

static snwResult ReadBool(snwJson* json, const json_t* value, bool* out)
{
    if (!json_is_boolean(value))
        return snwJson_Fail(json, NULL, "must be true or false, is %s", snwJson_TypeName(value));
    *out = json_is_true(value);
    return snw_ok;
}

static snwResult ReadTextField(snwJson* json, const json_t* value, const snwField* field, const char** out)
{
    size_t most = field->upper > 0 ? (size_t)field->upper : snw_maxText;
    if (!json_is_string(value))
        return snwJson_Fail(json, NULL, "must be a text, is %s", snwJson_TypeName(value));
    size_t length = json_string_length(value);
    if (length == 0 || length > most)
        return snwJson_Fail(json, NULL, "must have 1..%zu bytes, has %zu", most, length);
    *out = json_string_value(value);
    return snw_ok;
}

snwResult snwJson_ReadChoice(snwJson* json, const json_t* value, const char* const* names, int* out)
{
    if (!json_is_string(value))
        return snwJson_Fail(json, NULL, "must be a text, is %s", snwJson_TypeName(value));
    const char* word = json_string_value(value);
    int count = 0;
    for (; names[count] != NULL; ++count)
        if (strcmp(names[count], word) == 0)
        {
            *out = count;
            return snw_ok;
        }
    char remedy[200];
    snwSuggestWord(remedy, sizeof remedy, word, count, PlainName, names);
    return snwJson_Fail(json, remedy, "unknown word '%s'", snwQuoteWord(word).text);
}

static snwResult ReadMask(snwJson* json, const json_t* value, const char* const* names, uint32_t* out)
{
    int bits = 0, mask = 0;
    while (names[bits] != NULL)
        bits++;

    // The bits as one number are understood, too.
    if (json_is_integer(value))
    {
        snwResult result = ReadInt(json, value, 0, (double)((1u << bits) - 1), &mask);
        *out = (uint32_t)mask;
        return result;
    }

    if (!json_is_array(value))
        return snwJson_Fail(json, NULL, "must be a list of names, is %s", snwJson_TypeName(value));
    *out = 0;

    // A list of names, one bit each.
    for (size_t i = 0; i < json_array_size(value); ++i)
    {
        int bit = 0;
        size_t mark = snwJson_EnterIndex(json, i);
        snwResult result = snwJson_ReadChoice(json, json_array_get(value, i), names, &bit);
        if (result < 0)
            return result;
        snwJson_Leave(json, mark);
        *out |= 1u << bit;
    }

    return snw_ok;
}

static snwResult CheckNumberList(snwJson* json, const json_t* value, int count)
{
    if (!json_is_array(value))
        return snwJson_Fail(json, NULL, "must be a list of %d numbers, is %s", count, snwJson_TypeName(value));
    if (json_array_size(value) != (size_t)count)
        return snwJson_Fail(json, NULL, "must have %d numbers, has %zu", count, json_array_size(value));
    return snw_ok;
}

static snwResult ReadReals(snwJson* json, const json_t* value, const snwField* field, int count, double* out)
{
    snwResult result = CheckNumberList(json, value, count);
    for (int i = 0; i < count && result == snw_ok; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, (size_t)i);
        result = snwJson_ReadReal(json, json_array_get(value, (size_t)i), field->lower, field->upper, &out[i]);
        snwJson_Leave(json, mark);
    }
    return result;
}

static snwResult ReadInt3(snwJson* json, const json_t* value, const snwField* field, int* out)
{
    snwResult result = CheckNumberList(json, value, 3);
    for (int i = 0; i < 3 && result == snw_ok; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, (size_t)i);
        result = ReadInt(json, json_array_get(value, (size_t)i), field->lower, field->upper, &out[i]);
        snwJson_Leave(json, mark);
    }
    return result;
}

static snwResult ReadRotation(snwJson* json, const json_t* value, const snwField* field, snwQuat* out)
{
    double q[4] = {0};
    snwResult result = ReadReals(json, value, field, 4, q);
    if (result < 0)
        return result;
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!isfinite(length) || length < 1e-6)
        return snwJson_Fail(json, "no rotation is [0, 0, 0, 1]", "a rotation of length %.10g has no direction", length);
    if (fabs(length - 1) > 1e-4)
        snwJson_Warn(json, "rotation has length %.6g, not 1; it was normalised", length);
    // A unit quaternion is left as it is, so that reading what was written gives the same bits.
    double scale = fabs(length * length - 1) > 1e-6 ? 1 / length : 1;
    *out = (snwQuat){q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale};
    return snw_ok;
}

static snwResult ReadAngles(snwJson* json, const json_t* value, const snwField* field, snwQuat* out)
{
    double degrees[3] = {0}, half[3];
    snwResult result = ReadReals(json, value, field, 3, degrees);
    if (result < 0)
        return result;
    for (int i = 0; i < 3; ++i)
        half[i] = degrees[i] * (SNW_PI / 360);
    snwQuat x = {sin(half[0]), 0, 0, cos(half[0])};
    snwQuat y = {0, sin(half[1]), 0, cos(half[1])};
    snwQuat z = {0, 0, sin(half[2]), cos(half[2])};
    *out = snwQuat_Mul(z, snwQuat_Mul(y, x));
    return snw_ok;
}

static int HexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// IEC 61966-2-1: what a colour picker shows is not proportional to light.
static snwResult ReadColorField(snwJson* json, const json_t* value, const snwField* field, float* out)
{
    if (!json_is_string(value))
    {
        // Three numbers are light as it is; "#rrggbb" is what screens show, so it is decoded (see
        // snwDisplay_ToLight).
        double linear[3] = {0};
        snwResult result = ReadReals(json, value, field, 3, linear);
        for (int i = 0; i < 3; ++i)
            out[i] = (float)linear[i];
        return result;
    }

    const char* text = json_string_value(value);
    bool good = strlen(text) == 7 && text[0] == '#';
    for (int i = 1; good && i < 7; ++i)
        good = HexDigit(text[i]) >= 0;
    if (!good)
        return snwJson_Fail(json, NULL, "must be \"#rrggbb\", is '%s'", snwQuoteWord(text).text);
    for (int i = 0; i < 3; ++i)
        out[i] = snwDisplay_ToLight((16 * HexDigit(text[1 + 2 * i]) + HexDigit(text[2 + 2 * i])) / 255.0);

    return snw_ok;
}

static snwResult ReadField(snwJson* json, const snwField* field, const json_t* value, void* object)
{
    void* out = (char*)object + field->offset;
    switch (field->type)
    {
        // By the field's type; words and scales were read before all others.
        case snw_fieldReal:
            return snwJson_ReadReal(json, value, field->lower, field->upper, out);
        case snw_fieldInt:
            return ReadInt(json, value, field->lower, field->upper, out);
        case snw_fieldU64:
            return ReadU64(json, value, out);
        case snw_fieldBool:
            return ReadBool(json, value, out);
        case snw_fieldText:
            return ReadTextField(json, value, field, out);
        case snw_fieldChoice:
            return snwJson_ReadChoice(json, value, field->names, out);
        case snw_fieldMask:
            return ReadMask(json, value, field->names, out);
        case snw_fieldVec3:
            return ReadReals(json, value, field, 3, out);
        case snw_fieldInt3:
            return ReadInt3(json, value, field, out);
        case snw_fieldRotation:
            return ReadRotation(json, value, field, out);
        case snw_fieldAngles:
            return ReadAngles(json, value, field, out);
        case snw_fieldColor:
            return ReadColorField(json, value, field, out);
        case snw_fieldObject:
            return snwTable_Read(json, field->table, value, out, NULL);
        case snw_fieldRaw:
            *(const json_t**)out = value;
            return snw_ok;
        case snw_fieldWord:
        case snw_fieldScale:
            return snw_ok;
    }

    return snw_ok;
}

bool snwField_Belongs(const snwField* field, int kind)
{
    return field->kinds == 0 || kind < 0 || (field->kinds >> kind & 1) != 0;
}

const snwField* snwTable_Variant(const snwTable* table)
{
    for (int i = 0; i < table->count && table->variant != NULL; ++i)
        if (strcmp(table->fields[i].key, table->variant) == 0)
            return &table->fields[i];
    return NULL;
}

static snwResult ReadKindField(snwJson* json, const snwTable* table, const json_t* value, int* kind)
{
    const snwField* field = snwTable_Variant(table);
    *kind = -1;
    if (field == NULL)
        return snw_ok;
    const json_t* word = json_object_get(value, field->key);
    if (word == NULL)
        return snwJson_Fail(json, NULL, "key '%s' is missing", field->key);
    size_t mark = snwJson_Enter(json, field->key);
    snwResult result = snwJson_ReadChoice(json, word, field->names, kind);
    snwJson_Leave(json, mark);
    return result;
}

typedef struct Candidates
{
    const snwTable* table;
    int kind;
} Candidates;

static const char* CandidateKey(int index, const void* data)
{
    const Candidates* candidates = data;
    const snwField* field = &candidates->table->fields[index];
    return snwField_Belongs(field, candidates->kind) ? field->key : NULL;
}

static snwResult FailKey(snwJson* json, const snwTable* table, int kind, const char* key)
{
    for (int i = 0; i < table->count; ++i)
        if (strcmp(table->fields[i].key, key) == 0)
            return snwJson_Fail(json, NULL, "key '%s' does not belong to %s '%s'", key, table->title,
                snwTable_Variant(table)->names[kind]);
    char remedy[240];
    snwSuggestWord(remedy, sizeof remedy, key, table->count, CandidateKey, &(Candidates){table, kind});
    return snwJson_Fail(json, remedy, "unknown key '%s'", snwQuoteWord(key).text);
}

static int FindField(const snwTable* table, int kind, const char* key)
{
    for (int i = 0; i < table->count; ++i)
        if (snwField_Belongs(&table->fields[i], kind) && strcmp(table->fields[i].key, key) == 0)
            return i;
    return -1;
}

static snwResult FailMissingField(snwJson* json, const snwField* field)
{
    char remedy[96];
    bool constant = field->type == snw_fieldInt && field->lower == field->upper && field->lower != 0;
    snprintf(remedy, sizeof remedy, "begin with \"%s\": %.0f", field->key, field->lower);
    return snwJson_Fail(json, constant ? remedy : NULL, "key '%s' is missing", field->key);
}

static snwResult CheckGiven(snwJson* json, const snwTable* table, int kind, uint64_t seen)
{
    for (int i = 0; i < table->count; ++i)
    {
        const snwField* field = &table->fields[i];
        bool given = (seen >> i & 1) != 0;
        if (field->required && !given && snwField_Belongs(field, kind))
            return FailMissingField(json, field);
        for (int j = 0; j < i && given; ++j)
            if ((seen >> j & 1) != 0 && table->fields[j].offset == field->offset)
                return snwJson_Fail(
                    json, "keep one of the two", "'%s' and '%s' say the same thing", table->fields[j].key, field->key);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Words for parts

// Number of the word, or of its scale, among the fields; -1: there is none.
static int FindWordField(const snwTable* table, int kind, snwFieldType type)
{
    for (int i = 0; i < table->count; ++i)
        if (table->fields[i].type == type && snwField_Belongs(&table->fields[i], kind))
            return i;
    return -1;
}

static uint64_t FieldsOfWord(const snwTable* table, int kind, const snwField* word)
{
    uint64_t fields = 0;
    for (int i = 0; i < table->count; ++i)
    {
        const snwField* field = &table->fields[i];
        bool inside = field->offset >= word->offset && field->offset < word->offset + word->words->size;
        if (inside && field->words == NULL && snwField_Belongs(field, kind))
            fields |= (uint64_t)1 << i;
    }
    return fields;
}

static snwResult ReadScale(snwJson* json, const snwField* field, const json_t* value, void* object)
{
    double factor = 1;
    size_t mark = snwJson_Enter(json, field->key);
    snwResult result = snwJson_ReadReal(json, value, field->lower, field->upper, &factor);
    if (result < 0)
        return result;
    snwJson_Leave(json, mark);
    field->words->scale((char*)object + field->offset, factor);
    return snw_ok;
}

// value: the word itself, or an object that may have it. *given gets the fields that it sets.
static snwResult ReadWordField(
    snwJson* json, const snwTable* table, int kind, const json_t* value, void* object, uint64_t* given)
{
    int at = FindWordField(table, kind, snw_fieldWord), scaleAt = FindWordField(table, kind, snw_fieldScale), index = 0;
    if (at < 0)
        return snw_ok;
    const snwField *field = &table->fields[at], *scale = scaleAt >= 0 ? &table->fields[scaleAt] : NULL;
    bool inside = json_is_object(value);

    // The word stands in the object under its key, or is the value itself.
    const json_t* word = inside ? json_object_get(value, field->key) : value;
    const json_t* factor = inside && scale != NULL ? json_object_get(value, scale->key) : NULL;
    if (word == NULL)
        return factor == NULL ? snw_ok : snwJson_Fail(json, NULL, "'%s' needs '%s'", scale->key, field->key);
    size_t mark = inside ? snwJson_Enter(json, field->key) : strlen(json->path);
    snwResult result = snwJson_ReadChoice(json, word, field->names, &index);
    if (result < 0)
        return result;
    snwJson_Leave(json, mark);
    field->words->set((char*)object + field->offset, index);
    // A word sets several fields; they count as given.
    *given |= FieldsOfWord(table, kind, field);

    return factor != NULL ? ReadScale(json, scale, factor, object) : snw_ok;
}

snwResult snwTable_Read(snwJson* json, const snwTable* table, const json_t* value, void* object, uint64_t* seen)
{
    int kind = -1;
    uint64_t given = 0;
    bool word = json_is_string(value) && table->variant == NULL && FindWordField(table, -1, snw_fieldWord) >= 0;
    if (!json_is_object(value) && !word)
        return snwJson_Fail(json, NULL, "must be an object, is %s", snwJson_TypeName(value));

    // What kind it is decides which keys belong and which defaults hold.
    snwResult result = word ? snw_ok : ReadKindField(json, table, value, &kind);
    if (result < 0)
        return result;
    memset(object, 0, table->size);
    if (table->init != NULL)
        table->init(object, kind);

    // The word first, so that single keys can change what it set.
    result = ReadWordField(json, table, kind, value, object, &given);
    if (result < 0)
        return result;

    // jansson iterates in the order of the text, so the first mistake in the file is the one reported
    for (void* iter = json_object_iter((json_t*)value); iter != NULL;
         iter = json_object_iter_next((json_t*)value, iter))
    {
        const char* key = json_object_iter_key(iter);
        int index = FindField(table, kind, key);
        if (index >= 0 && table->fields[index].words != NULL)
            continue; // it was read first
        if (index < 0)
            return FailKey(json, table, kind, key);
        size_t mark = snwJson_Enter(json, key);
        result = ReadField(json, &table->fields[index], json_object_iter_value(iter), object);
        if (result < 0)
            return result;
        snwJson_Leave(json, mark);
        given |= (uint64_t)1 << index;
    }

    if (seen != NULL)
        *seen = given;
    return CheckGiven(json, table, kind, given);
}

bool snwTable_Saw(const snwTable* table, uint64_t seen, const char* key)
{
    for (int i = 0; i < table->count; ++i)
        if ((seen >> i & 1) != 0 && strcmp(table->fields[i].key, key) == 0)
            return true;
    return false;
}

int snwTable_Kind(const snwTable* table, const void* object)
{
    const snwField* field = snwTable_Variant(table);
    int kind = -1;
    if (field != NULL)
        memcpy(&kind, (const char*)object + field->offset, sizeof kind);
    return kind;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static void WriteMask(snwText* text, const char* const* names, uint32_t mask)
{
    snwText_Open(text, '[');
    for (int i = 0; names[i] != NULL; ++i)
        if ((mask >> i & 1) != 0)
            snwText_String(text, names[i]);
    snwText_Close(text, ']');
}

void snwField_Write(snwText* text, const snwField* field, const void* object)
{
    const void* in = (const char*)object + field->offset;
    const int* ints = in;
    const float* floats = in;

    // As its reader expects it; fields without a text of their own are written elsewhere.
    switch (field->type)
    {
        case snw_fieldReal:
            snwText_Real(text, *(const double*)in);
            break;
        case snw_fieldInt:
            snwText_Int(text, *ints);
            break;
        case snw_fieldU64:
            snwText_Int(text, (int64_t) * (const uint64_t*)in);
            break;
        case snw_fieldBool:
            snwText_Bool(text, *(const bool*)in);
            break;
        case snw_fieldText:
            snwText_String(text, *(const char* const*)in);
            break;
        case snw_fieldChoice:
            snwText_String(text, field->names[*ints]);
            break;
        case snw_fieldMask:
            WriteMask(text, field->names, *(const uint32_t*)in);
            break;
        case snw_fieldVec3:
            snwText_Reals(text, in, 3);
            break;
        case snw_fieldInt3:
            snwText_Reals(text, (double[]){ints[0], ints[1], ints[2]}, 3);
            break;
        case snw_fieldRotation:
            snwText_Reals(text, in, 4);
            break;
        case snw_fieldColor:
            snwText_Reals(text, (double[]){floats[0], floats[1], floats[2]}, 3);
            break;
        case snw_fieldObject:
            snwText_Open(text, '{');
            snwTable_Write(text, field->table, in);
            snwText_Close(text, '}');
            break;
        case snw_fieldAngles:
        case snw_fieldWord:
        case snw_fieldScale:
        case snw_fieldRaw:
            break;
    }
}

bool snwField_IsSilent(const snwField* field, const void* object)
{
    double value = field->words != NULL ? 0 : 1;
    if (field->quiet)
        memcpy(&value, (const char*)object + field->offset, sizeof value);
    return value == 0;
}

void snwTable_Write(snwText* text, const snwTable* table, const void* object)
{
    int kind = snwTable_Kind(table, object);
    for (int i = 0; i < table->count; ++i)
    {
        const snwField* field = &table->fields[i];
        const char* word = NULL;
        if (field->type == snw_fieldText)
            memcpy(&word, (const char*)object + field->offset, sizeof word);
        bool empty = field->type == snw_fieldText && (word == NULL || word[0] == 0);
        if (field->type == snw_fieldAngles || field->type == snw_fieldRaw || empty || !snwField_Belongs(field, kind) ||
            snwField_IsSilent(field, object))
            continue;
        snwText_Key(text, field->key);
        snwField_Write(text, field, object);
    }
}
