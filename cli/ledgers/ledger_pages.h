// LedgerPages: all entries of some ledgers by time, oldest first, of which a page of each ledger is held at a time.
//
// For commands that show everything, however much that is. What is asked outlives it; one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace witan::node {

class LedgerPages {
 public:
  // The oldest entries of a ledger after entry `after`, as rows (node/ledgers/ledger_rows.h); none: there are no more.
  using Fetch = std::function<Result<json::array>(const std::string& partition, std::uint64_t after)>;
  LedgerPages(const std::vector<std::string>& partitions, Fetch fetch);

  // None: that was the last one. O(ledgers). Errors: of fetching, and a row that is none.
  Result<std::optional<json::value>> next();

 private:
  struct Ledger {
    std::string partition;
    std::uint64_t after = 0;
    json::array page;
    std::size_t at = 0;
    std::int64_t micros = 0;  // of the row at `at`
    bool over = false;
  };
  Status fill(Ledger& ledger);

  std::vector<Ledger> ledgers_;
  const Fetch fetch_;
};

}  // namespace witan::node
