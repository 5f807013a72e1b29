#!/usr/bin/env bash
# gcc and clang build everything without a warning; cppcheck and clang-format agree.
# shellcheck source=tests/lint/lib.bash
source "$(dirname "$0")/lib.bash"

BUILD=${BUILD:-build}

# All of it, by one compiler, as the Makefile builds it.
compile_all() {
	make -s -j"$(nproc)" CC="$1" BUILD="$BUILD/lint-$1" WERROR=1 build tests 2>&1 || true
	[[ -x $BUILD/lint-$1/pvcbench ]] || echo "no program was built"
}

check_gcc() { compile_all gcc; }
check_clang() { compile_all clang; }

# The fixture, with the very command that built the rest.
compile_one_gcc() { sh -c "$(<"$BUILD/lint-gcc/flags") -c -o /dev/null $1"; }
compile_one_clang() { sh -c "$(<"$BUILD/lint-clang/flags") -c -o /dev/null $1"; }

# Scratch that ends with its block looks like a leak to cppcheck, which does not know the
# cleanup attribute; the leak checker of the asan suite does.
check_cppcheck() {
	cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability \
		--inline-suppr --error-exitcode=1 --suppress=missingIncludeSystem \
		--suppress=unmatchedSuppression --suppress=resourceLeak --suppress=memleak \
		-D_GNU_SOURCE -Irunner -j"$(nproc)" "$@"
}

check_format() {
	clang-format-14 --dry-run -Werror "$@"
}

mapfile -t c_files < <(files '*.c' '*.h')
mapfile -t sources < <(files 'runner/*.c')

lint "gcc has no warning" check_gcc "${c_files[@]}"
catches "an unused variable" compile_one_gcc compilers/warning.c 'unused variable'
lint "clang has no warning" check_clang "${c_files[@]}"
catches "an unused variable" compile_one_clang compilers/warning.c 'unused variable'
lint "cppcheck has no complaint" check_cppcheck "${sources[@]}"
catches "a read beyond the end" check_cppcheck compilers/beyond.c 'out of bounds'
lint "clang-format changes nothing" check_format "${c_files[@]}"
catches "a badly formatted line" check_format compilers/warning.c 'should be clang-formatted'
finish
