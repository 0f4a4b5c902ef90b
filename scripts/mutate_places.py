"""The bugs that scripts/mutate plants: found in the syntax tree (libclang), told as insertions into the text.

Each bug has a number, and is active if the environment variable WITAN_MUTANT names it (PLANTED below). All inserts keep
the lines where they are, and nest, so that many bugs stand in one program.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess

import clang.cindex as cindex

CLANG = "clang++-14"
WRITE = re.compile(r"\b(put|erase|commit|flush|sync|stage|append|write|save|store|truncate)\w*\(")
FLIPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
FUNCTIONS = ("CXX_METHOD", "FUNCTION_DECL", "CONSTRUCTOR", "DESTRUCTOR", "FUNCTION_TEMPLATE", "CONVERSION_FUNCTION")
EXPRESSIONS = ("CALL_EXPR", "BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR", "UNARY_OPERATOR", "UNEXPOSED_EXPR")
# Left out, they change nothing or do not compile.
KEPT = ("return", "WITAN_TRY", "WITAN_SET", "WITAN_CHECK", "co_", "delete", "(void)")
# Of these the type cannot be had, or they are blank.
BLANK = re.compile(r'\{|""$|0$|false$|nullptr$|std::nullopt$')
PLANTED = """// Which planted bug is active, and which places are reached (scripts/mutate).
#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <type_traits>
#include <utility>
namespace planted {
inline unsigned char nowhere[65536];
inline unsigned char* reached = nowhere;
inline int begin() {
  if (const char* path = getenv("WITAN_REACHED"))
    reached = static_cast<unsigned char*>(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR), 0));
  return getenv("WITAN_MUTANT") == nullptr ? 0 : atoi(getenv("WITAN_MUTANT"));
}
inline const int active = begin();
inline bool on(int n) { return reached[n] = 1, n == active; }
inline bool no(int n, bool value) { return value != on(n); }
template <class T>
std::decay_t<T> blank(int n, T&& value) {
  if (!on(n)) return std::forward<T>(value);
  if constexpr (std::is_convertible_v<T, const char*>)
    return "";
  else
    return std::decay_t<T>{};
}
}  // namespace planted
"""

# Linked into unit tests: a line for each case with what it reached, in the file that WITAN_CASES names.
RECORDER = """#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <fstream>

