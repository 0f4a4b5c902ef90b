// MarketNodes: the market nodes of this device's graphs (docs/graphs.md). A span that waits for one is an activation,
// as for an agent; this orders one call for it under a contract that fits, and writes the end of the run: the output
// that the verified evidence is of, or why there is none.
//
// The call's name derives from the span, so every attempt, and every device that looks, finds the same call. On the
// node's loop; replica and host outlive it.
#pragma once

#include <optional>
#include <string>

#include "replica/replica.h"
#include "replication/records/records.h"

namespace witan::node {

class MarketHost;

class MarketNodes {
 public:
  MarketNodes(Replica& replica, MarketHost& host) : replica_(replica), host_(host) {}

  // Looks at all that waits. Whether something was written. O(activations).
  bool poll(Now now);

 private:
  struct Wish;
  bool serve(const replication::ActivationBody& body, Now now);
  // The digest of a contract. None: there is no open one that fits.
  std::optional<std::string> contractFor(const Wish& wish, Now now) const;
  bool end(const replication::ActivationBody& body, const std::string& cause, const json::value* output,
           const std::string& type, Now now);

  Replica& replica_;
  MarketHost& host_;
};

}  // namespace witan::node
