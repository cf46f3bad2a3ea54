# The front door. Everything real is in CMakeLists.txt; `make help` lists the targets.
#
# Tools that are missing are installed from Debian first (tools/setup.sh says which and why; SETUP=0 skips that).

JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
SETUP  ?= 1
DEMO   ?=
BENCH  ?=
GOLDEN ?=
STUDIO ?=
ASSIMP ?=

# Real files that the tests try, where they lie beside the project.
ifneq ($(wildcard ../shared/data),)
export SINEW_DATA ?= $(abspath ../shared/data)
endif

# Seconds per fuzz target; and which cases run where, by their labels (tests/CMakeLists.txt says what they mean).
FUZZ_SECONDS := $(if $(LONG),300,2)
PLAIN_ONLY   := $(if $(LONG),'^long$$','^(long|heavy)$$')
# One case more than cores: some wait for a browser or a helper.
CTEST         = ctest -j $$(($(JOBS) + 1)) --output-on-failure --no-tests=error

demo_parts := demo-bake demo-jello demo-strain demo-compare demo-cast

setup = $(if $(filter 1,$(SETUP)),@tools/setup.sh $(1))

.DEFAULT_GOAL := all
.PHONY: all program help demo film-tools $(demo_parts) films web page-if-possible studio test test-long test-ready test-tools faults golden scalar bench bench-deps docs lint format-check tidy \
	types format sanitize asan tsan fuzz install clean

all: program ## build everything, the tests too
	@cmake --build build -j $(JOBS)

program: build/build.ninja ## build build/sinew, its helpers and libraries (ASSIMP=1: reads FBX, DAE and BVH, too)
	$(if $(ASSIMP),$(call setup,assimp))
	$(if $(ASSIMP),@cmake --preset release -DSNW_ASSIMP=ON > /dev/null)
	@cmake --build build -j $(JOBS) --target program

build/build.ninja: CMakeLists.txt CMakePresets.json
	$(call setup,build tetgen)
	@cmake --preset release > /dev/null

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# The parts of the demo run side by side; what draws films is installed while the program is compiled.
demo: ## a walking cow gets flesh: film, GLB, report; then films, plots and exports in out/ (DEMO=NAME: only that scene)
	@$(MAKE) --no-print-directory -j 2 program film-tools
	@$(if $(DEMO),build/sinew demo $(DEMO) --force,$(MAKE) --no-print-directory -j 2 --output-sync=target $(demo_parts))
	@$(if $(DEMO),:,printf '%s\n' '' 'What there is now, in out/:' \
	    '  demo-compare/picture.png  open this first: the same jello, soft and firm (film.mp4 beside it moves)' \
	    '  demo-jello/film.mp4       a jello drops, bounces and turns over; plots of energy and pressure beside it' \
	    '  demo-bake/film.mp4        a cow walks as the artist made it, with flesh, and what the flesh adds' \
	    '  demo-bake/cow.glb         that walk with flesh, for Blender, three.js and engines' \
	    '  demo-strain/film.mp4      a bar is wrung; colours tell the strain, ply/ and bar.pc2 are for other programs' \
	    '  demo-cast.png             four of the characters, each in every look' \
	    'Next: make studio opens a character that answers your hand.')

film-tools: build/build.ninja
	$(call setup,film)

demo-bake:
	@mkdir -p out/demo-bake
	@build/sinew bake cow --clip walk --preset fat --loop --elements 8000 -o out/demo-bake/cow.glb --force \
	    --film out/demo-bake/film.mp4 --picture out/demo-bake/picture.png --report out/demo-bake/report.json

demo-jello:
	@build/sinew demo jello --force

# Colours that tell numbers, a cache, files for other programs.
demo-strain:
	@build/sinew sim scenes/twist.json -o out/demo-strain --force --look strain --duration 2 --cache --export pc2,ply

# Soft and firm flesh side by side.
demo-compare:
	@build/sinew compare jello --set material.young=1500,15000 --duration 0.9 -o out/demo-compare --force

demo-cast:
	@build/sinew render --sheet frog octopus cow bunny -o out/demo-cast.png --force

# The figures of the method rigpbd, and what goes beyond them: see docs/rigpbd.md. Each goes through out/films/NAME, where its report is.
FILMS := $(patsubst scenes/%.json,%,$(wildcard scenes/rig-*.json))

films: program ## the films of rigpbd as out/films/*.mp4, with the marks of handles; takes minutes (FILMS=rig-NAME: only that one)
	$(call setup,film)
	@for name in $(FILMS); do \
	    echo "film out/films/$$name.mp4"; \
	    build/sinew sim scenes/$$name.json -o out/films/$$name --show handles --force --quiet > /dev/null && \
	    mv out/films/$$name/film.mp4 out/films/$$name.mp4 || exit 1; \
	done
	@$(if $(filter rig-fine,$(FILMS)),build/sinew sim scenes/rig-fine.json -o out/films/rig-fine --look elements --show handles --force --quiet \
	    > /dev/null && mv out/films/rig-fine/film.mp4 out/films/rig-fine-elements.mp4)

# The page needs node only to be built; its packages are fetched when their list has changed. Not by `npm ci`: it wants
# the packages of every system in the list, and some registries have but those of a few.
web: build/web/index.html ## build the studio's page into build/web

