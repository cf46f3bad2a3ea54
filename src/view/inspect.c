// What a viewer would say of a picture or a film: nothing to see, too bright, too small or too large, nothing moves.
// Used on everything that is drawn, and on folders of pictures.

#include "view/inspect.h"

#include "base/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A picture is judged by these. They are wide: a warning should mean something.
static const double s_leastShare = 5e-4; // of the pixels; less is nothing to see
static const double s_mostWhite = 0.5;   // of the pixels
static const double s_mostStill = 0.6;   // of the frames: a body that comes to rest may stay so a while
static const double s_leastFill = 0.15, s_mostFill = 0.7; // of the picture

enum
{
    snw_whiteByte = 250,
    snw_subjectStep = 26, // of a byte, from the background
    snw_changeStep = 3,   // of a byte, from the frame before
};

static int DifferenceOfPixels(const uint8_t* a, const uint8_t* b)
{
    int most = 0;
    for (int k = 0; k < 3; ++k)
        most = abs(a[k] - b[k]) > most ? abs(a[k] - b[k]) : most;
    return most;
}

// ---------------------------------------------------------------------------------------------------------------------
// The subject

static void Mean(const uint8_t* pixels, int count, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < 3 * count; ++i)
        mean[i % 3] += pixels[i] / (double)count;
}

static void GrowBox(snwSubject* subject, int left, int top, int right, int bottom)
{
    bool empty = subject->right <= subject->left;
    subject->left = empty || left < subject->left ? left : subject->left;
    subject->top = empty || top < subject->top ? top : subject->top;
    subject->right = empty || right > subject->right ? right : subject->right;
    subject->bottom = empty || bottom > subject->bottom ? bottom : subject->bottom;
}

