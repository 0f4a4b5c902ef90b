// What a set of devices must hold after they have told each other everything: computed from the commits themselves,
// with the full context of each, which is never shortened. It knows nothing of spaces, sessions, gates or stability.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "replication/records/record_schemas.h"
#include "replication/vector_clock.h"

namespace witan::replication::test {

struct Written {
  Kind kind = Kind::agentState;
  std::string key;
  Dot dot;
  std::string body;
  bool tombstone = false;
  VectorClock context;  // everything its author had seen of the key, at any remove, and its own dot
};

class Oracle {
 public:
  using Dots = std::set<Dot>;
  using Keys = std::map<std::pair<Kind, std::string>, Dots>;

  void add(const std::string& space, Written written) {
    spaces_[space].insert_or_assign(std::tuple(written.dot, written.kind, written.key), std::move(written));
  }
  // A commit that was lost with its device's memory.
  void forget(const std::string& space, const Dot& dot) {
    std::erase_if(spaces_[space], [&](const auto& entry) { return entry.second.dot == dot; });
  }
  const Written* find(const std::string& space, Kind kind, const std::string& key, const Dot& dot) const {
    const auto at = spaces_.find(space);
    if (at == spaces_.end()) return nullptr;
    const auto found = at->second.find(std::tuple(dot, kind, key));
    return found == at->second.end() ? nullptr : &found->second;
  }

  // The versions that no other known one had seen, by record. Known is what `clock` covers, and `extra`: what arrived
  // in a round that nobody can complete any more.
  Keys maximal(const std::string& space, const VectorClock& clock, const std::set<const Written*>& extra) const {
    std::map<std::pair<Kind, std::string>, std::vector<const Written*>> known;
    if (const auto at = spaces_.find(space); at != spaces_.end())
      for (const auto& [id, written] : at->second)
        if (clock.covers(written.dot) || extra.contains(&written))
          known[{written.kind, written.key}].push_back(&written);
    Keys out;
    for (const auto& [record, versions] : known) {
      for (const Written* v : versions) {
        bool seen = false;
        for (const Written* other : versions) seen = seen || (other->dot != v->dot && other->context.covers(v->dot));
        if (!seen) out[record].insert(v->dot);
      }
    }
    return out;
  }

 private:
  std::map<std::string, std::map<std::tuple<Dot, Kind, std::string>, Written>, std::less<>> spaces_;
};

}  // namespace witan::replication::test
