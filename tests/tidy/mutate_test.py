#!/usr/bin/python3
"""scripts/mutate on a toy: a room of one file with one unit test. Exits with 77 where libclang's Python module is absent."""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"
TOY = """
struct Rank { int n; };
bool operator<(Rank a, Rank b) { return a.n < b.n; }
struct Pair { int first, second; };
int written = 0;
void writeDown(int n) { written += n; }

int least(int a, int b) {
  if (a < b) return a;
  return b;
}
bool below(Rank a, Rank b) { return a < b; }
int kept(int n) {
  writeDown(n);
  return written;
}
int sum(int n) {
  const Pair both{.first = n + 2, .second = n};
  return both.first + both.second;
}
struct Small { unsigned char n; };
int small() { return Small{.n = 6 * 7}.n; }
int unused(int n) { return n > 2 ? n : 2; }
"""
TEST = """
#include <gtest/gtest.h>
struct Rank { int n; };
int least(int, int); bool below(Rank, Rank); int kept(int); int sum(int);
TEST(Toy, Least) { EXPECT_EQ(least(1, 2), 1); EXPECT_EQ(least(2, 1), 1); }
TEST(Toy, Below) { EXPECT_TRUE(below({1}, {2})); EXPECT_FALSE(below({1}, {1})); }
TEST(Toy, Kept) { EXPECT_EQ(kept(3), 3); }
TEST(Toy, Sum) { EXPECT_EQ(sum(1), 4); }
"""
# What becomes of each bug: (its line's text, its kind) -> by what it is killed.
EXPECTED = {
    ("a < b", "condition"): "kernel_test Toy.Least",
    ("a < b", "bound"): "",  # of equal numbers it does not matter which is returned
    ("a < b", "result"): "kernel_test Toy.Below",
    ("a.n < b.n", "bound"): "kernel_test Toy.Below",
    ("a.n < b.n", "result"): "kernel_test Toy.Below",
    ("writeDown(n);", "write"): "kernel_test Toy.Kept",
    ("written += n;", "statement"): "kernel_test Toy.Kept",
    ("n + 2", "field"): "kernel_test Toy.Sum",
    ("n", "field"): "kernel_test Toy.Sum",
    # What is left out of Small does not compile: it is taken out.
    ("n > 2", "condition"): "",
    ("n > 2", "bound"): "",
}


def load():
    loader = importlib.machinery.SourceFileLoader("mutate", str(SCRIPTS / "mutate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(module)
    return module


def main():
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(SCRIPTS))
    try:
        import clang.cindex
        clang.cindex.Index.create()
        subprocess.run(["clang++-14", "--version"], check=True, capture_output=True)
    except Exception as why:  # no module, no library to it, or no compiler
        print(f"skipped: python3-clang-14 or clang-14 is missing: {why}")
        return 77
    mutate = load()
    with tempfile.TemporaryDirectory() as folder:
        root, build = pathlib.Path(folder).resolve() / "root", pathlib.Path(folder).resolve() / "build"
        for place in (root / "kernel", build):
            place.mkdir(parents=True)
        unit = root / "kernel/toy.cpp"
        unit.write_text(TOY)
        (root / "test.cpp").write_text(TEST)
        command = f"c++ -std=c++20 -I{root} -o CMakeFiles/witan_kernel.dir/toy.cpp.o -c {unit}"
        (build / "compile_commands.json").write_text(json.dumps([{"directory": str(build), "command": command, "file": str(unit)}]))

        class Toy(mutate.Work):
            def link(self, target, units, planted, more):
                if target != "witan-sim":
                    subprocess.run(["g++", "-std=c++20", "-O0", root / "test.cpp", self.dir / "objects/toy.cpp.o", *more, "-o",
                                    self.dir / "bin/kernel_test", "-lgtest", "-lgtest_main"], check=True)

        mutate.ROOT = root
        mutate.TESTS = {"kernel": ["kernel_test"]}
        options = argparse.Namespace(work=None, build=str(build), rooms="kernel", draw=100, seed=1, units=None, seeds=0, minutes=5,
                                     scenarios="", skip="", longest=60, only=None)
        hunted = Toy(options).hunt()
        text = mutate.report(hunted)
    print(text)
    found = {(bug["text"].removeprefix("return "), bug["kind"]): bug for bug in hunted}
    wrong = [f"{key}: {found[key]['checker'] if key in found else 'not planted'}, not {by}" for key, by in EXPECTED.items()
             if key not in found or found[key]["checker"] != by]
    wrong += [f"{key}: not foreseen" for key in found if key not in EXPECTED]
    if found.get(("n > 2", "bound"), {}).get("by") != "unreachable":
        wrong.append("what no test reaches is not called so")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
