// Pages that name things of the source are held against it: tests, folders.

#include "base/ending.h"
#include "process.h"
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

// Copies `module.name` out of the page; false if the quoted text has another form (a file, a fuzz target ...).
static bool TestName(const char* start, const char* end, char* name, size_t capacity)
{
    size_t length = (size_t)(end - start), dots = 0;
    if (length == 0 || length >= capacity)
        return false;
    for (size_t i = 0; i < length; ++i)
    {
        dots += start[i] == '.';
        if (start[i] != '.' && !isalnum((unsigned char)start[i]))
            return false;
        name[i] = start[i];
    }
    name[length] = 0;
    return dots == 1;
}

TEST(docs, featuresNameTestsThatExist)
{
    char* page = snwReadWhole(SNW_SOURCE_DIR "/docs/features.md");
    REQUIRE(page != NULL);
    int count = 0;
    for (const char* tick = strchr(page, '`'); tick != NULL; tick = strchr(tick, '`'))
    {
        const char* end = strchr(tick + 1, '`');
        REQUIRE(end != NULL);
        char name[128];
        if (TestName(tick + 1, end, name, sizeof name))
        {
            count++;
            if (!snwTest_Exists(name))
                snwTest_Fail(__FILE__, __LINE__, "there is no test %s", name);
        }
        tick = end + 1;
    }
    CHECK(count > 80);
    free(page);
}

// ---------------------------------------------------------------------------------------------------------------------
// The tour of the source

enum
{
    tour_maxFolders = 64,
    tour_maxName = 32,
};

// Folders of src in the order of README's table: each may include what stands above it.
typedef struct Tour
{
    char names[tour_maxFolders][tour_maxName];
    int count;
} Tour;

static int Tour_Find(const Tour* tour, const char* name, size_t length)
{
    int at = tour->count - 1;
    while (at >= 0 && (strncmp(tour->names[at], name, length) != 0 || tour->names[at][length] != 0))
        --at;
    return at;
}

static bool ReadTour(Tour* tour)
{
    char* page = snwReadWhole(SNW_SOURCE_DIR "/README.md");
    if (page == NULL)
        return false;
    for (const char* row = strstr(page, "`src/"); row != NULL; row = strstr(row, "`src/"))
    {
        row += strlen("`src/");
        size_t length = strcspn(row, "/`");
        if (strncmp(row + length, "/`", 2) == 0 && length < tour_maxName && tour->count < tour_maxFolders)
            snprintf(tour->names[tour->count++], tour_maxName, "%.*s", (int)length, row);
    }
    free(page);
    return true;
}

// Every include of another folder of src names one that the tour has above its own.
static int CheckIncludes(const Tour* tour, int own, const char* path)
{
    int count = 0;
    char* text = snwReadWhole(path);
    for (const char* at = text; at != NULL && (at = strstr(at, "#include \"")) != NULL;)
    {
        at += strlen("#include \"");
        size_t length = strcspn(at, "/\"\n");
        int folder = at[length] == '/' ? Tour_Find(tour, at, length) : -1;
        if (folder > own)
            snwTest_Fail(path, 1, "includes %.*s, which stands below it in README's tour", (int)length, at);
        count += folder >= 0;
    }
    free(text);
    return count;
}

static int CheckFolder(const Tour* tour, int own, const char* folder)
{
    int count = 0;
    DIR* list = opendir(folder);
    for (struct dirent* entry; list != NULL && (entry = readdir(list)) != NULL;)
    {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        bool source = snwHasEnding(path, ".c") || snwHasEnding(path, ".h") || snwHasEnding(path, ".cpp");
        count += source ? CheckIncludes(tour, own, path) : CheckFolder(tour, own, path);
    }
    if (list != NULL)
        closedir(list);
    return count;
}

TEST(docs, theTourHasEveryFolderInTheOrderOfItsIncludes)
{
    static Tour tour;
    tour = (Tour){0};
    REQUIRE(ReadTour(&tour));
    int count = 0;
    DIR* list = opendir(SNW_SOURCE_DIR "/src");
    REQUIRE(list != NULL);
    for (struct dirent* entry; (entry = readdir(list)) != NULL;)
    {
        char path[1024];
        snprintf(path, sizeof path, SNW_SOURCE_DIR "/src/%s", entry->d_name);
        int own = Tour_Find(&tour, entry->d_name, strlen(entry->d_name));
        if (entry->d_name[0] == '.')
            continue;
        if (own < 0)
            snwTest_Fail(path, 1, "README's tour does not name it");
        else
            count += CheckFolder(&tour, own, path);
    }
    closedir(list);
    CHECK(count > 1000);
}