web/node_modules/.package-lock.json: web/package-lock.json
	$(call setup,web)
	@npm install --no-save --ignore-scripts --silent --no-audit --no-fund --prefix web
	@touch $@

build/web/index.html: web/node_modules/.package-lock.json $(wildcard web/*.html web/*.json web/*.ts web/src/* web/public/*)
	@npm run --silent --prefix web build

# A machine that cannot reach npm's packages still has all the rest: tests that need the page are skipped, and counted.
page-if-possible:
	@$(MAKE) --no-print-directory web || echo "make: warning: the studio's page could not be built" >&2

studio: program web ## open the studio in a browser (STUDIO=NAME: with this scene, character or file)
	@build/sinew studio $(STUDIO)

test: test-ready ## all fast tests
	@$(CTEST) --test-dir build -LE '^long$$'

test-long: test-ready ## the slow tests too
	@$(CTEST) --test-dir build --timeout 14400

# What the tests need besides is installed, and the page built, while the program is compiled.
test-ready:
	@$(MAKE) --no-print-directory -j 3 all page-if-possible test-tools

test-tools: build/build.ninja
	$(call setup,film test validate chromium)

faults: ## plant one-line faults in a copy and see the tests turn red (PART=3/10: the third tenth; FAULTS=PATTERN: tests it matches)
	$(call setup,build film faults)
	@tests/faults.sh $(if $(PART),--part $(PART)) $(FAULTS)

golden: all ## record anew what the golden net holds (GOLDEN="NAME ...": only these); a commit of its own says why
	$(call setup,film)
	@build/tests/sinew-golden record $(GOLDEN)

scalar: ## build without SIMD kernels and run the tests that could notice (LONG=1: all)
	$(call setup,build film validate)
	@cmake --preset scalar > /dev/null
	@cmake --build build-scalar -j $(JOBS) --target sinew-tests sinew-golden
	@$(CTEST) --test-dir build-scalar $(if $(LONG),,-L '^kernels$$') -LE $(PLAIN_ONLY)

bench: program ## all benchmarks as tables (BENCH=NAME for one)
	@build/sinew bench $(BENCH)

bench-deps: ## install the programs we compare with; never needed by the tests
	@tools/setup.sh peers

docs: program ## write the generated pages again
	@build/sinew help --man > docs/sinew.1.new && mv docs/sinew.1.new docs/sinew.1
	@build/sinew bench --metrics-doc > docs/bench.md.new && mv docs/bench.md.new docs/bench.md
	@build/sinew info --params-doc > docs/parameters.md.new && mv docs/parameters.md.new docs/parameters.md
	@build/sinew info --schema > docs/scene.schema.json.new && mv docs/scene.schema.json.new docs/scene.schema.json

# ----------------------------------------------------------------------------------------------------------------------

OURS = $(shell git ls-files -- 'include/*.h' 'src/*.[ch]' 'bench/*.[ch]' 'tests/*.[ch]' 'fuzz/*.[ch]' 'examples/*.[ch]')

lint: format-check tidy types ## layout (clang-format), defects (clang-tidy; LONG=1: searches longer) and types of the page (tsc)

format-check:
	$(call setup,lint)
	@clang-format --dry-run -Werror $(OURS)
	@echo "layout: $(words $(OURS)) files are fine"

# One file per process: clang-tidy 14 sees uninitialised va_lists that are none in the second file of a process.
# Needs the compile commands, so the build must be configured; nothing is compiled. sinew-import only if it was built.
# Of the kernels, which are one text for all instruction sets, the scalar ones.
tidy: build/build.ninja
	$(call setup,lint)
	@git ls-files -- 'src/*.c' 'bench/*.c' ':!src/*_avx2.c' ':!src/*_sse.c' ':!bench/petsc' $(if $(wildcard build/sinew-import),,':!src/import') | \
	    TIDY_NODES=$(if $(LONG),225000,75000) xargs -n 1 -P $(JOBS) tools/tidy.sh build
	@echo "defects: none found"

types: web/node_modules/.package-lock.json
	@npm run --silent --prefix web check
	@echo "types: the page's are sound"

format: ## lay out all files
	$(call setup,lint)
	@clang-format -i $(OURS)

sanitize: asan tsan fuzz ## address, undefined behaviour, threads, short fuzz runs (LONG=1: longer)

asan:
	$(call setup,build sanitize film validate)
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j $(JOBS) --target program sinew-tests
	@$(CTEST) --test-dir build-asan -LE $(PLAIN_ONLY)'|^golden$$'

tsan:
	$(call setup,build)
	@cmake --preset tsan > /dev/null
	@cmake --build build-tsan -j $(JOBS) --target sinew-tests
	@$(CTEST) --test-dir build-tsan $(if $(LONG),,-L '^threads$$') -LE '^long$$'

fuzz:
	$(call setup,build sanitize)
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j $(JOBS) --target fuzz-targets
	@tools/fuzz.sh build-asan/fuzz $(FUZZ_SECONDS)

# ----------------------------------------------------------------------------------------------------------------------

install: program ## install to PREFIX (default /usr/local); DESTDIR is honoured
	@cmake --install build --prefix $(PREFIX)

clean: ## remove all builds; results in out/ stay
	@rm -rf build build-debug build-scalar build-asan build-tsan build-faults
