// Tables of text: columns as wide as they need, to the left or right as their head says, and the same as CSV.

#include "app/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void FillTextCell(snwTextTable* table, int column, const char* text)
{
    if (table->failed)
        return;
    char* cell = table->cells[(table->rows - 1) * table->columns + column];
    snprintf(cell, snw_maxCell, "%s", text);
}

snwTextTable snwTextTable_Start(const char* const* heads, int columns)
{
    snwTextTable table = {.columns = columns};
    snwTextTable_AddRow(&table);
    for (int i = 0; i < columns; ++i)
    {
        table.left[i] = heads[i][0] == '<';
        FillTextCell(&table, i, heads[i] + table.left[i]);
    }
    return table;
}

void snwTextTable_AddRow(snwTextTable* table)
{
    if (table->rows == table->capacity)
    {
        int capacity = table->capacity * 2 + 8;
        void* cells = realloc(table->cells, (size_t)capacity * (size_t)table->columns * snw_maxCell);
        table->failed = table->failed || cells == NULL;
        if (cells == NULL)
            return;
        table->cells = cells;
        table->capacity = capacity;
    }
    table->rows++;
    memset(table->cells[(table->rows - 1) * table->columns], 0, (size_t)table->columns * snw_maxCell);
}

void snwTextTable_Set(snwTextTable* table, int column, const char* format, ...)
{
    char text[snw_maxCell];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    FillTextCell(table, column, text);
}

static int ColumnWidth(const snwTextTable* table, int column)
{
    int width = 0;
    for (int i = 0; i < table->rows; ++i)
    {
        int length = (int)strlen(table->cells[i * table->columns + column]);
        width = length > width ? length : width;
    }
    return width;
}

static void PrintRow(const snwTextTable* table, int row, const int* widths, FILE* file)
{
    int last = table->columns - 1; // no blanks at the end of a line
    while (last > 0 && table->cells[row * table->columns + last][0] == 0)
        --last;
    for (int i = 0; i <= last; ++i)
    {
        const char* text = table->cells[row * table->columns + i];
        int width = i == last && table->left[i] ? 0 : widths[i];
        fprintf(file, "%s%*s", i > 0 ? "  " : "", table->left[i] ? -width : width, text);
    }
    fputc('\n', file);
}

void snwTextTable_Print(const snwTextTable* table, FILE* file)
{
    int widths[snw_maxColumns] = {0};
    for (int i = 0; i < table->columns; ++i)
        widths[i] = ColumnWidth(table, i);
    for (int row = 0; row < table->rows; ++row)
        PrintRow(table, row, widths, file);
}

// No cell has a comma, a quote or a line break: they are numbers and words of ours.
void snwTextTable_WriteCsv(const snwTextTable* table, FILE* file)
{
    for (int row = 0; row < table->rows; ++row)
        for (int i = 0; i < table->columns; ++i)
            fprintf(file, "%s%c", table->cells[row * table->columns + i], i + 1 < table->columns ? ',' : '\n');
}

void snwTextTable_Free(snwTextTable* table)
{
    free(table->cells);
    *table = (snwTextTable){0};
}

void snwFormatNumber(double value, char* buffer, size_t capacity)
{
    double size = fabs(value);
    if (!isfinite(value))
        snprintf(buffer, capacity, "-");
    else if ((value == floor(value) && size < 1e9) || (size >= 1000 && size < 1e7))
        snprintf(buffer, capacity, "%.0f", value);
    else
        snprintf(buffer, capacity, "%.4g", value);
}
