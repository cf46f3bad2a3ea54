// Aligned tables for people.

#pragma once

#include <stdbool.h>
#include <stdio.h>

enum
{
    snw_maxColumns = 24,
    snw_maxCell = 96 // bytes with the ending zero; longer text is cut
};

typedef struct snwTextTable
{
    char (*cells)[snw_maxCell]; // rows x columns; the first row is the head
    int columns, rows, capacity;
    bool left[snw_maxColumns]; // text to the left; numbers to the right
    bool failed;               // no memory; what is there still prints
} snwTextTable;

// heads: column titles; a leading '<' puts the column to the left.
snwTextTable snwTextTable_Start(const char* const* heads, int columns);
void snwTextTable_AddRow(snwTextTable* table);
void snwTextTable_Set(snwTextTable* table, int column, const char* format, ...) __attribute__((format(printf, 3, 4)));
void snwTextTable_Print(const snwTextTable* table, FILE* file);
void snwTextTable_WriteCsv(const snwTextTable* table, FILE* file);
void snwTextTable_Free(snwTextTable* table);

// Four significant digits, without an exponent where people would not write one; "-" if it is not finite.
void snwFormatNumber(double value, char* buffer, size_t capacity);
