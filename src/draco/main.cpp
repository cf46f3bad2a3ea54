// sinew-draco: one part of a mesh that is packed with Draco, asked on standard input and answered on standard output
// (block.h). A program of its own because libdraco is C++, throws, and takes as much memory as a file says.

#include "draco/block.h"

#include "base/limits.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <draco/compression/decode.h>
#include <exception>
#include <string>
#include <unistd.h>
#include <vector>

static const int s_maxBytes = 1 << 30, s_maxAttributes = 1000;

struct Attribute
{
    int id, component, width;
};

struct Question
{
    std::vector<char> packed;
    int indexSize = 0;
    std::vector<Attribute> attributes;
};

static FILE* s_answer;

static void PutInt(int value)
{
    fwrite(&value, sizeof value, 1, s_answer);
}

static int Fail(const std::string& words)
{
    PutInt(snw_dracoFailed);
    PutInt((int)words.size());
    fwrite(words.data(), 1, words.size(), s_answer);
    return fflush(s_answer) == 0 ? 0 : 1;
}

static bool Get(int* value)
{
    return fread(value, sizeof *value, 1, stdin) == 1;
}

// What follows its first numbers is under limits.
static bool ReadQuestion(Question* question)
{
    int magic = 0, seconds = 0, megabytes = 0, size = 0, count = 0;
    if (!Get(&magic) || magic != snw_dracoAsked || !Get(&seconds) || !Get(&megabytes) ||
        !snwLimitProcess(seconds, megabytes) || !Get(&size) || size < 1 || size > s_maxBytes)
        return false;
    question->packed.resize((size_t)size);
    if (fread(question->packed.data(), 1, (size_t)size, stdin) != (size_t)size || !Get(&question->indexSize) ||
        !Get(&count) || count < 0 || count > s_maxAttributes)
        return false;
    for (int i = 0; i < count; ++i)
    {
        Attribute attribute;
        if (!Get(&attribute.id) || !Get(&attribute.component) || !Get(&attribute.width) || attribute.width < 1 ||
            attribute.width > 4)
            return false;
        question->attributes.push_back(attribute);
    }
    return Get(&magic) && magic == snw_dracoAsked;
}

// ---------------------------------------------------------------------------------------------------------------------

template <typename T> static bool PutValues(const draco::Mesh& mesh, const draco::PointAttribute& from, int width)
{
    for (uint32_t i = 0; i < mesh.num_points(); ++i)
    {
        T values[4] = {};
        if (!from.ConvertValue<T>(from.mapped_index(draco::PointIndex(i)), (int8_t)width, values))
            return false;
        fwrite(values, sizeof(T), (size_t)width, s_answer);
    }
    return true;
}

static bool PutAttribute(const draco::Mesh& mesh, const draco::PointAttribute& from, const Attribute& wanted)
{
    switch (wanted.component)
    {
        case 5120:
            return PutValues<int8_t>(mesh, from, wanted.width);
        case 5121:
            return PutValues<uint8_t>(mesh, from, wanted.width);
        case 5122:
            return PutValues<int16_t>(mesh, from, wanted.width);
        case 5123:
            return PutValues<uint16_t>(mesh, from, wanted.width);
        case 5125:
            return PutValues<uint32_t>(mesh, from, wanted.width);
        default:
            return PutValues<float>(mesh, from, wanted.width);
    }
}

static int Work()
{
    Question question;
    if (!ReadQuestion(&question))
        return Fail("it was asked nonsense");
    draco::DecoderBuffer buffer;
    draco::Decoder decoder;
    buffer.Init(question.packed.data(), question.packed.size());
    auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
    if (!decoded.ok())
        return Fail(decoded.status().error_msg());
    const std::unique_ptr<draco::Mesh> mesh = std::move(decoded).value();

    for (const Attribute& wanted : question.attributes)
    {
        const draco::PointAttribute* from = mesh->GetAttributeByUniqueId((uint32_t)wanted.id);
        if (from == nullptr || from->num_components() != wanted.width)
            return Fail("it has no attribute " + std::to_string(wanted.id) + " of " + std::to_string(wanted.width) +
                        " numbers");
    }

    PutInt(snw_dracoDone);
    PutInt((int)mesh->num_points());
    PutInt((int)(3 * mesh->num_faces()));
    for (uint32_t i = 0; i < mesh->num_faces(); ++i)
        for (int k = 0; k < 3; ++k)
        {
            const uint32_t index = mesh->face(draco::FaceIndex(i))[k].value();
            fwrite(&index, (size_t)question.indexSize, 1, s_answer); // the first bytes: we are little-endian
        }
    for (const Attribute& wanted : question.attributes)
        if (!PutAttribute(*mesh, *mesh->GetAttributeByUniqueId((uint32_t)wanted.id), wanted))
            return 1; // the answer is cut, and so is none
    PutInt(snw_dracoDone);
    return fflush(s_answer) == 0 ? 0 : 1;
}

int main()
{
    s_answer = fdopen(dup(1), "wb");
    if (s_answer == nullptr || freopen("/dev/null", "w", stdout) == nullptr)
        return 1;
    int status = 1;
    try
    {
        status = Work();
    } catch (const std::bad_alloc&)
    {
        status = Fail("it needs too much memory");
    } catch (const std::exception& problem)
    {
        status = Fail(problem.what());
    }
    fclose(s_answer);
    _Exit(status);
}
