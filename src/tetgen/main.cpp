// sinew-tetgen: tetrahedra for closed surfaces by TetGen, asked on standard input and answered on standard output
// (block.h). A program of its own for two reasons: TetGen crashes or hangs on input it does not like, and its licence
// is the AGPL.
//
// The parent has checked the surfaces; all that is checked here is that the block is one.

#include "tetgen/block.h"

#include "base/limits.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <tetgen.h>
#include <unistd.h>
#include <vector>

static const int s_maxItems = 50000000;

// ---------------------------------------------------------------------------------------------------------------------
// Bytes. The answer goes to a copy of standard output: TetGen prints what it pleases to the original, which is shut.

static FILE* s_answer;

static void PutInt(int value)
{
    fwrite(&value, sizeof value, 1, s_answer);
}

static int Fail(int code)
{
    PutInt(snw_tetgenFailed);
    PutInt(code);
    return fflush(s_answer) == 0 ? 0 : 1;
}

struct Question
{
    double most = 0, ratio = 0;
    std::vector<double> points;
    std::vector<int> triangles;
};

template <typename T> static bool Get(T* value)
{
    return fread(value, sizeof *value, 1, stdin) == 1;
}

template <typename T> static bool GetList(std::vector<T>* list, int width)
{
    int count = 0;
    if (!Get(&count) || count < 1 || count > s_maxItems)
        return false;
    list->resize((size_t)count * (size_t)width);
    return fread(list->data(), sizeof(T), list->size(), stdin) == list->size();
}

// What follows its first numbers is under limits.
static bool ReadQuestion(Question* question)
{
    int magic = 0, seconds = 0, megabytes = 0;
    if (!Get(&magic) || magic != snw_tetgenAsked || !Get(&seconds) || !Get(&megabytes) ||
        !snwLimitProcess(seconds, megabytes))
        return false;
    if (!Get(&question->most) || !Get(&question->ratio) || !GetList(&question->points, 3) ||
        !GetList(&question->triangles, 3) || !Get(&magic) || magic != snw_tetgenAsked)
        return false;
    const int points = (int)(question->points.size() / 3);
    for (int vertex : question->triangles)
        if (vertex < 0 || vertex >= points)
            return false;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// TetGen

static void Describe(const Question& question, tetgenio* input)
{
    input->numberofpoints = (int)(question.points.size() / 3);
    input->pointlist = new REAL[question.points.size()];
    memcpy(input->pointlist, question.points.data(), question.points.size() * sizeof(REAL));
    input->numberoffacets = (int)(question.triangles.size() / 3);
    input->facetlist = new tetgenio::facet[input->numberoffacets];
    for (int i = 0; i < input->numberoffacets; ++i)
    {
        tetgenio::facet* facet = &input->facetlist[i];
        tetgenio::init(facet);
        facet->numberofpolygons = 1;
        facet->polygonlist = new tetgenio::polygon[1];
        tetgenio::init(&facet->polygonlist[0]);
        facet->polygonlist[0].numberofvertices = 3;
        facet->polygonlist[0].vertexlist = new int[3];
        memcpy(facet->polygonlist[0].vertexlist, &question.triangles[(size_t)i * 3], 3 * sizeof(int));
    }
}

// p: of surfaces; Y: that stay as they are; q: radius to edge; a: largest volume; Q: in silence.
static void Run(const Question& question, tetgenio* input, tetgenio* output)
{
    char switches[96] = "pYQ";
    if (question.ratio > 0)
        snprintf(switches + strlen(switches), 40, "q%.6f", question.ratio);
    if (question.most > 0)
        snprintf(switches + strlen(switches), 40, "a%.17g", question.most);
    tetrahedralize(switches, input, output);
}

static int Answer(const tetgenio& output)
{
    if (output.numberoftetrahedra < 1 || output.numberofcorners != 4 || output.firstnumber != 0)
        return Fail(snw_tetgenNonsense);
    PutInt(snw_tetgenDone);
    PutInt(output.numberofpoints);
    fwrite(output.pointlist, sizeof(REAL), 3 * (size_t)output.numberofpoints, s_answer);
    PutInt(output.numberoftetrahedra);
    fwrite(output.tetrahedronlist, sizeof(int), 4 * (size_t)output.numberoftetrahedra, s_answer);
    PutInt(snw_tetgenDone);
    return fflush(s_answer) == 0 ? 0 : 1;
}

// Never frees what TetGen worked on: its destructors free twice after some errors, and the program ends anyway.
static int Work()
{
    Question question;
    if (!ReadQuestion(&question))
        return Fail(snw_tetgenNonsense);
    tetgenio *input = new tetgenio, *output = new tetgenio;
    Describe(question, input);
    Run(question, input, output);
    return Answer(*output);
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
        status = Fail(snw_tetgenMemory);
    } catch (int code)
    {
        status = Fail(code);
    }
    fclose(s_answer);
    _Exit(status);
}
