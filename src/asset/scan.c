// Words and numbers out of text files: lines with comments and joined ends, numbers read exactly whatever the host's
// locale, and messages with line and word.

#include "asset/scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

snwScan snwMakeScan(const char* data, size_t size, char comment)
{
    size_t mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    bool returns = size > 0 && memchr(data, '\n', size) == NULL && memchr(data, '\r', size) != NULL;
    return (snwScan){
        .next = data + mark, .end = data + size, .line = 1, .comment = comment, .feed = returns ? '\r' : '\n'};
}

int64_t snwScan_Left(const snwScan* scan)
{
    return scan->end - scan->next;
}

// ---------------------------------------------------------------------------------------------------------------------
// Words

static bool IsBlank(const snwScan* scan, char c)
{
    return c == ' ' || c == '\t' || (c == '\r' && scan->feed != '\r') || c == '\v' || c == '\f';
}

// The byte behind a joined end of line; NULL if there is none at this place.
static const char* PassJoin(const snwScan* scan, const char* at)
{
    if (scan->joiner == 0 || at >= scan->end || *at != scan->joiner)
        return NULL;
    at += 1;
    while (at < scan->end && *at == '\r' && scan->feed == '\n')
        at += 1;
    return at < scan->end && *at == scan->feed ? at + 1 : NULL;
}

static void SkipBlanks(snwScan* scan)
{
    // Blanks, and ends of lines that a file joins with the next.
    for (;;)
    {
        const char* joined = PassJoin(scan, scan->next);
        if (joined != NULL)
        {
            scan->next = joined;
            scan->line += 1;
        }
        else if (scan->next < scan->end && IsBlank(scan, *scan->next))
            scan->next += 1;
        else
            break;
    }

    // A comment goes to the end of its line.
    if (scan->comment != 0 && scan->next < scan->end && *scan->next == scan->comment)
    {
        const char* feed = memchr(scan->next, scan->feed, (size_t)(scan->end - scan->next));
        scan->next = feed == NULL ? scan->end : feed;
    }
}

// Not in "1.#INF" and "-1.#QNAN", which is how old programs on Windows write them: silently reading 1 would be wrong.
static bool IsComment(const snwScan* scan, const char* at)
{
    return *at == scan->comment && scan->comment != 0 &&
           !(at > scan->next && at[-1] == '.' && at + 1 < scan->end && strchr("IQSJ", at[1]) != NULL && at[1] != 0);
}

static bool IsInWord(const snwScan* scan, const char* at)
{
    return at < scan->end && !IsBlank(scan, *at) && *at != scan->feed && !IsComment(scan, at) &&
           PassJoin(scan, at) == NULL;
}

snwWord snwScan_PeekInLine(snwScan* scan)
{
    SkipBlanks(scan);
    const char* last = scan->next;
    while (IsInWord(scan, last))
        last += 1;
    return (snwWord){scan->next, (int)(last - scan->next)};
}

snwWord snwScan_WordInLine(snwScan* scan)
{
    snwWord word = snwScan_PeekInLine(scan);
    scan->next += word.size;
    return word;
}

snwWord snwScan_RestOfLine(snwScan* scan)
{
    while (scan->next < scan->end && IsBlank(scan, *scan->next))
        scan->next += 1;
    const char* feed = memchr(scan->next, scan->feed, (size_t)(scan->end - scan->next));
    snwWord word = {scan->next, 0};
    scan->next = feed == NULL ? scan->end : feed;
    word.size = (int)(scan->next - word.text);
    while (word.size > 0 && IsBlank(scan, word.text[word.size - 1]))
        word.size -= 1;
    return word;
}

static bool EndsJoined(const snwScan* scan, const char* feed)
{
    while (feed > scan->next && feed[-1] == '\r' && scan->feed == '\n')
        feed -= 1;
    return scan->joiner != 0 && feed > scan->next && feed[-1] == scan->joiner;
}

bool snwScan_SkipLine(snwScan* scan)
{
    for (bool joined = true; joined;)
    {
        const char* feed = memchr(scan->next, scan->feed, (size_t)(scan->end - scan->next));
        if (feed == NULL)
        {
            scan->next = scan->end;
            return false;
        }
        joined = EndsJoined(scan, feed);
        scan->next = feed + 1;
        scan->line += 1;
    }
    return true;
}