#include "planted.h"
namespace {
class Recorder : public testing::EmptyTestEventListener {
  std::clock_t begin_ = 0;
  void OnTestStart(const testing::TestInfo&) override { std::memset(planted::reached, 0, 65536), begin_ = std::clock(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    std::ofstream out(getenv("WITAN_CASES"), std::ios::app);
    out << test.test_suite_name() << '.' << test.name() << '\\t' << double(std::clock() - begin_) / CLOCKS_PER_SEC << '\\t'
        << test.result()->Passed() << '\\t';
    for (int n = 0; n < 65536; ++n)
      if (planted::reached[n] != 0) out << n << ' ';
    out << '\\n';
  }
};
const bool listens = getenv("WITAN_CASES") != nullptr &&
                     (testing::UnitTest::GetInstance()->listeners().Append(new Recorder), true);
}  // namespace
"""


class Source:
    """The text of a file, and what macros span in it: the tree says nothing usable about places in there."""

    def __init__(self, path, name):
        self.bytes = path.read_bytes()
        self.name = name
        self.macros = [(m.start(), self.closing(m.end() - 1)) for m in re.finditer(rb"\b[A-Z][A-Z0-9_]{3,}\(", self.bytes)]

    def closing(self, at):
        depth = 0
        for i in range(at, len(self.bytes)):
            depth += {40: 1, 41: -1}.get(self.bytes[i], 0)
            if depth == 0:
                return i + 1
        return len(self.bytes)

    def text(self, begin, end):
        return self.bytes[begin:end].decode()

    def usable(self, begin, end):
        """No edge of it lies within a macro."""
        return end > begin and not any(m <= begin < e or m < end < e for m, e in self.macros)

    def semicolon(self, begin, end):
        """Where the statement ends; none: it is no statement of its own."""
        end = next((e for m, e in self.macros if m == begin), end)
        match = re.compile(rb"\s*;").match(self.bytes, end)
        return match.end() if match else None


class Places:
    """Walks a function, and collects what can be planted there."""

    def __init__(self, source):
        self.source, self.found, self.known = source, [], set()

    def add(self, kind, begin, end, inserts, what):
        text = " ".join(self.source.text(begin, end).split())
        if "mutated(" in text or (kind, begin, end) in self.known or any("\n" in words for _, words in inserts):
            return
        self.known.add((kind, begin, end))
        line = self.source.bytes.count(b"\n", 0, begin) + 1
        last = line + self.source.bytes.count(b"\n", begin, end)
        self.found.append({"file": self.source.name, "line": line, "last": last, "kind": kind, "begin": begin, "end": end,
                           "inserts": inserts, "text": text[:160], "what": what})

    def negate(self, node, kind):
        begin, end = node.extent.start.offset, node.extent.end.offset
        if self.source.usable(begin, end):
            self.add(kind, begin, end, [[begin, "planted::no(@, static_cast<bool>("], [end, "))"]], "negated")

    def binary(self, left, right):
        begin, end = left.extent.start.offset, right.extent.end.offset
        operator = self.source.text(left.extent.end.offset, right.extent.start.offset).strip()
        if operator in ("&&", "||"):
            for side in (left, right):
                self.negate(side, "condition")
        if not self.source.usable(begin, end):
            return
        a, b = self.source.text(begin, left.extent.end.offset), self.source.text(right.extent.start.offset, end)
        if operator in FLIPPED:
            other = " ".join(f"{a} {FLIPPED[operator]} {b}".split("\n"))
            self.add("bound", begin, end, [[begin, f"(planted::on(@) ? ({other}) : ("], [end, "))"]], FLIPPED[operator])
        if operator in ("+", "-") and b == "1":
            self.add("bound", begin, end, [[right.extent.start.offset, "(planted::on(@) ? 0 : "], [end, ")"]], "0 for 1")

    def members(self, node):
        """Fields of a value made in braces: `.name = value`."""
        begin, end = node.extent.start.offset, node.extent.end.offset
        named = re.match(r"\.\w+ = ", self.source.text(begin, end))
        value = begin + len(named.group()) if named else begin
        if named and self.source.usable(begin, end) and not BLANK.match(self.source.text(value, end)):
            return value, end
        return None

    def block(self, nodes):
        before = None
        for node in nodes:
            begin = node.extent.start.offset
            end = self.source.semicolon(begin, node.extent.end.offset)
            here = self.statement(node, begin, end) if end else None
            if here and before and WRITE.search(here) and WRITE.search(before[2]) and here != before[2] and "//" not in here:
                first = [[before[0], "{ if (planted::on(@)) { " + " ".join(here.split("\n")) + " } } "]]
                self.add("exchanged", before[0], end, first + [[begin, "{ if (!planted::on(@)) "], [end, " }"]],
                         "the second first")
            before = (begin, end, here) if here else None

    def statement(self, node, begin, end):
        text = self.source.text(begin, end)
        jump = text in ("return;", "continue;")
        if not jump and (text.startswith(KEPT) or not (text.startswith("WITAN_DO(") or node.kind.name in EXPRESSIONS)):
            return None
        assigned = re.match(r"[\w\]\[.>()-]*(\.|->)\w+ = ", text)
        kind = "field" if assigned else "write" if WRITE.search(text) else "statement"
        self.add(kind, begin, end, [[begin, "{ if (!planted::on(@)) "], [end, " }"]], "left out")
        return None if jump else text

    def walk(self, node):
        name = node.kind.name
        children = list(node.get_children())[name == "CASE_STMT":]
        if name == "STATIC_ASSERT" or name in ("DECL_STMT", "IF_STMT") and self.frozen(node, children):
            return
        if name == "COMPOUND_STMT":
            self.block(children)
        elif name in ("IF_STMT", "WHILE_STMT", "CONDITIONAL_OPERATOR"):
            self.decision(children)
        elif name == "BINARY_OPERATOR" and len(children) == 2:
            self.binary(*children)
        elif name == "RETURN_STMT" and children and children[0].type.get_canonical().spelling == "bool":
            self.negate(children[0], "result")
        elif name == "INIT_LIST_EXPR":
            for begin, end in filter(None, map(self.members, children)):
                self.add("field", begin, end, [[begin, "planted::blank(@, "], [end, ")"]], "not copied")
        if name in ("IF_STMT", "WHILE_STMT", "FOR_STMT", "CXX_FOR_RANGE_STMT", "CASE_STMT", "DEFAULT_STMT"):
            for child in children[-2 if name == "IF_STMT" else -1:]:
                self.block([child])
        for child in children:
            self.walk(child)

    def frozen(self, node, children):
        """What the compiler evaluates, and bodies of the mutants that ship."""
        head = self.source.text(node.extent.start.offset, node.extent.end.offset).split("{", 1)[0]
        if node.kind.name == "IF_STMT" and children:
            head = self.source.text(node.extent.start.offset, children[0].extent.end.offset)
        return "constexpr" in head or "mutated(" in head

    def decision(self, children):
        first = children[0]
        if first.kind.name == "DECL_STMT" and len(children) > 1:
            between = self.source.text(first.extent.start.offset, children[1].extent.start.offset)
            first = children[1] if between.rstrip().endswith(";") else first
        if first.kind.is_expression():
            self.negate(first, "condition")


class Units:
    """The compilations of the rooms, by clang, with the build's precompiled header made once more for it."""

