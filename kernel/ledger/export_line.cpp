#include "kernel/ledger/export_line.h"

#include <algorithm>

#include "base/concat.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::kernel {

namespace {

std::vector<std::string> wordsOf(const json::value& verdicts) {
  std::vector<std::string> words;
  if (const json::object* members = verdicts.if_object())
    for (const auto& [name, word] : *members) words.push_back(canonicalJson(word));
  std::ranges::sort(words);
  return words;
}

}  // namespace

// People read this half of a line, and only the other half is signed. Without the invariants' names the words of the
// verdicts count alone.
Status saysTheSame(const json::value& shown, const EntryView& e, const std::vector<std::string>& names) {
  WITAN_TRY(parsed, parseJson(entryJson(e, names), kOwnJson));
  const json::object &expected = parsed.get_object(), *members = shown.if_object();
  if (members == nullptr) return corrupt("its readable half is no object");
  for (const auto& [name, value] : expected) {
    const json::value* said = members->if_contains(name);
    const bool unnamed = name == "verdicts" && names.empty();
    if (said != nullptr && said->kind() == value.kind() &&
        (unnamed ? wordsOf(*said) == wordsOf(value) : canonicalJson(*said) == canonicalJson(value)))
      continue;
    return corrupt(concat("its readable half says another \"", std::string_view(name), "\" than its bytes"));
  }
  for (const auto& [name, value] : *members)
    if (!expected.contains(name))
      return corrupt(concat("its readable half says ", inQuotes(name), ", its bytes say none"));
  return okStatus();
}

Result<ReadLine> readExportLine(std::string_view line, std::uint64_t seq) {
  WITAN_TRY(row, parseJson(line, {.bytes = kMaxExportLine, .depth = 64}));
  const json::object* members = row.if_object();
  const auto text = [&](std::string_view name) -> const json::string* {
    const json::value* member = members == nullptr ? nullptr : members->if_contains(name);
    return member == nullptr ? nullptr : member->if_string();
  };
  const json::string *bytes = text("bytes"), *leaf = text("leafHash");
  if (bytes == nullptr || leaf == nullptr || members->size() != 4 || !members->contains("seq") ||
      !members->contains("entry"))
    return corrupt("the line has other members than seq, leafHash, bytes and entry");
  if (members->at("seq") != json::value(seq)) return corrupt("the line has another number");
  return ReadLine{std::string(*leaf), std::string(*bytes), members->at("entry")};
}

std::optional<WrittenLine> cutWrittenLine(std::string_view line, std::uint64_t seq) {
  const auto take = [&line](std::string_view word) {
    const bool there = line.starts_with(word);
    if (there) line.remove_prefix(word.size());
    return there;
  };
  const auto text = [&line] {
    const std::string_view taken = line.substr(0, line.find('"'));
    line.remove_prefix(taken.size());
    return taken;
  };
  if (!isUtf8(line)) return std::nullopt;
  WrittenLine cut;
  if (!take(concat("{\"seq\":", seq, ",\"leafHash\":\""))) return std::nullopt;
  cut.leaf = text();
  if (!take("\",\"bytes\":\"")) return std::nullopt;
  cut.bytes = text();
  if (!take("\",\"entry\":") || !line.ends_with('}')) return std::nullopt;
  cut.entry = line.substr(0, line.size() - 1);
  return cut;
}

}  // namespace witan::kernel
