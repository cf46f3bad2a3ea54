// What an engine programmer meets: headers, pkg-config, find_package, and a first program that runs.

#include "process.h"
#include "test.h"

#include <stdlib.h>

static bool RunShell(const char* script, snwProcess* process)
{
    *process = snwProcess_Run((const char* const[]){"sh", "-ec", script, NULL});
    if (process->code != 0)
        snwTest_Fail(__FILE__, __LINE__, "code %d\n%s\n%s\n%s", process->code, script, process->text, process->errors);
    return process->code == 0;
}

TEST_HEAVY(install, consumerBuilds)
{
    char script[4096];
    snwProcess process;
    snprintf(script, sizeof script,
        "cd '%s'; export LD_LIBRARY_PATH=\"$PWD/prefix/lib\"\n"
        "cmake --install '" SNW_BINARY_DIR "' --prefix prefix >/dev/null\n"
        "lib=$(dirname \"$(find prefix -name libsinew.so)\"); export LD_LIBRARY_PATH=\"$PWD/$lib\"\n"
        "export PKG_CONFIG_PATH=\"$PWD/$lib/pkgconfig\"\n"
        "cc '" SNW_SOURCE_DIR "/examples/hello/hello.c' -o hello1 $(pkg-config --cflags --libs sinew)\n"
        "./hello1\n"
        "cmake -S '" SNW_SOURCE_DIR "/examples/hello' -B hello2 -DCMAKE_PREFIX_PATH=\"$PWD/prefix\" >/dev/null\n"
        "cmake --build hello2 >/dev/null\n"
        "./hello2/hello\n"
        "prefix/bin/sinew --version >/dev/null; prefix/bin/sinew demo --list --quiet | grep -qx drop\n"
        "test -s prefix/share/man/man1/sinew.1\n",
        snwTest_TempDir());
    if (!RunShell(script, &process))
        return;
    const char* line = strchr(process.text, '\n');
    double time = 0, height = 0;
    CHECK_INT(sscanf(process.text, "after %lf s the ball is %lf m high", &time, &height), 2);
    CHECK_NEAR(time, 2, 1e-6);
    CHECK(height > 0.1 && height < 2);
    REQUIRE(line != NULL);
    CHECK(strncmp(process.text, line + 1, (size_t)(line - process.text)) == 0); // both programs say the same
    snwProcess_Free(&process);
}

TEST_HEAVY(install, headersCompileAsCpp)
{
    static const char* const headers[] = {"sinew/sinew.h", "sinew/tools.h"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; ++i)
    {
        char script[1024];
        snwProcess process;
        snprintf(script, sizeof script,
            "echo '#include \"%s\"' | c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I'" SNW_SOURCE_DIR
            "/include' -fsyntax-only -x c++ -\n"
            "echo '#include \"%s\"' | cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I'" SNW_SOURCE_DIR
            "/include' -fsyntax-only -x c -\n",
            headers[i], headers[i]);
        if (RunShell(script, &process))
            snwProcess_Free(&process);
    }
}

// The ten lines of C on the first screen of the README.
TEST_HEAVY(install, readmesTenLinesCompile)
{
    snwProcess process;
    static const char* const script =
        "cd '" SNW_SOURCE_DIR "'\n"
        "lines=$(awk '/^```c$/ {inside = 1; next} /^```/ {inside = 0} inside' README.md)\n"
        "printf '#include <sinew/sinew.h>\\nint main(void)\\n{\\n%s\\nreturn 0;\\n}\\n' \"$lines\" |\n"
        "    cc -std=c17 -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c -\n"
        "printf '%s\\n' \"$lines\" | wc -l\n";
    if (!RunShell(script, &process))
        return;
    CHECK_INT(atoi(process.text), 10);
    snwProcess_Free(&process);
}

// The engine exports the functions of its header and nothing else, needs only libc and libm, and has no mutable data.
TEST_HEAVY(install, engineKeepsToItself)
{
    snwProcess process;
    static const char* const script =
        "cd '" SNW_BINARY_DIR "'\n"
        "nm -D --defined-only libsinew.so | awk '{print $3}' | sort > exported.txt\n"
        "grep -oE 'snw[A-Za-z0-9_]+\\(' '" SNW_SOURCE_DIR
        "/include/sinew/sinew.h' | tr -d '(' | grep -v 'Fn$' | sort -u > declared.txt\n"
        "echo \"not declared: $(comm -23 exported.txt declared.txt | tr '\\n' ' ')\"\n"
        "echo \"not exported: $(comm -13 exported.txt declared.txt | tr '\\n' ' ')\"\n"
        "echo \"needs: $(readelf -d libsinew.so | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p' | sort | tr '\\n' ' ')\"\n"
        "echo \"mutable: $(objdump -t libsinew.so | awk '$4 ~ /^\\.(data|bss)$/ && $NF ~ /^(s_|snw)/ {print $NF}' "
        "| tr '\\n' ' ')\"\n";
    if (!RunShell(script, &process))
        return;
    CHECK_CONTAINS(process.text, "not declared: \n");
    CHECK_CONTAINS(process.text, "not exported: \n");
    CHECK_CONTAINS(process.text, "needs: libc.so.6 libm.so.6 \n");
    CHECK_CONTAINS(process.text, "mutable: \n");
    snwProcess_Free(&process);
}

// Every program and shared library that is installed: position-independent, tables of the linker bound at the start and
// then read-only, canaries, checked copies, landing pads, no path of the build inside. Words: what is missing, per
// file.
TEST_HEAVY(install, everythingIsHardened)
{
    char script[4096];
    snwProcess process;
    snprintf(script, sizeof script,
        "cd '%s'; cmake --install '" SNW_BINARY_DIR "' --prefix hard >/dev/null\n"
        "find hard -type f \\( -path '*/bin/*' -o -name '*.so*' \\) > files.txt\n"
        "echo \"files: $(wc -l < files.txt)\"\n"
        "while read -r f; do\n"
        "  readelf -hdlsW --dyn-syms \"$f\" > facts.txt; w=\n"
        "  grep -q 'Type: *DYN' facts.txt || w=\"$w position\"\n"
        "  grep -q GNU_RELRO facts.txt || w=\"$w relro\"\n"
        "  grep -qE 'FLAGS.*(BIND_NOW|NOW)' facts.txt || w=\"$w now\"\n"
        "  grep -q 'GNU_STACK.* RWE ' facts.txt && w=\"$w stack\"\n"
        "  grep -q __stack_chk_fail facts.txt || w=\"$w canary\"\n"
        "  grep -qE 'RPATH|RUNPATH' facts.txt && w=\"$w runpath\"\n"
        "  case $f in *draco|*tetgen|*import) ;; *) grep -qE '__[a-z]+_chk(@|$)' facts.txt || w=\"$w fortify\" ;; "
        "esac\n"
        "  [ \"$(uname -m)\" != x86_64 ] || objdump -d --no-show-raw-insn \"$f\" | grep -qm1 endbr64 || w=\"$w "
        "landing\"\n"
        "  [ -z \"$w\" ] || echo \"misses: $f:$w\"\n"
        "done < files.txt; echo end\n",
        snwTest_TempDir());
    if (!RunShell(script, &process))
        return;
    int files = 0;
    CHECK_INT(sscanf(process.text, "files: %d", &files), 1);
    CHECK(files >= 3); // the program and two libraries; helpers where their libraries are
    const char* rest = strchr(process.text, '\n');
    REQUIRE(rest != NULL);
    if (strcmp(rest, "\nend\n") != 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", rest);
    snwProcess_Free(&process);
}