snwSubject snwSubject_Guess(const snwImage* image)
{
    snwSubject subject = {0};
    int width = image->width, border = width / 32 + 1;
    long count = 0;

    // The background of a row runs from its left border to its right one; what differs is the subject.
    for (int y = 0; y < image->height; ++y)
    {
        const uint8_t* row = image->pixels + 3 * (size_t)width * (size_t)y;
        double left[3], right[3];
        Mean(row, border, left);
        Mean(row + 3 * (size_t)(width - border), border, right);

        for (int x = 0; x < width; ++x)
        {
            // The background here, on a straight line between both borders.
            double t = (x + 0.5) / width;
            uint8_t ground[3];
            for (int k = 0; k < 3; ++k)
                ground[k] = (uint8_t)(left[k] + t * (right[k] - left[k]) + 0.5);
            if (DifferenceOfPixels(row + 3 * (size_t)x, ground) < snw_subjectStep)
                continue;

            count++;
            GrowBox(&subject, x, y, x + 1, y + 1);
        }
    }

    subject.share = (double)count / ((double)width * image->height);
    return subject;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static double WhiteShare(const snwImage* image)
{
    size_t count = (size_t)image->width * (size_t)image->height, white = 0;
    for (size_t i = 0; i < count; ++i)
    {
        const uint8_t* p = image->pixels + 3 * i;
        white += p[0] >= snw_whiteByte && p[1] >= snw_whiteByte && p[2] >= snw_whiteByte;
    }
    return (double)white / (double)count;
}

static bool IsStillImage(const snwImage* a, const snwImage* b)
{
    if (a->width != b->width || a->height != b->height)
        return false;
    size_t count = (size_t)a->width * (size_t)a->height, changed = 0;
    for (size_t i = 0; i < count; ++i)
        changed += DifferenceOfPixels(a->pixels + 3 * i, b->pixels + 3 * i) > snw_changeStep;
    return changed * 10000 <= count;
}

static snwResult RememberImage(snwInspector* inspector, const snwImage* image, snwMessage* message)
{
    snwImage* previous = &inspector->previous;
    if (previous->width != image->width || previous->height != image->height || previous->pixels == NULL)
    {
        snwDestroyImage(inspector->context, previous);
        snwResult result = snwCreateImage(inspector->context, image->width, image->height, previous, message);
        if (result < 0)
            return result;
    }
    memcpy(previous->pixels, image->pixels, 3 * (size_t)image->width * (size_t)image->height);
    return snw_ok;
}

snwResult snwInspector_Add(
    snwInspector* inspector, const snwImage* image, const snwSubject* subject, snwMessage* message)
{
    snwFilmCheck* check = &inspector->check;
    bool first = check->frames == 0;
    double share = subject->share;
    check->frames++;
    check->emptyFrames += share < s_leastShare;
    check->brightFrames += WhiteShare(image) > s_mostWhite;
    check->stillFrames += !first && IsStillImage(&inspector->previous, image);
    check->leastSubject = first || share < check->leastSubject ? share : check->leastSubject;
    check->mostSubject = share > check->mostSubject ? share : check->mostSubject;
    inspector->shares += share;
    if (subject->right > subject->left)
        GrowBox(&inspector->all, subject->left, subject->top, subject->right, subject->bottom);
    const snwSubject* all = &inspector->all;
    check->fill = (double)(all->right - all->left) * (all->bottom - all->top) / ((double)image->width * image->height);
    return RememberImage(inspector, image, message);
}

snwFilmCheck snwInspector_End(const snwInspector* inspector)
{
    snwFilmCheck check = inspector->check;
    if (check.frames == 0)
        return check;
    check.meanSubject = inspector->shares / check.frames;
    check.faults |= check.emptyFrames > 0 ? snw_faultEmpty : 0;
    check.faults |= check.brightFrames > 0 ? snw_faultBright : 0;
    check.faults |= check.frames > 1 && check.stillFrames > s_mostStill * (check.frames - 1) ? snw_faultStill : 0;
    check.faults |= check.emptyFrames < check.frames && check.fill < s_leastFill ? snw_faultSmall : 0;
    check.faults |= check.fill > s_mostFill ? snw_faultLarge : 0;
    return check;
}

void snwInspector_Free(snwInspector* inspector)
{
    snwDestroyImage(inspector->context, &inspector->previous);
}

int snwFilmCheck_Format(const snwFilmCheck* check, char* text, size_t capacity)
{
    if ((check->faults & snw_faultEmpty) != 0)
        return snprintf(text, capacity, "nothing is to be seen in %d of %d frames", check->emptyFrames, check->frames);
    if ((check->faults & snw_faultBright) != 0)
        return snprintf(text, capacity, "%d of %d frames are over-exposed", check->brightFrames, check->frames);
    if ((check->faults & snw_faultStill) != 0)
        return snprintf(text, capacity, "%d of %d frames are like the one before", check->stillFrames, check->frames);
    if ((check->faults & (snw_faultSmall | snw_faultLarge)) != 0)
        return snprintf(text, capacity, "the subject fills %.0f %% of the picture; %.0f to %.0f are good",
            100 * check->fill, 100 * s_leastFill, 100 * s_mostFill);
    return snprintf(text, capacity, "%s", "");
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static snwResult AddInspected(snwInspector* inspector, const char* path, snwMessage* message)
{
    snwImage image = {0};
    snwResult result = snwImage_ReadPng(inspector->context, path, &image, message);
    if (result >= 0)
    {
        snwSubject subject = snwSubject_Guess(&image);
        result = snwInspector_Add(inspector, &image, &subject, message);
    }
    snwDestroyImage(inspector->context, &image);
    return result;
}

typedef snwArray(char*) Names;

static int CompareNames(const void* a, const void* b)
{
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static bool IsPng(const char* name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".png") == 0;
}

// Whole paths, sorted.
static snwResult ListFolder(snwContext* context, const char* path, DIR* folder, Names* names, snwMessage* message)
{
    // Pictures only, by their ending.
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder))
    {
        if (!IsPng(entry->d_name))
            continue;
        size_t capacity = strlen(path) + strlen(entry->d_name) + 2;
        char* name = snwAlloc(context, capacity);
        if (name != NULL)
            snprintf(name, capacity, "%s/%s", path, entry->d_name);
        if (name == NULL || !snwArray_Push(context, names, name))
        {
            snwFree(context, name);
            return snwFailMemory(message);
        }
    }

    if (names->count == 0)
    {
        snwFail(message, snw_errorIo, "a folder of numbered PNG files", "there are no pictures in it");
        snwMessage_SetFile(message, path);
        return snw_errorIo;
    }

    qsort(names->data, (size_t)names->count, sizeof *names->data, CompareNames);
    return snw_ok;
}

static snwResult AddFolder(snwInspector* inspector, const char* path, DIR* folder, snwMessage* message)
{
    Names names = {0};
    snwResult result = ListFolder(inspector->context, path, folder, &names, message);
    for (int i = 0; result >= 0 && i < names.count; ++i)
        result = AddInspected(inspector, names.data[i], message);
    for (int i = 0; i < names.count; ++i)
        snwFree(inspector->context, names.data[i]);
    snwArray_Free(inspector->context, &names);
    return result;
}

snwResult snwInspectFiles(snwContext* context, const char* path, snwFilmCheck* check, snwMessage* message)
{
    snwInspector inspector = {.context = context};
    DIR* folder = opendir(path);
    snwResult result = folder != NULL ? AddFolder(&inspector, path, folder, message)
                                      : AddInspected(&inspector, path, message);
    if (folder != NULL)
        closedir(folder);
    *check = snwInspector_End(&inspector);
    snwInspector_Free(&inspector);
    return result;
}