    def __init__(self, root, build, rooms, work):
        self.root, self.work, self.headers = root, work, {}
        self.units, self.unitOf, pattern = {}, {}, re.compile(r"CMakeFiles/witan_(" + "|".join(rooms) + r")(_hooked)?\.dir/")
        for entry in json.loads((build / "compile_commands.json").read_text()):
            if pattern.search(entry["command"]) and ".capnp." not in entry["file"] and entry["file"] not in self.units:
                self.units[entry["file"]] = entry["command"]
                for name in self.sources(entry["file"]):
                    self.unitOf[name] = entry["file"]

    def sources(self, unit):
        """The files that it compiles: those that it includes, or itself."""
        path = pathlib.Path(unit)
        included = re.findall(r'#include "(\S+\.cpp)"', path.read_text())
        return included or [str(path.relative_to(self.root))]

    def arguments(self, unit, first):
        """Headers and planted files come from the folder `first`, if they are there."""
        words = shlex.split(self.units[unit])
        flags = [w for w in words if w.startswith(("-I", "-D", "-std")) and w != "-DWITAN_MUTANTS"] + ["-w", "-O1"]
        flags += [x for i, w in enumerate(words) if w == "-isystem" for x in words[i:i + 2]]
        if "-include" in words:
            key = (words[words.index("-include") + 1], *flags)
            if key not in self.headers:
                self.headers[key] = self.work / f"prelude{len(self.headers)}.pch"
                if not self.headers[key].exists():
                    subprocess.run([CLANG, "-xc++-header", *flags, key[0], "-o", self.headers[key]], check=True)
            flags += ["-include-pch", str(self.headers[key])]
        return [f"-I{first}", *flags] if first else flags

    def compile(self, unit, first, to):
        """None, or where it does not compile: names of files with lines."""
        itself = os.path.relpath(unit, self.root)
        file = first / itself if itself in self.unitOf else unit
        done = subprocess.run([CLANG, "-ferror-limit=0", *self.arguments(unit, first), "-c", file, "-o", to],
                              capture_output=True, text=True)
        if done.returncode == 0:
            return None
        wrong = {(name, int(line)) for name, line in re.findall(r"^(\S+):(\d+):\d+: (?:fatal )?error", done.stderr, re.M)}
        assert wrong, done.stderr
        return wrong

    def places(self, wanted, say):
        """Every place of the files that `wanted` wants."""
        found, done = [], set()
        for file in self.units:
            before, sources = len(found), {}
            unit = cindex.Index.create(excludeDecls=True).parse(file, args=["-xc++", *self.arguments(file, None)])
            self.visit(unit.cursor, lambda name: name not in done and wanted(name), sources, found)
            done |= set(sources)
            errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
            say(f"{pathlib.Path(file).name}: {len(found) - before} places" + (f", {len(errors)} errors: {errors[0]}" if errors else ""))
        return sorted(found, key=lambda p: (p["file"], p["begin"], p["end"], p["kind"]))

    def visit(self, node, wanted, sources, found):
        for child in node.get_children():
            file = child.location.file
            name = file.name.removeprefix(f"{self.root}/") if file else ""
            if not name.endswith(".cpp") or not wanted(name):
                continue
            if child.kind.name not in FUNCTIONS:
                self.visit(child, wanted, sources, found)
            elif child.is_definition():
                places = Places(sources.setdefault(name, None) or Source(self.root / name, name))
                sources[name] = places.source
                head = places.source.text(child.extent.start.offset, child.extent.end.offset).split("{", 1)[0]
                if "constexpr" in head:
                    continue
                for body in child.get_children():
                    if body.kind.name == "COMPOUND_STMT":
                        places.walk(body)
                found.extend(places.found)


def plant(root, folder, names, places):
    """Writes the changed ones of these files into `folder`. Of inserts at one place, outer ones open first and close last."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
    for name in {place["file"] for place in places}:
        text, inserts = (root / name).read_bytes(), []
        for place in (p for p in places if p["file"] == name):
            length = place["end"] - place["begin"]
            if " ".join(text[place["begin"]:place["end"]].decode().split())[:160] != place["text"]:
                raise SystemExit(f"mutate: {name} has changed since the places were read: remove the folder of work")
            for at, words in place["inserts"]:
                opens = not words.lstrip().startswith((")", "}"))
                inserts.append((at, opens, -length if opens else length, words.replace("@", str(place["id"]))))
        for at, _, _, words in sorted(inserts, reverse=True):
            text = text[:at] + words.encode() + text[at:]
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b'#include "planted.h"\n#line 1 "' + name.encode() + b'"\n' + text)
    (folder / "planted.h").write_text(PLANTED)


def recorder(work):
    """The object that unit tests get besides."""
    made = work / "objects/recorder.o"
    if not made.exists():
        (work / "recorder.cpp").write_text(RECORDER)
        subprocess.run([CLANG, "-std=c++20", "-O0", f"-I{work / 'planted'}", "-c", work / "recorder.cpp", "-o", made], check=True)
    return made
