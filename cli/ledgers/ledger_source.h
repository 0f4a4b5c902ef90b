// LedgerSource: where `witan ledger tail|show|verify` read entries: from a ledger that `witan run` keeps, or from the
// ledgers of a data directory, through the node that runs on it or at rest.
//
// Blocking; one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace witan::node {

struct LedgerChoice {
  std::string store, dir;                 // store: of `witan run`; else dir
  std::string domain, partition, entity;  // empty: any
};

// How `witan ledger verify` checks. Keys and heads are kept outside of the store: who can write the store can replace
// those in it.
struct VerifyChoice {
  bool replay = false;
  bool requireSigned = false;            // every entry is to be covered by a checkpoint with a checked signature
  std::vector<std::string> vkeys;        // files of verifier keys; none: the store's
  std::uint64_t require = 1;             // of these keys' owners, so many sign each of the heads
  std::vector<std::string> checkpoints;  // files of earlier heads
};

struct LedgerLine {
  std::string partition;  // empty: of `witan run`
  std::uint64_t seq = 0;
  std::string leafHash;
  std::string story;  // for people
  std::string json;   // the entry; of a data directory with the members around it (node/ledgers/ledger_rows.h)
};

class LedgerSource {
 public:
  using Visit = std::function<void(const LedgerLine&)>;

  // Errors: notFound; conflict, another process has it open.
  static Result<std::unique_ptr<LedgerSource>> open(const LedgerChoice& choice);
  virtual ~LedgerSource() = default;

  // Oldest first; `most` = 0: all.
  virtual Status newest(std::size_t most, const Visit& visit) = 0;
  // The entries of this number, one for each ledger that has it.
  virtual Result<std::vector<LedgerLine>> numbered(std::uint64_t seq) = 0;
  // {"ok","entries","root",...}; "root" is equal on two devices whose ledgers are equal.
  virtual Result<json::value> verify(const VerifyChoice& how) = 0;
  // Entries as they come, until `visit` says no. Errors: unavailable, no node runs.
  virtual Status follow(const std::function<bool(const LedgerLine&)>& visit) = 0;
  // A clean end, after the last call.
  virtual Status close() { return okStatus(); }
};

// The same for a file of `witan ledger export`, in the form of LedgerSource::verify(). Errors: of the files.
Result<json::value> verifyExportFile(const std::string& file, const VerifyChoice& how);

// LedgerPages: all entries of some ledgers by time, oldest first, of which a page of each ledger is held at a time.
//
// For commands that show everything, however much that is. What is asked outlives it; one thread.

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
