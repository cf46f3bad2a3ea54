// The scanner of text files: words, lines, and numbers against strtod.

#include "asset/scan.h"
#include "process.h"
#include "test.h"

#include <locale.h>
#include <stdlib.h>

static snwWord WordOf(const char* text)
{
    return (snwWord){text, (int)strlen(text)};
}

static bool SameBits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void CheckNumber(const char* text)
{
    double value = -1, wanted = strtod(text, NULL);
    if (!snwWord_ToReal(WordOf(text), &value) || !SameBits(value, wanted))
        snwTest_Fail(__FILE__, __LINE__, "'%.60s' is read as %.17g, expected %.17g", text, value, wanted);
}

static double RandomDouble(uint64_t* seed)
{
    double value = 0;
    do
    {
        uint64_t bits = (uint64_t)(snwTest_Random(seed) * 4294967296.0) << 32 |
                        (uint64_t)(snwTest_Random(seed) * 4294967296.0);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

TEST(scan, numbersAreThoseOfStrtod)
{
    uint64_t seed = 1;
    char text[900];
    for (int i = 0; i < 30000; ++i)
    {
        double any = RandomDouble(&seed),
               usual = (snwTest_Random(&seed) - 0.5) * pow(10, 12 * snwTest_Random(&seed) - 6);
        snprintf(text, sizeof text, "%.17g", any);
        CheckNumber(text);
        snprintf(text, sizeof text, "%.17g", usual);
        CheckNumber(text);
        snprintf(text, sizeof text, "%.*f", i % 25, usual);
        CheckNumber(text);
        snprintf(text, sizeof text, "%.*e", i % 40, any);
        CheckNumber(text);
    }
}

// The middle between two doubles with all its digits, and a last digit that tips it over.
TEST(scan, digitsBeyondThe19thCount)
{
    static const char* const s_texts[] = {"9007199254740993", "9007199254740993.00000000000000000000000000000000000001",
        "9007199254740992.99999999999999999999999999999999999999",
        "0.500000000000000166533453693773481063544750213623046875",
        "0.50000000000000016653345369377348106354475021362304687500000000000001",
        "12345678901234567890123456789012345678901234567890",
        "0.00000000000000000000000000000000000000000000000000012345678901234567890123", "1e22", "1e23", "8.5e22",
        "123456789e-30", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "1.7976931348623157e308", "1e-400", "0e999999999999", "-0", "+.5", "5.", "00000000000000000000000001", "1E5",
        "1e+5", "0.1e-5"};
    for (size_t i = 0; i < sizeof s_texts / sizeof *s_texts; ++i)
        CheckNumber(s_texts[i]);
    uint64_t seed = 7;
    char text[1400];
    for (int i = 0; i < 300; ++i)
    {
        double a = fabs(RandomDouble(&seed)) * 1e-3, b = nextafter(a, INFINITY);
        if (a < 1e-300 || a > 1e300)
            continue;
        // The middle is exact as a long double, and glibc prints all of its digits.
        int size = snprintf(text, sizeof text - 2, "%.*Le", 1100, ((long double)a + (long double)b) / 2);
        CheckNumber(text);
        char* mark = strchr(text, 'e');
        memmove(mark + 1, mark, (size_t)(text + size - mark) + 1);
        *mark = '1'; // far behind the digits that count
        CheckNumber(text);
    }
}

TEST(scan, whatIsNoNumberIsRefused)
{
    static const char* const s_texts[] = {"", "-", "+", ".", "-.", "e5", "1e", "1e+", "1,5", "1.5.2", "0x10", "1f",
        "nan", "inf", "-inf", "1e309", "-1e400", "1 ", " 1", "1d", "--1", "1.#QNAN"};
    double value;
    int64_t whole;
    for (size_t i = 0; i < sizeof s_texts / sizeof *s_texts; ++i)
    {
        CHECK(!snwWord_ToReal(WordOf(s_texts[i]), &value));
        CHECK(value == 0);
        CHECK(!snwWord_ToInt(WordOf(s_texts[i]), &whole));
    }
    CHECK(snwWord_ToReal(WordOf("1.5d-3"), &value) && value == 1.5e-3); // Fortran's
    CHECK(snwWord_IsNotFinite(WordOf("-NaN(ind)")) && snwWord_IsNotFinite(WordOf("1.#INF")));
    CHECK(!snwWord_IsNotFinite(WordOf("-na")) && !snwWord_IsNotFinite(WordOf("1.5")));
    CHECK(snwWord_ToInt(WordOf("-922337203685477580"), &whole) && whole == -922337203685477580);
    CHECK(!snwWord_ToInt(WordOf("99999999999999999999"), &whole) && !snwWord_ToInt(WordOf("1.0"), &whole));
}

// Compiled for this test, for most machines have none.
static bool SetLocaleWithComma(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/de_DE", snwTest_TempDir());
    snwProcess made = snwProcess_Run((const char* const[]){"localedef", "-i", "de_DE", "-f", "ISO-8859-1", path, NULL});
    snwProcess_Free(&made);
    setenv("LOCPATH", snwTest_TempDir(), 1);
    return setlocale(LC_NUMERIC, "de_DE") != NULL;
}

TEST(scan, numbersDoNotDependOnTheLocale)
{
    if (!SetLocaleWithComma())
        SKIP("no locale with a comma could be made");
    CHECK(strtod("1,5", NULL) == 1.5);
    double value;
    CHECK(snwWord_ToReal(WordOf("1.5"), &value) && value == 1.5);
    CHECK(snwWord_ToReal(WordOf("-56.265704999999997"), &value) && value == -56.265704999999997);
    CHECK(snwWord_ToReal(WordOf("1.2345678901234567890123e-7"), &value) && value == 1.2345678901234567890123e-7);
    CHECK(!snwWord_ToReal(WordOf("1,5"), &value));
    setlocale(LC_NUMERIC, "C");
}

static snwScan ScanOf(const char* text, char comment)
{
    return snwMakeScan(text, strlen(text), comment);
}

static void CheckWords(snwScan scan, const char* wanted)
{
    char found[256] = "";
    for (int i = 0; i < 50; ++i)
    {
        snwWord word = snwScan_Word(&scan);
        if (word.size == 0)
            break;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%lld:%.*s ", (long long)scan.line, word.size,
            word.text);
    }
    if (strcmp(found, wanted) != 0)
        snwTest_Fail(__FILE__, __LINE__, "words '%s', expected '%s'", found, wanted);
    CHECK(snwScan_IsAtEnd(&scan));
}

TEST(scan, wordsKnowTheirLines)
{
    CheckWords(ScanOf("", '#'), "");
    CheckWords(ScanOf("a b\n\n c\t#d e\n f#g\n", '#'), "1:a 1:b 3:c 4:f ");
    CheckWords(ScanOf("a #b", 0), "1:a 1:#b ");
    CheckWords(ScanOf("\xef\xbb\xbf"
                      "a\r\nb\r\n",
                   '#'),
        "1:a 2:b ");
    CheckWords(ScanOf("-1.#QNAN 1.# Q\n2.#INF", '#'), "1:-1.#QNAN 1:1. 2:2.#INF ");
    CheckWords(ScanOf("a\rb c\r", '#'), "1:a 2:b 2:c ");
    CheckWords(snwMakeScan("a\0b c\nd", 7, '#'), "1:a 1:c 2:d "); // a zero is part of its word; printing stops there
    snwScan joined = ScanOf("a \\\n b\\\r\nc\\d\n # e \\\nf", '#');
    joined.joiner = '\\';
    CheckWords(joined, "1:a 2:b 3:c\\d 5:f ");
}

TEST(scan, linesAreLeftTogether)
{
    snwScan scan = ScanOf("a b\nc d \\\n e\nname of  it # 1 \nlast", '#');
    scan.joiner = '\\';
    CHECK(snwWord_Is(snwScan_WordInLine(&scan), "a"));
    CHECK(snwScan_SkipLine(&scan));
    CHECK(snwWord_Is(snwScan_PeekInLine(&scan), "c") && snwWord_IsNoCase(snwScan_WordInLine(&scan), "C"));
    CHECK(snwScan_SkipLine(&scan)); // two of them
    CHECK_INT(scan.line, 4);
    CHECK(snwWord_Is(snwScan_WordInLine(&scan), "name"));
    CHECK(snwWord_Is(snwScan_RestOfLine(&scan), "of  it # 1"));
    CHECK_INT(snwScan_WordInLine(&scan).size, 0);
    CHECK(snwScan_SkipLine(&scan));
    CHECK_INT(snwScan_Left(&scan), 4);
    CHECK(!snwScan_SkipLine(&scan) && snwScan_IsAtEnd(&scan));
}

TEST(scan, failuresSayWhereAndWhat)
{
    snwMessage message;
    snwScan scan = ScanOf("1.5\n 2,5 x", '#');
    CHECK(snwScan_Real(&scan, "the width") == 1.5 && snwScan_Real(&scan, "the height") == 0 && scan.failed);
    CHECK(snwScan_Int(&scan, "the count", 3, 9) == 3); // further reads change nothing
    CHECK_INT(snwScan_Fail(&scan, &message), snw_errorInput);
    CHECK(strcmp(message.place, "line 2") == 0);
    CHECK(strcmp(message.text, "the height: '2,5' is not a finite number") == 0);
    CHECK_CONTAINS(message.remedy, "a point, not a comma");
    scan = ScanOf("7 -3", '#');
    CHECK_INT(snwScan_Int(&scan, "the count", 0, 9), 7);
    CHECK_INT(snwScan_Int(&scan, "the count", 0, 9), 0);
    snwScan_Fail(&scan, &message);
    CHECK(strcmp(message.text, "the count: '-3' is out of range") == 0);
    scan = ScanOf("7\n8", '#');
    CHECK(snwScan_RealInLine(&scan, "x") == 7 && snwScan_RealInLine(&scan, "y") == 0);
    snwScan_Fail(&scan, &message);
    CHECK(strcmp(message.text, "y: the line ends before it") == 0);
    scan = ScanOf("7\n", '#');
    snwScan_Word(&scan);
    CHECK(snwScan_Real(&scan, "z") == 0);
    snwScan_Fail(&scan, &message);
    CHECK(strcmp(message.text, "z: the file ends before it") == 0);
    CHECK_CONTAINS(message.remedy, "not complete");
}
