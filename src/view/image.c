// Images of bytes: light to display values with a film-like shoulder and a dither, opacity where it is wanted, and
// PNG in and out.

#include "view/image.h"

#include "math/display.h"
#include "scene/file.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

snwResult snwCreateImage(snwContext* context, int width, int height, snwImage* image, snwMessage* message)
{
    *image = (snwImage){.width = width, .height = height};
    image->pixels = snwAllocArray(context, (size_t)width * (size_t)height, 3);
    return image->pixels != NULL ? snw_ok : snwFailMemory(message);
}

snwResult snwImage_AddAlpha(snwContext* context, snwImage* image, snwMessage* message)
{
    image->alpha = snwAllocArray(context, (size_t)image->width * (size_t)image->height, 1);
    return image->alpha != NULL ? snw_ok : snwFailMemory(message);
}

void snwDestroyImage(snwContext* context, snwImage* image)
{
    snwFree(context, image->pixels);
    snwFree(context, image->alpha);
    *image = (snwImage){0};
}

// Straight up to the knee, so that the colours of a scene come out as given; above it a shoulder that never clips.
static float Filmic(float x)
{
    const float knee = 0.6f;
    return x < knee ? x : knee + (1 - knee) * (1 - expf(-(x - knee) / (1 - knee)));
}

// Slow slopes would show their steps as bands. A pattern over the pixels, 0 < x < 1, breaks them up; it depends on
// the place only, so films do not flicker. Interleaved gradient noise (Jimenez 2014) has no clumps that an eye sees.
static float Dither(int x, int y)
{
    double a = 0.06711056 * x + 0.00583715 * y;
    double b = 52.9829189 * (a - (int)a);
    return 0.0005f + 0.999f * (float)(b - (int)b); // rounding cannot reach the next byte
}

static uint8_t EncodeDisplay(float x, float dither)
{
    return (uint8_t)(snwFloat_Clamp(snwDisplay_FromLightFloat(x), 0, 1) * 255 + dither);
}

static uint8_t EncodePixel(float linear, float dither)
{
    return EncodeDisplay(Filmic(linear > 0 ? linear : 0), dither);
}

void snwImage_SetPixel(snwImage* image, int x, int y, snwFloat3 linear)
{
    uint8_t* pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    float dither = Dither(x, y);
    pixel[0] = EncodePixel(linear.x, dither);
    pixel[1] = EncodePixel(linear.y, dither);
    pixel[2] = EncodePixel(linear.z, dither);
}

static float OnWhite(float linear, float cover, float light)
{
    float own = linear > 0 && cover > 1e-6f ? Filmic(linear / cover) : 0;
    return cover * own + (1 - cover) * light;
}

void snwImage_SetOnWhite(snwImage* image, int x, int y, snwFloat3 linear, float cover, float light)
{
    uint8_t* pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    float dither = Dither(x, y);
    pixel[0] = EncodeDisplay(OnWhite(linear.x, cover, light), dither);
    pixel[1] = EncodeDisplay(OnWhite(linear.y, cover, light), dither);
    pixel[2] = EncodeDisplay(OnWhite(linear.z, cover, light), dither);
}

void snwImage_SetClear(snwImage* image, int x, int y, snwFloat3 linear, float cover)
{
    size_t index = (size_t)y * (size_t)image->width + (size_t)x;
    float share = snwFloat_Clamp(cover, 0, 1);
    const float light[3] = {linear.x, linear.y, linear.z};
    image->alpha[index] = (uint8_t)(255 * share + 0.5f);
    for (int k = 0; k < 3; ++k)
        image->pixels[3 * index + (size_t)k] = share > 1e-3f ? EncodePixel(light[k] / share, 0.5f) : 0;
}

void snwImage_SetTone(snwImage* image, int x, int y, float cover)
{
    const snwFloat3 dark = {0.012f, 0.013f, 0.016f}, white = {1, 1, 1};
    snwFloat3 tone = snwFloat3_Mix(white, dark, snwFloat_Clamp(cover, 0, 1));
    uint8_t* pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    pixel[0] = EncodeDisplay(tone.x, 0.5f);
    pixel[1] = EncodeDisplay(tone.y, 0.5f);
    pixel[2] = EncodeDisplay(tone.z, 0.5f);
}

float snwImage_ToLight(float byte)
{
    const float knee = 0.6f;
    float x = snwDisplay_ToLightFloat(snwFloat_Clamp(byte / 255, 0, 1));
    return x < knee ? x : knee - (1 - knee) * logf(1 - snwFloat_Min(x - knee, 0.396f) / (1 - knee));
}

// ---------------------------------------------------------------------------------------------------------------------
// PNG

