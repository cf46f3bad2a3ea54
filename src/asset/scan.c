#include "asset/scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

snwScan snwMakeScan(const char* data, size_t size, char comment)
{
    return (snwScan){.next = data, .end = data + size, .line = 1, .comment = comment};
}

// ---------------------------------------------------------------------------------------------------------------------
// Words

static bool IsBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void SkipBlanks(snwScan* scan)
{
    while (scan->next < scan->end && IsBlank(*scan->next))
        scan->next += 1;
    if (scan->comment != 0 && scan->next < scan->end && *scan->next == scan->comment)
        while (scan->next < scan->end && *scan->next != '\n')
            scan->next += 1;
}

static bool IsInWord(const snwScan* scan, const char* at)
{
    return at < scan->end && !IsBlank(*at) && *at != '\n' && *at != 0 && (scan->comment == 0 || *at != scan->comment);
}

snwWord snwScan_PeekInLine(snwScan* scan)
{
    SkipBlanks(scan);
    const char* last = scan->next;
    while (IsInWord(scan, last))
        last += 1;
    ptrdiff_t size = last - scan->next;
    return (snwWord){scan->next, size > 65536 ? 65536 : (int)size};
}

snwWord snwScan_WordInLine(snwScan* scan)
{
    snwWord word = snwScan_PeekInLine(scan);
    scan->next += word.size;
    return word;
}

bool snwScan_SkipLine(snwScan* scan)
{
    const char* feed = memchr(scan->next, '\n', (size_t)(scan->end - scan->next));
    if (feed == NULL)
    {
        scan->next = scan->end;
        return false;
    }
    scan->next = feed + 1;
    scan->line += 1;
    return true;
}

bool snwScan_IsAtEnd(snwScan* scan)
{
    for (;;)
    {
        SkipBlanks(scan);
        if (scan->next == scan->end)
            return true;
        if (*scan->next != '\n')
            return false;
        scan->next += 1;
        scan->line += 1;
    }
}

snwWord snwScan_Word(snwScan* scan)
{
    if (snwScan_IsAtEnd(scan))
        return (snwWord){scan->next, 0};
    return snwScan_WordInLine(scan);
}

bool snwWord_Is(snwWord word, const char* text)
{
    return (size_t)word.size == strlen(text) && memcmp(word.text, text, (size_t)word.size) == 0;
}

