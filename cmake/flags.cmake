# Flags of our own code, and the two helper functions of the build.
#
# -ffp-contract=off: the compiler may not fuse a*b+c, so every instruction set gives the same bits.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
set(CMAKE_C_FLAGS_CHECK "-O1 -g1") # for the sanitizers: quick to compile, and reports name lines
# Of code whose speed hardly counts, and much of a build.
set(SNW_VERB_FLAGS $<$<CONFIG:Check>:-O0>)
set(SNW_TEST_FLAGS $<$<CONFIG:Check>:-O0> $<$<CONFIG:Release>:-O1>)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Objects are kept where ccache is installed. Paths are compared relative to the source, and the folder of the build
# does not count, so that other clones, and the copies in which faults are planted, find them too.
find_program(SNW_CCACHE ccache)
if(SNW_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        ${SNW_CCACHE})
endif()

# What makes a fault in our code hard to exploit, on everything that is installed, helpers in C++ too: canaries, checked
# copies, landing pads for indirect jumps, tables of the linker that nobody can write to. Costs about 1 % of a step.
add_library(snw-hardening INTERFACE)
if(NOT SNW_SANITIZE)
    target_compile_options(snw-hardening INTERFACE -fstack-protector-strong -fstack-clash-protection
        $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        target_compile_options(snw-hardening INTERFACE -fcf-protection=full)
    endif()
endif()
target_link_options(snw-hardening INTERFACE -Wl,-z,relro,-z,now)

add_library(snw-flags INTERFACE)
target_link_libraries(snw-flags INTERFACE snw-hardening)
target_compile_options(snw-flags INTERFACE -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wvla
    -Wundef -Wpointer-arith -Wwrite-strings -Werror $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> -ffp-contract=off
    -fno-math-errno)
target_compile_definitions(snw-flags INTERFACE _POSIX_C_SOURCE=200809L $<$<NOT:$<BOOL:${SNW_SIMD}>>:SNW_SCALAR>)
if(SNW_SANITIZE)
    target_compile_options(snw-flags INTERFACE -fsanitize=${SNW_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(snw-flags INTERFACE -fsanitize=${SNW_SANITIZE})
endif()
if(SNW_SANITIZE MATCHES undefined) # two fifths of the compiler's time, for what AddressSanitizer sees, too
    target_compile_options(snw-flags INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
endif()
if(SNW_FUZZ)
    target_compile_options(snw-flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Sources named *_avx2.c are compiled for AVX2 and chosen at run time. Solvers, benches and tests read no files, so no
# fuzzer has to find its way through them.
function(snw_kernel_flags list)
    foreach(source IN LISTS ${list})
        if(source MATCHES "_avx2\\.c$" AND SNW_SIMD AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -mavx2)
        endif()
        if(SNW_FUZZ AND source MATCHES "_(avx2|sse|scalar)\\.c$|/(math|rig|linalg|contact|bench|tests)/|/sim/[a-z]+/")
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link)
        endif()
    endforeach()
endfunction()

# name: shared library; name-static: static library. Both come from the same position-independent objects.
function(snw_library name sources)
    add_library(${name}-objects OBJECT ${sources})
    set_target_properties(${name}-objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${name}-objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name}-objects PRIVATE SNW_VERSION_MAJOR=${PROJECT_VERSION_MAJOR}
        SNW_VERSION_MINOR=${PROJECT_VERSION_MINOR} SNW_VERSION_PATCH=${PROJECT_VERSION_PATCH})
    target_link_libraries(${name}-objects PRIVATE snw-flags)
    add_library(${name} SHARED $<TARGET_OBJECTS:${name}-objects>)
    add_library(${name}-static STATIC $<TARGET_OBJECTS:${name}-objects>)
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    set_target_properties(${name}-static PROPERTIES OUTPUT_NAME ${name})
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:snw-hardening>)
    foreach(target ${name} ${name}-static)
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    endforeach()
    if(SNW_SANITIZE) # the sanitizer's own symbols come with the program
        target_link_options(${name} PRIVATE -fsanitize=${SNW_SANITIZE})
    else()
        target_link_options(${name} PRIVATE -Wl,--no-undefined)
    endif()
    add_library(sinew::${name} ALIAS ${name})
    add_library(sinew::${name}-static ALIAS ${name}-static)
endfunction()
