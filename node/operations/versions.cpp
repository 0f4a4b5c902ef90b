#include "node/operations/versions.h"

#include <charconv>

#include "base/quote.h"
#include "replication/writer.h"

namespace witan::node::operations {

using replication::Dot;

std::string dotWords(const Dot& dot) { return concat(dot.host, ":", dot.counter); }

std::string clockWords(const ClockRow& clock) {
  std::string out;
  for (const auto& [host, counter] : clock) out += (out.empty() ? "" : " ") + dotWords(Dot{host, counter});
  return out.empty() ? "-" : out;
}

Result<Dot> parseDot(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Dot dot;
  if (colon != std::string::npos) {
    dot.host = text.substr(0, colon);
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, dot.counter);
    if (failure == std::errc{} && stop == end && dot.counter > 0 &&
        replication::validateWriter("writer", dot.host).ok())
      return dot;
  }
  return invalid(inQuotes(text) + " names no version",
                 "a version is {writer}:{counter}, as `witan journal get` prints");
}

Result<std::string> chosenByPrefix(std::string_view given, const std::vector<std::string>& ids, const std::string& what,
                                   const std::string& hint) {
  const std::string* found = nullptr;
  for (const std::string& id : ids) {
    if (!std::string_view(id).starts_with(given)) continue;
    if (found != nullptr && *found != id) return conflict(concat("several begin with ", given), "give more digits");
    found = &id;
  }
  if (found == nullptr) return notFound(concat("there is no ", what, " ", given), hint);
  return *found;
}

}  // namespace witan::node::operations
