#include "tests/tidy/tidy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <set>

namespace witan::tidy {

namespace {

struct Room {
  std::string_view name;
  int floor;
};
constexpr std::array<Room, 19> kRooms{{{"base", 0},
                                       {"store", 1},
                                       {"program", 1},
                                       {"mcp", 1},
                                       {"net", 1},
                                       {"kernel", 2},
                                       {"rdf", 1},
                                       {"replication", 2},
                                       {"coordination", 3},
                                       {"saga", 3},
                                       {"rules", 3},
                                       {"agents", 4},
                                       {"domains", 5},
                                       {"market", 6},
                                       {"replica", 7},
                                       {"lab", 7},
                                       {"node", 8},
                                       {"sim", 8},
                                       {"cli", 9}}};
constexpr std::array<std::string_view, 5> kOtherFolders{"tests", "docs", "bench", "scripts", ".ci"};
constexpr std::array<std::string_view, 10> kForbiddenInCores{
    "boost/asio", "boost/beast", "thread", "mutex", "chrono", "random", "fstream", "filesystem", "sys/", "unistd.h"};

const Room* roomOf(std::string_view path) {
  const std::string_view folder = path.substr(0, path.find('/'));
  for (const Room& room : kRooms)
    if (path.size() > folder.size() && room.name == folder) return &room;
  return nullptr;
}

// Calls visit(number, line) for each line.
template <class Visit>
void forEachLine(std::string_view text, Visit visit) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    visit(number, std::string(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string at(const std::string& path, std::size_t line) { return path + ":" + std::to_string(line) + ": "; }

bool isOurs(const std::string& path) {
  if (roomOf(path) != nullptr) return true;
  const std::string folder = path.substr(0, path.find('/'));
  return path.size() > folder.size() &&
         std::find(kOtherFolders.begin(), kOtherFolders.end(), folder) != kOtherFolders.end();
}

}  // namespace

std::vector<std::string> namedPaths(std::string_view markdown) {
  static const std::regex token(R"(`(\.?[A-Za-z0-9_]+/[A-Za-z0-9_./-]*)`|\]\((\.?[A-Za-z0-9_./-]+)(#[^)]*)?\))");
  std::set<std::string> found;
  const std::string text(markdown);
  for (std::sregex_iterator match(text.begin(), text.end(), token), end; match != end; ++match) {
    const bool link = (*match)[2].matched;
    const std::string path = link ? (*match)[2].str() : (*match)[1].str();
    if (link || isOurs(path)) found.insert(path);
  }
  return {found.begin(), found.end()};
}

Findings missingPaths(const std::string& path, std::string_view markdown,
                      const std::function<bool(const std::string&)>& exists) {
  Findings findings;
  for (const std::string& named : namedPaths(markdown))
    if (!exists(named)) findings.push_back(path + ": names " + named + ", which does not exist");
  return findings;
}

Findings missingTests(const std::string& path, std::string_view markdown, std::string_view testSources) {
  static const std::regex name(R"(`([A-Z][A-Za-z0-9]+)\.([A-Z][A-Za-z0-9_]+)`)");
  Findings findings;
  const std::string text(markdown);
  for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end; ++match) {
    const std::string declared = "(" + (*match)[1].str() + ", " + (*match)[2].str();
    const std::size_t found = testSources.find(declared);
    const bool whole = found != std::string_view::npos &&
                       (testSources[found + declared.size()] == ')' || testSources[found + declared.size()] == ',');
    if (!whole)
      findings.push_back(path + ": names the test " + (*match)[1].str() + "." + (*match)[2].str() +
                         ", which does not exist");
  }
  return findings;
}

Findings tooLong(const std::string& path, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= 700) return {};
  return {path + ": " + std::to_string(lines) + " lines; a file with one idea has at most 700"};
}

Findings forbiddenWords(const std::string& path, std::string_view text) {
  // In pieces, so that this file passes.
  static const std::array<std::string, 6> words{
      "TO"
      "DO",
      "FIX"
      "ME",
      "XX"
      "X",
      "HA"
      "CK",
      "/wo"
      "rk/",
      "/ho"
      "me/"};
  const auto inWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  Findings findings;
  forEachLine(text, [&](std::size_t number, const std::string& line) {
    for (const std::string& word : words) {
      const std::size_t found = line.find(word);
      if (found == std::string::npos) continue;
      const char before = found == 0 ? ' ' : line[found - 1];
      const char after = found + word.size() < line.size() ? line[found + word.size()] : ' ';
      const bool absolute = word[0] == '/';
      if (inWord(before) || (absolute ? before == '.' : inWord(after))) continue;
      findings.push_back(at(path, number) + "\"" + word + "\" does not belong into the tree");
    }
  });
  return findings;
}

Findings forbiddenIncludes(const std::string& path, std::string_view text) {
  const Room* room = roomOf(path);
  if (room == nullptr) return {};
  const bool core = room->name == "kernel" || room->name == "coordination" || room->name == "domains" ||
                    room->name == "market" || room->name == "rdf" || path.starts_with("lab/ontology/");
  static const std::regex include(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  Findings findings;
  forEachLine(text, [&](std::size_t number, const std::string& line) {
    std::smatch match;
    if (line.find("include") == std::string::npos || !std::regex_search(line, match, include)) return;
    const std::string header = match[2];
    if (match[1] == "\"") {
      const Room* other = roomOf(header);
      if (other != nullptr && other != room && other->floor >= room->floor)
        findings.push_back(at(path, number) + std::string(room->name) + "/ may not know " + header);
      if (core && header == "store/rocks_store.h")
        findings.push_back(at(path, number) + "only node/ chooses the store's engine");
      return;
    }
    if (header.starts_with("rocksdb/") && room->name != "store")
      findings.push_back(at(path, number) + "only store/ knows RocksDB");
    if (header.starts_with("z3") && !path.starts_with("lab/proof/"))
      findings.push_back(at(path, number) + "only lab/proof/ knows Z3");
    if (header.starts_with("serd/") && !path.starts_with("rdf/"))
      findings.push_back(at(path, number) + "only rdf/ knows serd");
    if (header.starts_with("CLI/") && path != "program/command_line.cpp")
      findings.push_back(at(path, number) + "only program/command_line.cpp knows CLI11");
    if (header.starts_with("openssl/") && room->name != "base" && room->name != "net")
      findings.push_back(at(path, number) + "only base/ and net/ know OpenSSL");
    if (!core && (header.starts_with("boost/asio") || header.starts_with("boost/beast")) && room->name != "net")
      findings.push_back(at(path, number) + "only net/ knows Asio and Beast");
    for (std::string_view forbidden : kForbiddenInCores) {
      const bool folder = forbidden.back() == '/' || forbidden.find('/') != std::string_view::npos;
      if (core && (folder ? header.starts_with(forbidden) : header == forbidden))
        findings.push_back(at(path, number) + std::string(room->name) + "/ may not include <" + header + ">");
    }
  });
  return findings;
}

namespace {

// The first `depth` folders of a path; a file that lies higher up gives its own folder.
std::string folderAt(std::string_view path, int depth) {
  std::size_t end = 0;
  for (int level = 0; level < depth; ++level) {
    const std::size_t slash = path.find('/', end + (level > 0 ? 1 : 0));
    if (slash == std::string_view::npos) break;
    end = slash;
  }
  return std::string(path.substr(0, end));
}

// Folder -> folder it includes from -> one such include, as "file includes header".
using FolderGraph = std::map<std::string, std::map<std::string, std::string>>;

FolderGraph folderGraph(const std::map<std::string, std::string>& sources, int depth) {
  static constexpr std::string_view kInclude = "#include \"";
  FolderGraph graph;
  for (const auto& [path, text] : sources) {
    if (roomOf(path) == nullptr) continue;
    forEachLine(text, [&](std::size_t, const std::string& line) {
      if (!line.starts_with(kInclude)) return;
      const std::string header = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
      if (roomOf(header) == nullptr) return;
      const std::string from = folderAt(path, depth), to = folderAt(header, depth);
      if (from != to) graph[from].try_emplace(to, path + " includes " + header);
    });
  }
  return graph;
}

// The shortest way from one folder to another, as the includes on it; empty: there is none.
std::vector<std::string> wayBetween(const FolderGraph& graph, const std::string& from, const std::string& to) {
  std::map<std::string, std::string> cameFrom{{from, ""}};
  std::vector<std::string> queue{from};
  for (std::size_t next = 0; next < queue.size() && !cameFrom.contains(to); ++next) {
    const auto edges = graph.find(queue[next]);
    if (edges == graph.end()) continue;
    for (const auto& [target, include] : edges->second)
      if (cameFrom.emplace(target, queue[next]).second) queue.push_back(target);
  }
  std::vector<std::string> includes;
  if (!cameFrom.contains(to)) return includes;
  for (std::string at = to; at != from; at = cameFrom.at(at))
    includes.insert(includes.begin(), graph.at(cameFrom.at(at)).at(at));
  return includes;
}

}  // namespace

Findings folderCycles(const std::map<std::string, std::string>& sources) {
  std::size_t deepest = 1;
  for (const auto& [path, text] : sources)
    deepest = std::max<std::size_t>(deepest, static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')));
  std::set<std::string> found;
  for (int depth = 1; depth <= static_cast<int>(deepest); ++depth) {
    const FolderGraph graph = folderGraph(sources, depth);
    for (const auto& [from, edges] : graph)
      for (const auto& [to, include] : edges) {
        const std::vector<std::string> back = wayBetween(graph, to, from);
        if (back.empty()) continue;
        std::string cycle = from + "/ and " + to + "/ include each other: " + include;
        for (const std::string& one : back) cycle += "; " + one;
        if (from < to) found.insert(std::move(cycle));
      }
  }
  return {found.begin(), found.end()};
}

Findings awaitedBraces(const std::string& path, std::string_view text) {
  static constexpr std::string_view kWord = "co_await ";
  Findings findings;
  for (std::size_t from = text.find(kWord); from != std::string_view::npos; from = text.find(kWord, from + 1)) {
    const std::string_view expression = text.substr(from, text.find(';', from) - from);
    const std::size_t brace = expression.find('{');
    // A block's brace stands after a blank, and that after a parenthesis.
    if (brace == std::string_view::npos || expression.substr(brace - 2, 2) == ") ") continue;
    const auto line = static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<long>(from), '\n'));
    findings.push_back(at(path, line + 1) +
                       "something is made in braces inside of a co_await expression: name it first");
  }
  return findings;
}

Findings unlistedMutants(const std::string& path, std::string_view text, std::string_view list) {
  if (path.starts_with("tests/") || path == "base/mutant.h") return {};
  const bool asks = text.find("mutated(\"") != std::string_view::npos;
  if (asks && path.ends_with(".h")) return {path + ": asks for a mutant in a header"};
  const auto at = list.find("\n  " + path);
  const auto end = at == std::string_view::npos ? at : at + 3 + path.size();
  const bool listed = end < list.size() && (list[end] == '\n' || list[end] == ')');
  if (asks && !listed) return {path + ": asks for a mutant and is not in sim/mutants.cmake"};
  return {};
}

}  // namespace witan::tidy
