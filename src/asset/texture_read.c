// Pictures as pixels: PNG, JPEG (libjpeg-turbo) and WebP, told by their first bytes whatever a file calls them.
//
// None is trusted. Sizes are read and refused before memory is asked for; libjpeg's errors come back by longjmp; a
// progressive JPEG may have as many scans as honest ones do. libjpeg and libwebp have allocators of their own, which
// hold at most eight bytes a pixel while they work.

#include "asset/texture.h"
#include "base/result.h"
#include "sim/limits.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h> // before jpeglib.h, which needs FILE

#include <jpeglib.h>
#include <string.h>
#include <webp/decode.h>

enum
{
    snw_maxPicturePixels = 1 << 26,
    snw_maxScans = 200, // of a JPEG; encoders make some ten
};

const char* snwTexture_Kind(const void* data, size_t size)
{
    if (size >= 8 && memcmp(data, "\x89PNG\r\n\x1A\n", 8) == 0)
        return "image/png";
    if (size >= 3 && memcmp(data, "\xFF\xD8\xFF", 3) == 0)
        return "image/jpeg";
    if (size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp((const char*)data + 8, "WEBP", 4) == 0)
        return "image/webp";
    if (size >= 12 && memcmp(data, "\xABKTX 20\xBB\r\n\x1A\n", 12) == 0)
        return "image/ktx2";
    return NULL;
}

// Room for the pixels, if there are not too many.
static snwResult MakePixelRoom(snwArena* arena, int64_t width, int64_t height, snwTexture* texture, snwMessage* message)
{
    if (width < 1 || height < 1 || width > SNW_MAX_TEXTURE || height > SNW_MAX_TEXTURE ||
        width * height > snw_maxPicturePixels)
        return snwFail(message, snw_errorInput, "scale it down",
            "a picture of %lld x %lld pixels is too large: at most %d each way, %d million in all", (long long)width,
            (long long)height, SNW_MAX_TEXTURE, snw_maxPicturePixels >> 20);
    *texture = (snwTexture){(int)width, (int)height, snwArena_Alloc(arena, (size_t)(width * height), 4)};
    return texture->pixels != NULL ? snw_ok : snwFailMemory(message);
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult ReadPng(snwArena* arena, const void* data, size_t size, snwTexture* texture, snwMessage* message)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, size))
        return snwFail(message, snw_errorInput, NULL, "a damaged PNG picture: %s", image.message);
    image.format = PNG_FORMAT_RGBA;
    snwResult result = MakePixelRoom(arena, image.width, image.height, texture, message);
    if (result >= 0 && !png_image_finish_read(&image, NULL, (void*)(uintptr_t)texture->pixels, 0, NULL))
        result = snwFail(message, snw_errorInput, NULL, "a damaged PNG picture: %s", image.message);
    png_image_free(&image);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// JPEG

typedef struct Jpeg
{
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    char words[JMSG_LENGTH_MAX];
    snwResult result;
} Jpeg;

static void LeaveJpeg(j_common_ptr info)
{
    Jpeg* jpeg = info->client_data;
    info->err->format_message(info, jpeg->words);
    longjmp(jpeg->back, 1);
}

// Warnings are printed nowhere: what a picture that is cut still has is shown, as browsers do.
static void HearJpeg(j_common_ptr info, int level)
{
    (void)info, (void)level;
}

static void CountScans(j_common_ptr info)
{
    Jpeg* jpeg = info->client_data;
    if (jpeg->info.input_scan_number <= snw_maxScans)
        return;
    snprintf(jpeg->words, sizeof jpeg->words, "more than %d scans", snw_maxScans);
    longjmp(jpeg->back, 1);
}

// Adobe's programs write inks upside down, and nobody else writes inks.
static void MixInks(uint8_t* pixels, int width)
{
    for (int i = 0; i < width; ++i, pixels += 4)
    {
        for (int k = 0; k < 3; ++k)
            pixels[k] = (uint8_t)((pixels[k] * pixels[3] + 127) / 255);
        pixels[3] = 255;
    }
}

static snwResult ReadJpeg(snwArena* arena, const void* data, size_t size, snwTexture* texture, snwMessage* message)
{
    Jpeg jpeg = {.result = snw_ok};
    struct jpeg_decompress_struct* info = &jpeg.info;

    // Errors come back here, from however deep.
    info->err = jpeg_std_error(&jpeg.errors);
    info->client_data = &jpeg;
    jpeg.errors.error_exit = LeaveJpeg;
    jpeg.errors.emit_message = HearJpeg;
    jpeg.progress.progress_monitor = CountScans;
    if (setjmp(jpeg.back) != 0)
    {
        jpeg_destroy_decompress(info);
        return snwFail(message, snw_errorInput, NULL, "a damaged JPEG picture: %s", jpeg.words);
    }

    jpeg_create_decompress(info);
    info->progress = &jpeg.progress;
    jpeg_mem_src(info, data, (unsigned long)size);
    jpeg_read_header(info, TRUE);

    // Printers' inks are mixed to light afterwards.
    bool inks = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = inks ? JCS_CMYK : JCS_EXT_RGBA;
    jpeg.result = MakePixelRoom(arena, info->image_width, info->image_height, texture, message);
    if (jpeg.result >= 0)
    {
        jpeg_start_decompress(info);
        while (info->output_scanline < info->output_height)
        {
            uint8_t* row = (uint8_t*)(uintptr_t)texture->pixels +
                           4 * (size_t)texture->width * (size_t)info->output_scanline;
            jpeg_read_scanlines(info, &row, 1);
            if (inks)
                MixInks(row, texture->width);
        }
    }

    jpeg_destroy_decompress(info);
    return jpeg.result;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult ReadWebp(snwArena* arena, const void* data, size_t size, snwTexture* texture, snwMessage* message)
{
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(data, size, &features) != VP8_STATUS_OK)
        return snwFail(message, snw_errorInput, NULL, "a damaged WebP picture");
    if (features.has_animation)
        return snwFail(message, snw_errorInput, "export one frame of it", "a WebP picture that moves");
    snwResult result = MakePixelRoom(arena, features.width, features.height, texture, message);
    if (result < 0)
        return result;
    size_t row = 4 * (size_t)texture->width;
    return WebPDecodeRGBAInto(
               data, size, (uint8_t*)(uintptr_t)texture->pixels, row * (size_t)texture->height, (int)row) != NULL
               ? snw_ok
               : snwFail(message, snw_errorInput, NULL, "a damaged WebP picture");
}

snwResult snwTexture_Read(snwArena* arena, const void* data, size_t size, snwTexture* texture, snwMessage* message)
{
    static const struct
    {
        const char* kind;
        snwResult (*read)(snwArena* arena, const void* data, size_t size, snwTexture* texture, snwMessage* message);
    } s_readers[] = {{"image/png", ReadPng}, {"image/jpeg", ReadJpeg}, {"image/webp", ReadWebp}};
    const char* kind = snwTexture_Kind(data, size);
    *texture = (snwTexture){0};
    for (size_t i = 0; kind != NULL && i < sizeof s_readers / sizeof *s_readers; ++i)
        if (strcmp(kind, s_readers[i].kind) == 0)
            return s_readers[i].read(arena, data, size, texture, message);
    return snwFail(message, snw_errorInput, "save it as PNG, JPEG or WebP", "not a picture that can be read%s%s",
        kind != NULL ? ": " : "", kind != NULL ? kind : "");
}
