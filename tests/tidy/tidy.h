// Checks of the tree itself: layers, forbidden words, lengths, and paths that the documents name.
//
// Pure functions over a file's name and text, so that each has cases in which it fires (tests/tidy/tidy_test.cpp).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace witan::tidy {

// One sentence each: "kernel/x.h:12: ...". Empty: nothing to say.
using Findings = std::vector<std::string>;

// Paths of this repository that stand in a Markdown text, in backticks or as links; without those with a placeholder.
std::vector<std::string> namedPaths(std::string_view markdown);
Findings missingPaths(const std::string& path, std::string_view markdown,
                      const std::function<bool(const std::string&)>& exists);

// Tests named in a Markdown text as `Suite.Case` that stand in none of the tests' sources.
Findings missingTests(const std::string& path, std::string_view markdown, std::string_view testSources);

// Longer than 700 lines.
Findings tooLong(const std::string& path, std::string_view text);

// Words that promise instead of doing, and absolute paths of the machine it was written on.
Findings forbiddenWords(const std::string& path, std::string_view text);

// Includes of a room that is not lower (kRooms in tidy.cpp has the order); of RocksDB outside store/, serd outside
// rdf/, Z3 outside lab/proof/, CLI11 outside program/command_line.cpp and OpenSSL outside base/ and net/; and
// in kernel/, coordination/, domains/, rdf/ and lab/ontology/ of anything that brings I/O, time, threads or chance.
Findings forbiddenIncludes(const std::string& path, std::string_view text);

// Cycles of includes between folders, at every depth: folders count with all that is below them, down to each depth.
// `sources`: path -> text. O(folders^2 * includes); each finding names the includes that close the cycle.
Findings folderCycles(const std::map<std::string, std::string>& sources);

// Braces that make something inside a co_await expression: g++ 12 destroys an aggregate made there twice (a copy, a
// move and what a function returns it destroys once).
Findings awaitedBraces(const std::string& path, std::string_view text);

// A source of the cores that asks for a broken variant (base/mutant.h) and is not in `list`, the text of
// sim/mutants.cmake: the variant would never be active. A header that asks: two functions under one name.
Findings unlistedMutants(const std::string& path, std::string_view text, std::string_view list);

}  // namespace witan::tidy
