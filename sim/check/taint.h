// Taint: finds marked writes where they must not be. The workload puts a marker into what it writes into a scope,
// "taint-SCOPE-NUMBER"; whatever form the bytes take on their way (Cap'n Proto, JSON, keys, frames), the marker stays
// readable, so a search over all bytes of a device shows what it ever had (checker 6, confinement).
//
// A number may be cut short: ids pack their trailing hex digits (base/dense.h). The scope never is. What is compressed
// or encrypted is not seen through. Values and pure functions, but for Confinement's memory of streams; not
// thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace witan::sim {

inline constexpr std::string_view kTaintPrefix = "taint-";

// Requires: the scope is of letters, digits, '.', '_' and '-'.
std::string taintMarker(std::string_view scope, std::uint64_t number);

struct Taint {
  std::string scope;       // "" if the marker names none of the known ones
  std::string number;      // the digits that are there
  std::size_t offset = 0;  // of the marker
};

// Every marker in `bytes`, in order. `scopes`: the known ones; where two fit the longer is meant. A search for one
// fixed text, so about as fast as memory; O(scopes) for each marker.
std::vector<Taint> findTaint(std::string_view bytes, const std::vector<std::string>& scopes);

class Confinement {
 public:
  using MayHave = std::function<bool(std::string_view device, std::string_view scope)>;

  Confinement(std::vector<std::string> scopes, MayHave mayHave);

  // A row of one of a device's stores: "" or which marker is in it that the device may not have.
  std::string checkRow(std::string_view device, std::string_view store, std::string_view key,
                       std::string_view value) const;
  // The next bytes that a device received from another. A marker may lie across two calls.
  std::string checkReceived(std::string_view device, std::string_view peer, std::string_view bytes);
  // The connection ended: what comes next is another stream.
  void closed(std::string_view device, std::string_view peer);

  // Also those that are where they may be.
  std::uint64_t markersSeen() const { return seen_; }

 private:
  struct Stream {
    std::string tail;  // the end of what came, if a marker may have begun there
    std::uint64_t received = 0;
  };
  std::size_t beginningAtEnd(std::string_view bytes) const;
  std::string check(std::string_view device, std::string_view bytes, const std::string& place,
                    std::uint64_t base) const;

  std::vector<std::string> scopes_;
  std::vector<std::string> markers_;  // of the scopes, without a number
  std::size_t longest_ = 0;           // of those
  MayHave mayHave_;
  std::map<std::pair<std::string, std::string>, Stream, std::less<>> streams_;
  mutable std::uint64_t seen_ = 0;
};

}  // namespace witan::sim
