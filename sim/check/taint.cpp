#include "sim/check/taint.h"

#include <algorithm>
#include <cstring>

#include "base/concat.h"
#include "base/utf8.h"

namespace witan::sim {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The scope that `rest`, behind the prefix, names: the longest that fits.
std::string_view scopeIn(std::string_view rest, const std::vector<std::string>& scopes) {
  std::string_view best;
  for (const std::string& scope : scopes)
    if (scope.size() > best.size() && rest.starts_with(scope) && rest.substr(scope.size()).starts_with('-'))
      best = scope;
  return best;
}

// For people: bytes that are no text are shown as dots.
std::string shown(std::string_view key) {
  std::string text(clip(key, 80));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '.';
  return text;
}

// A log of RocksDB without the headers that begin its blocks (db/log_format.h): a record goes on behind them, and so
// may a marker.
std::string withoutBlockHeaders(std::string_view log) {
  constexpr std::size_t kBlock = 32 * 1024, kHeader = 7;
  std::string joined(log.substr(0, kBlock));
  for (std::size_t at = kBlock; at + kHeader < log.size(); at += kBlock)
    joined += log.substr(at + kHeader, kBlock - kHeader);
  return joined;
}

}  // namespace

std::string taintMarker(std::string_view scope, std::uint64_t number) {
  return concat(kTaintPrefix, scope, "-", number);
}

std::vector<Taint> findTaint(std::string_view bytes, const std::vector<std::string>& scopes) {
  std::vector<Taint> found;
  for (std::size_t from = 0; from < bytes.size();) {
    const void* at = memmem(bytes.data() + from, bytes.size() - from, kTaintPrefix.data(), kTaintPrefix.size());
    if (at == nullptr) break;
    Taint taint;
    taint.offset = static_cast<std::size_t>(static_cast<const char*>(at) - bytes.data());
    std::string_view rest = bytes.substr(taint.offset + kTaintPrefix.size());
    taint.scope = scopeIn(rest, scopes);
    from = taint.offset + kTaintPrefix.size();
    if (!taint.scope.empty()) {
      rest.remove_prefix(taint.scope.size() + 1);
      while (taint.number.size() < rest.size() && isDigit(rest[taint.number.size()]))
        taint.number += rest[taint.number.size()];
    }
    found.push_back(std::move(taint));
  }
  return found;
}

Confinement::Confinement(std::vector<std::string> scopes, MayHave mayHave)
    : scopes_(std::move(scopes)), mayHave_(std::move(mayHave)) {
  for (const std::string& scope : scopes_) {
    markers_.push_back(concat(kTaintPrefix, scope, "-"));
    longest_ = std::max(longest_, markers_.back().size());
  }
}

std::string Confinement::check(std::string_view device, std::string_view bytes, const std::string& place,
                               std::uint64_t base) const {
  for (const Taint& taint : findTaint(bytes, scopes_)) {
    ++seen_;
    if (!taint.scope.empty() && mayHave_(device, taint.scope)) continue;
    const std::string what = taint.scope.empty() ? "a marker of no scope"
                                                 : concat(kTaintPrefix, taint.scope, "-", taint.number, ", of scope ",
                                                          taint.scope, " which it may not have,");
    return concat(device, " holds ", what, " in ", place, ", byte ", base + taint.offset);
  }
  return {};
}

std::string Confinement::checkRow(std::string_view device, std::string_view store, std::string_view key,
                                  std::string_view value) const {
  const std::string place = concat("of its store ", store, ", row ", shown(key));
  if (std::string problem = check(device, key, "the key " + place, 0); !problem.empty()) return problem;
  if (!key.ends_with(".log")) return check(device, value, "the value " + place, 0);
  return check(device, withoutBlockHeaders(value), "the value " + place, 0);
}

// How many bytes at the end are the beginning of a marker, and not yet the whole.
std::size_t Confinement::beginningAtEnd(std::string_view bytes) const {
  const std::size_t most = std::min(bytes.size(), longest_ == 0 ? 0 : longest_ - 1);
  for (std::size_t at = bytes.size() - most; at < bytes.size(); ++at) {
    if (bytes[at] != kTaintPrefix[0]) continue;
    const std::string_view end = bytes.substr(at);
    for (const std::string& marker : markers_)
      if (end.size() < marker.size() && marker.starts_with(end)) return end.size();
  }
  return 0;
}

std::string Confinement::checkReceived(std::string_view device, std::string_view peer, std::string_view bytes) {
  Stream& stream = streams_[{std::string(device), std::string(peer)}];
  const std::uint64_t base = stream.received - stream.tail.size();
  stream.received += bytes.size();
  std::string joined;
  if (!stream.tail.empty()) {
    joined = concat(stream.tail, bytes);
    bytes = joined;
  }
  const std::size_t begun = beginningAtEnd(bytes);
  stream.tail = bytes.substr(bytes.size() - begun);
  bytes.remove_suffix(begun);
  return check(device, bytes, concat("what ", peer, " sent it"), base);
}

void Confinement::closed(std::string_view device, std::string_view peer) {
  streams_.erase({std::string(device), std::string(peer)});
}

}  // namespace witan::sim
