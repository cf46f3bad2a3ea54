// Pictures of files as pixels: PNG, JPEG, WebP; and what becomes of damaged ones.

#include "fixture.h"
#include "prepare_world.h"
#include "test.h"

#include "asset/texture.h"
#include "sim/limits.h"

#include <stdio.h> // before jpeglib.h, which needs FILE

#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

enum
{
    snw_textureWide = 64,
    snw_textureHigh = 16
};

// Red on the left, blue on the right.
static void Paint(uint8_t (*pixels)[3])
{
    for (int i = 0; i < snw_textureWide * snw_textureHigh; ++i)
    {
        bool left = i % snw_textureWide < snw_textureWide / 2;
        pixels[i][0] = left ? 250 : 10;
        pixels[i][1] = 20;
        pixels[i][2] = left ? 10 : 250;
    }
}

typedef struct JpegWays
{
    bool progressive, grey, inks;
} JpegWays;

static snwGltfBytes EncodeJpeg(JpegWays ways)
{
    static uint8_t s_pixels[snw_textureWide * snw_textureHigh][3];
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    unsigned char* data = NULL;
    unsigned long size = 0;
    Paint(s_pixels);
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &data, &size);
    info.image_width = snw_textureWide;
    info.image_height = snw_textureHigh;
    info.input_components = ways.inks ? 4 : ways.grey ? 1 : 3;
    info.in_color_space = ways.inks ? JCS_CMYK : ways.grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 95, TRUE);
    if (ways.progressive)
        jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    for (int y = 0; y < snw_textureHigh; ++y)
    {
        uint8_t row[4 * snw_textureWide], *rows = row;
        for (int x = 0; x < snw_textureWide; ++x)
            for (int k = 0; k < info.input_components; ++k) // inks are upside down, and there is no black
                row[x * info.input_components + k] = k == 3 ? 255 : s_pixels[y * snw_textureWide + x][k];
        jpeg_write_scanlines(&info, &rows, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return (snwGltfBytes){(char*)data, size};
}

static snwGltfBytes EncodeWebp(void)
{
    static uint8_t s_pixels[snw_textureWide * snw_textureHigh][3];
    uint8_t* data = NULL;
    Paint(s_pixels);
    size_t size = WebPEncodeLosslessRGB(s_pixels[0], snw_textureWide, snw_textureHigh, 3 * snw_textureWide, &data);
    snwGltfBytes bytes = {malloc(size), size};
    memcpy(bytes.data, data, size);
    WebPFree(data);
    return bytes;
}

// The largest difference of a channel to what was painted; 256 if it could not be read.
static int Difference(snwGltfBytes bytes, bool grey)
{
    static uint8_t s_pixels[snw_textureWide * snw_textureHigh][3];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTexture texture;
    snwMessage message = {0};
    int most = 256;
    Paint(s_pixels);
    if (snwTexture_Read(&arena, bytes.data, bytes.size, &texture, &message) >= 0 && texture.width == snw_textureWide &&
        texture.height == snw_textureHigh)
    {
        most = 0;
        for (int i = 0; i < 4 * snw_textureWide * snw_textureHigh; ++i)
        {
            int wanted = i % 4 == 3 ? 255 : s_pixels[i / 4][grey ? 0 : i % 4];
            int off = abs(texture.pixels[i] - wanted);
            bool seam = abs(i / 4 % snw_textureWide - snw_textureWide / 2) < 9; // a block smears colours
            most = off > most && !seam ? off : most;
        }
    }
    snwArena_Free(&arena);
    snwDestroyContext(context);
    free(bytes.data);
    return most;
}

TEST(texture, everyKindOfPictureGivesItsPixels)
{
    CHECK(Difference(EncodeJpeg((JpegWays){0}), false) <= 3);
    CHECK(Difference(EncodeJpeg((JpegWays){.progressive = true}), false) <= 3);
    CHECK(Difference(EncodeJpeg((JpegWays){.grey = true}), true) <= 3);
    CHECK(Difference(EncodeJpeg((JpegWays){.inks = true}), false) <= 3);
    CHECK_INT(Difference(EncodeWebp(), false), 0);
}

// Reads it and gives all back; 1 if it was read, 0 if it was refused with words.
static int Try(const void* data, size_t size)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwArena arena = {.context = context};
    snwTexture texture;
    snwMessage message = {0};
    snwResult result = snwTexture_Read(&arena, data, size, &texture, &message);
    CHECK((result < 0) == (message.text[0] != 0));
    snwArena_Free(&arena);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
    return result >= 0;
}