bool snwScan_IsAtEnd(snwScan* scan)
{
    for (;;)
    {
        SkipBlanks(scan);
        if (scan->next == scan->end)
            return true;
        if (*scan->next != scan->feed)
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

enum
{
    snw_digitsThatCount = 780 // no double nor the middle between two has more than 768
};

// strtod reads the point of the host's locale, so the digits are written again without one. Whatever is behind those
// that count can only tell that the number is a little more than they say.
static double SlowReal(snwWord word, const Decimal* decimal)
{
    char buffer[snw_digitsThatCount + 24];
    int count = 0;
    bool more = false;
    for (int i = 0; i < word.size && word.text[i] < 'A'; ++i)
    {
        char c = word.text[i];
        if (c < '0' || c > '9' || (count == 0 && c == '0'))
            continue;
        if (count < snw_digitsThatCount)
            buffer[count++] = c;
        else
            more = more || c != '0';
    }

    // A digit more, which only says that something followed.
    if (more)
        buffer[count++] = '1';
    int shift = count - decimal->count; // digits beyond those that the exponent is about
    snprintf(buffer + count, 24, "e%d", decimal->exponent - shift);
    return strtod(buffer, NULL);
}

// Up to 2^53 and 10^22 both parts are exact doubles, so one operation rounds correctly (Clinger 1990).
static double ToReal(snwWord word, const Decimal* decimal)
{
    static const double s_powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
        1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (decimal->digits == 0)
        return 0.0;
    if (decimal->exact && decimal->digits <= (1ull << 53) && abs(decimal->exponent) <= 22)
        return decimal->exponent < 0 ? (double)decimal->digits / s_powers[-decimal->exponent]
                                     : (double)decimal->digits * s_powers[decimal->exponent];
    return SlowReal(word, decimal);
}

bool snwWord_ToReal(snwWord word, double* value)
{
    Decimal decimal;
    *value = 0.0;
    if (!ParseDecimal(word, &decimal))
        return false;
    double real = ToReal(word, &decimal);
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

bool snwWord_IsNotFinite(snwWord word)
{
    static const char* const s_forms[] = {"nan", "inf", "1.#"}; // the last one is Microsoft's
    int sign = word.size > 0 && (word.text[0] == '-' || word.text[0] == '+');
    for (size_t i = 0; i < sizeof s_forms / sizeof *s_forms; ++i)
        if (word.size - sign >= 3 && strncasecmp(word.text + sign, s_forms[i], 3) == 0)
            return true;
    return false;
}

void snwScan_Miss(snwScan* scan, const char* what, snwWord word, const char* problem)
{
    if (scan->failed)
        return;
    scan->failed = true;
    scan->problem = problem;
    snprintf(scan->what, sizeof scan->what, "%s", what);
    memset(scan->wrong, 0, sizeof scan->wrong);
    for (int i = 0; i < word.size && i < (int)sizeof scan->wrong - 1; ++i)
        scan->wrong[i] = (char)(word.text[i] < 0x20 || word.text[i] >= 0x7f ? '?' : word.text[i]);
    if (word.size > 0 && memchr(word.text, ',', (size_t)word.size) != NULL)
        scan->remedy = "numbers have a point, not a comma: set the exporter's language to English";
}

void snwScan_MissEnd(snwScan* scan, const char* what, const char* problem)
{
    if (!scan->failed)
        scan->remedy = "the file is not complete: copy or export it again";
    snwScan_Miss(scan, what, (snwWord){scan->next, 0}, problem);
}

double snwScan_Real(snwScan* scan, const char* what)
{
    double value = 0.0;
    if (scan->failed)
        return 0.0;
    snwWord word = snwScan_Word(scan);
    if (word.size == 0)
        snwScan_MissEnd(scan, what, "the file ends before it");
    else if (!snwWord_ToReal(word, &value))
        snwScan_Miss(scan, what, word, "is not a finite number");
    return value;
}

double snwScan_RealInLine(snwScan* scan, const char* what)
{
    if (!scan->failed && snwScan_PeekInLine(scan).size == 0)
        snwScan_MissEnd(scan, what, "the line ends before it");
    return snwScan_Real(scan, what);
}

int64_t snwScan_Int(snwScan* scan, const char* what, int64_t lower, int64_t upper)
{
    int64_t value = 0;
    if (scan->failed)
        return lower;
    snwWord word = snwScan_Word(scan);
    if (word.size == 0)
        snwScan_MissEnd(scan, what, "the file ends before it");
    else if (!snwWord_ToInt(word, &value))
        snwScan_Miss(scan, what, word, "is not a whole number");
    else if (value < lower || value > upper)
        snwScan_Miss(scan, what, word, "is out of range");
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
    const char* quote = scan->wrong[0] == 0 ? "" : "'";
    return snwScan_FailWith(scan, message, scan->remedy, "%s: %s%s%s%s%s", scan->what, quote, scan->wrong, quote,
        scan->wrong[0] == 0 ? "" : " ", scan->problem == NULL ? "?" : scan->problem);
}
