# Turns the files of characters/ into one C file, so that a program that links the library has the cast with it.
# Run as a script: cmake -DFOLDER=characters -DOUTPUT=characters.c -P characters.cmake
file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(bodies "")
set(rows "")
set(count 0)
foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    string(APPEND bodies "static const unsigned char s_${count}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", (const char*)s_${count}, sizeof s_${count} - 1},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Made from characters/ by cmake/characters.cmake.\n#include \"scene/builtin.h\"\n\n${bodies}
extern const snwBuiltIn snw_builtIns[];\nextern const int snw_builtInCount;
const snwBuiltIn snw_builtIns[] = {\n${rows}    {0, 0, 0},\n};\nconst int snw_builtInCount = ${count};\n")