bool snwWord_IsNoCase(snwWord word, const char* text)
{
    return (size_t)word.size == strlen(text) && strncasecmp(word.text, text, (size_t)word.size) == 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

// Digits, point and exponent of a number, as far as they fit into 64 bits.
typedef struct Decimal
{
    uint64_t digits;
    int count;    // of digits that count
    int exponent; // of ten
    bool negative, exact;
} Decimal;

static const char* TakeDigits(const char* at, const char* end, Decimal* decimal, bool fraction, bool* any)
{
    for (; at < end && *at >= '0' && *at <= '9'; ++at)
    {
        *any = true;
        if (decimal->count < 19)
        {
            decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
            decimal->count += decimal->digits != 0;
            decimal->exponent -= fraction;
        }
        else
        {
            decimal->exact = decimal->exact && *at == '0';
            decimal->exponent += !fraction;
        }
    }
    return at;
}

static const char* TakeExponent(const char* at, const char* end, Decimal* decimal)
{
    const char* digit = at + 1;
    bool minus = digit < end && *digit == '-';
    digit += digit < end && (*digit == '-' || *digit == '+');
    if (digit == end || *digit < '0' || *digit > '9')
        return NULL;
    int value = 0;
    for (; digit < end && *digit >= '0' && *digit <= '9'; ++digit)
        value = value < 100000 ? value * 10 + (*digit - '0') : value;
    decimal->exponent += minus ? -value : value;
    return digit;
}

static bool ParseDecimal(snwWord word, Decimal* decimal)
{
    const char* at = word.text;
    const char* end = word.text + word.size;
    bool any = false;
    *decimal = (Decimal){.exact = true};
    if (at < end && (*at == '-' || *at == '+'))
        decimal->negative = *at++ == '-';
    at = TakeDigits(at, end, decimal, false, &any);
    if (at < end && *at == '.')
        at = TakeDigits(at + 1, end, decimal, true, &any);
    if (!any)
        return false;
    if (at < end && (*at == 'e' || *at == 'E' || *at == 'd' || *at == 'D'))
        at = TakeExponent(at, end, decimal);
    return at == end;
}

// strtod reads the point of the host's locale, so the text is written again from the parsed parts, without a point.
// More than 19 digits that count are rare: the rest is cut off, an error below 1e-18 of the value.
static double SlowReal(const Decimal* decimal)
{
    char buffer[48];
    snprintf(buffer, sizeof buffer, "%llue%d", (unsigned long long)decimal->digits, decimal->exponent);
    return strtod(buffer, NULL);
}

// Up to 2^53 and 10^22 both parts are exact doubles, so one operation rounds correctly (Clinger 1990).
static double ToReal(const Decimal* decimal)
{
    static const double s_powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
        1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (decimal->digits == 0)
        return 0.0;
    if (decimal->exact && decimal->digits <= (1ull << 53) && abs(decimal->exponent) <= 22)
        return decimal->exponent < 0 ? (double)decimal->digits / s_powers[-decimal->exponent]
                                     : (double)decimal->digits * s_powers[decimal->exponent];
    return SlowReal(decimal);
}

bool snwWord_ToReal(snwWord word, double* value)
{
    Decimal decimal;
    *value = 0.0;
    if (!ParseDecimal(word, &decimal))
        return false;
    double real = ToReal(&decimal);
    if (!isfinite(real))
        return false;
    *value = decimal.negative ? -real : real;
    return true;
}

bool snwWord_ToInt(snwWord word, int64_t* value)
{
    bool negative = word.size > 0 && word.text[0] == '-';
    int i = word.size > 0 && (word.text[0] == '-' || word.text[0] == '+');
    int64_t sum = 0;
    *value = 0;
    if (i == word.size)
        return false;
    for (; i < word.size; ++i)
    {
        if (word.text[i] < '0' || word.text[i] > '9' || sum > INT64_MAX / 10 - 1)
            return false;
        sum = sum * 10 + (word.text[i] - '0');
    }
    *value = negative ? -sum : sum;
    return true;
}

static void Miss(snwScan* scan, const char* what, const char* problem)
{
    if (scan->failed)
        return;
    scan->failed = true;
    scan->problem = problem;
    snprintf(scan->what, sizeof scan->what, "%s", what);
}

double snwScan_Real(snwScan* scan, const char* what)
{
    double value = 0.0;
    if (scan->failed)
        return 0.0;
    snwWord word = snwScan_Word(scan);
    if (word.size == 0)
        Miss(scan, what, "the file ends before it");
    else if (!snwWord_ToReal(word, &value))
        Miss(scan, what, "that is not a finite number");
    return value;
}

int64_t snwScan_Int(snwScan* scan, const char* what, int64_t lower, int64_t upper)
{
    int64_t value = 0;
    if (scan->failed)
        return lower;
    snwWord word = snwScan_Word(scan);
    if (word.size == 0)
        Miss(scan, what, "the file ends before it");
    else if (!snwWord_ToInt(word, &value))
        Miss(scan, what, "that is not a whole number");
    else if (value < lower || value > upper)
        Miss(scan, what, "that is out of range");
    return scan->failed ? lower : value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors

snwResult snwScan_FailWith(const snwScan* scan, snwMessage* message, const char* remedy, const char* format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snwResult result = snwFail(message, snw_errorInput, remedy, "%s", text);
    snwMessage_AddPlace(message, "line %lld", (long long)scan->line);
    return result;
}

snwResult snwScan_Fail(const snwScan* scan, snwMessage* message)
{
    return snwScan_FailWith(scan, message, NULL, "%s: %s", scan->what, scan->problem == NULL ? "?" : scan->problem);
}