TEST(texture, damagedPicturesAreReadOrRefusedWithWords)
{
    snwGltfBytes files[3] = {EncodeJpeg((JpegWays){0}), EncodeJpeg((JpegWays){.progressive = true}), EncodeWebp()};
    for (int f = 0; f < 3; ++f)
    {
        unsigned char* copy = malloc(files[f].size);
        uint32_t random = 1;
        for (size_t size = 0; size < files[f].size; size += 1 + size / 16)
        {
            memcpy(copy, files[f].data, size); // its own bytes: what reads behind them is seen by AddressSanitizer
            Try(copy, size);
        }
        int refused = 0;
        for (int i = 0; i < 200; ++i)
        {
            memcpy(copy, files[f].data, files[f].size);
            for (int k = 0; k < 3; ++k)
            {
                random = random * 1664525u + 1013904223u;
                copy[(random >> 8) % files[f].size] = (unsigned char)(random >> 24);
            }
            refused += !Try(copy, files[f].size);
        }
        CHECK(refused > 10);
        free(copy);
        free(files[f].data);
    }
    CHECK_INT(Try("\xFF\xD8\xFF", 3), 0);
    CHECK_INT(Try("GIF89a", 6), 0);
}

TEST(texture, sizesAreRefusedBeforeMemoryIsAskedFor)
{
    snwGltfBytes file = EncodeJpeg((JpegWays){.progressive = true});
    bool found = false;
    for (size_t i = 0; i + 8 < file.size && !found; ++i)
        if ((unsigned char)file.data[i] == 0xFF && (unsigned char)file.data[i + 1] == 0xC2) // the frame's header
        {
            memcpy(file.data + i + 5, "\xFF\x00\xFF\x00", 4); // 65280 x 65280
            found = true;
        }
    REQUIRE(found);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTexture texture;
    snwMessage message = {0};
    CHECK_INT(snwTexture_Read(&arena, file.data, file.size, &texture, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "65280 x 65280");
    CHECK(arena.first == NULL);
    snwDestroyContext(context);
    free(file.data);
}

// ---------------------------------------------------------------------------------------------------------------------

static void Save(const char* path, const void* data, size_t size)
{
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL && fwrite(data, 1, size, file) == size);
    fclose(file);
}

// As a buffer view whose type is wrongly said, as EXT_texture_webp beside a source that nobody reads, and as a file
// whose name has a blank.
TEST(texture, surfacesAreShownWithJpegAndWebp)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char picture[600], path[600];
    for (int way = 0; way < 3; ++way)
    {
        snwGltfBytes bytes = way == 0 ? EncodeJpeg((JpegWays){0}) : EncodeWebp();
        snprintf(picture, sizeof picture, "%s/my skin.webp", snwTest_TempDir());
        Save(picture, bytes.data, bytes.size);
        free(bytes.data);
        snwPrepareWorld world = {.png = picture};
        snwGltfWorld file = snwPrepareWorld_Make(&world);
        if (way == 1)
        {
            snwGltfWorld_Set(&file, "images/1", "{'uri': 'absent.ktx2'}");
            snwGltfWorld_Set(&file, "textures/0", "{'source': 1, 'extensions': {'EXT_texture_webp': {'source': 0}}}");
            snwGltfWorld_Set(&file, "extensionsUsed", "['EXT_texture_webp']");
        }
        if (way == 2)
            snwGltfWorld_Set(&file, "images/0", "{'uri': 'my%20skin.webp'}");
        snwGltfBytes glb = snwGltfWorld_Glb(&file);
        snprintf(path, sizeof path, "%s/shown.glb", snwTest_TempDir());
        Save(path, glb.data, glb.size);
        free(glb.data);
        snwGltfWorld_Free(&file);

        snwPrepareReport report;
        snwPrepared* prepared = snwPrepareWorld_Prepare(context, path, &report);
        REQUIRE(prepared != NULL);
        CHECK_INT(snwPrepared_GetInfo(prepared).textureCount, 1);
        CHECK_INT(snwPrepared_GetTexture(prepared, 0).width, snw_textureWide);
        CHECK_INT(snwPrepared_GetSurface(prepared, 0)->parts->texture, 0);
        snwPrepared_Release(prepared);
    }
    snwDestroyContext(context);
}