static void* PngAlloc(png_structp png, png_alloc_size_t size)
{
    return snwAllocRaw(png_get_mem_ptr(png), size);
}

static void PngFree(png_structp png, void* memory)
{
    snwFree(png_get_mem_ptr(png), memory);
}

static void PngError(png_structp png, png_const_charp text)
{
    char* kept = png_get_error_ptr(png);
    strncpy(kept, text, 127);
    png_longjmp(png, 1);
}

static void PngWarning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

// Red green blue alpha, side by side.
static void PutClearRow(png_structp png, const snwImage* image, int y, uint8_t* row)
{
    size_t first = (size_t)y * (size_t)image->width;
    for (size_t x = 0; x < (size_t)image->width; ++x)
    {
        memcpy(row + 4 * x, image->pixels + 3 * (first + x), 3);
        row[4 * x + 3] = image->alpha[first + x];
    }
    png_write_row(png, row);
}

static void PutPngRows(png_structp png, png_infop info, const snwImage* image, int effort)
{
    bool clear = image->alpha != NULL;
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
        clear ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
        PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, effort);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, effort < 5 ? PNG_FILTER_SUB : PNG_ALL_FILTERS);
    png_write_info(png, info);
    uint8_t* row = clear ? png_malloc(png, 4 * (png_alloc_size_t)image->width) : NULL; // the only one: freed below
    for (int y = 0; y < image->height; ++y)
        if (clear)
            PutClearRow(png, image, y, row);
        else
            png_write_row(png, image->pixels + 3 * (size_t)image->width * (size_t)y);
    png_write_end(png, info);
    png_free(png, row);
}

// Returns with the reason in text if libpng gave up; it leaves by longjmp, so nothing here is changed after setjmp.
static bool WriteStream(snwContext* context, const snwImage* image, FILE* file, int effort, char text[128])
{
    png_structp png = png_create_write_struct_2(
        PNG_LIBPNG_VER_STRING, text, PngError, PngWarning, context, PngAlloc, PngFree);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;

    if (info == NULL)
    {
        png_destroy_write_struct(&png, NULL);
        return false;
    }

    // libpng comes back here after an error.
    if (setjmp(png_jmpbuf(png)) != 0)
    {
        png_destroy_write_struct(&png, &info);
        return false;
    }

    png_init_io(png, file);
    PutPngRows(png, info, image, effort);
    png_destroy_write_struct(&png, &info);
    return true;
}

snwResult snwImage_WritePng(
    snwContext* context, const snwImage* image, const char* path, int effort, bool overwrite, snwMessage* message)
{
    snwPartFile output;
    snwResult result = snwPartFile_Open(&output, context, path, overwrite, message);
    if (result < 0)
        return result;
    char text[128] = "no memory";
    errno = 0;
    if (WriteStream(context, image, output.stream, effort, text))
        return snwPartFile_Commit(&output, message);
    int error = ferror(output.stream) ? errno : 0;
    snwPartFile_Drop(&output);
    if (error != 0)
        return snwFailSystem(message, error, "write", path);
    result = snwFail(message, snw_errorIo, "free some memory or disk space", "cannot write the picture: %s", text);
    snwMessage_SetFile(message, path);
    return result;
}

static snwResult FailReadPicture(const char* path, const char* remedy, const char* text, snwMessage* message)
{
    snwResult result = snwFail(message, snw_errorInput, remedy, "cannot read the picture: %s", text);
    snwMessage_SetFile(message, path);
    return result;
}

snwResult snwImage_ReadPng(snwContext* context, const char* path, snwImage* image, snwMessage* message)
{
    png_image read = {.version = PNG_IMAGE_VERSION};
    png_color black = {0};
    *image = (snwImage){0};
    errno = 0;
    if (png_image_begin_read_from_file(&read, path) == 0)
        return errno != 0 ? snwFailSystem(message, errno, "read", path)
                          : FailReadPicture(path, "give a PNG file", read.message, message);

    // Too large a picture would only be read to be refused later.
    snwResult result = snw_ok;
    if (read.width > 8192 || read.height > 8192)
        result = FailReadPicture(path, "at most 8192 pixels each way", "it is too large", message);
    if (result >= 0)
        result = snwCreateImage(context, (int)read.width, (int)read.height, image, message);

    // Three bytes per pixel; what is clear is black.
    read.format = PNG_FORMAT_RGB;
    if (result >= 0 && png_image_finish_read(&read, &black, image->pixels, 0, NULL) == 0)
        result = FailReadPicture(path, "give a whole PNG file", read.message, message);
    png_image_free(&read);
    if (result < 0)
        snwDestroyImage(context, image);

    return result;
}
