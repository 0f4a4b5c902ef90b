// NodeLedgers: the ledgers of a data directory, through the node that runs on it or at rest: what `witan ledger` reads
// of them, their signed heads, and proofs.
//
// Blocking; one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/control_client.h"
#include "cli/ledgers/ledger_source.h"
#include "node/data_dir/node_dir.h"
#include "node/ledgers/ledger_heads.h"

namespace witan::node {

class NodeLedgers final : public LedgerSource {
 public:
  static Result<std::unique_ptr<NodeLedgers>> open(const LedgerChoice& choice);

  Status newest(std::size_t most, const Visit& visit) override;
  Result<std::vector<LedgerLine>> numbered(std::uint64_t seq) override;
  Result<json::value> verify(const VerifyChoice& how) override;
  Status follow(const std::function<bool(const LedgerLine&)>& visit) override;
  Status close() override;

  // The partition that the choice names, or the only one with entries. Errors: invalid, several have entries.
  Result<std::string> partition();
  // Errors: as node::headOf and node::proveEntry.
  Result<LedgerHead> head(const std::string& partition, bool signedOnly);
  Result<InclusionProof> proof(const std::string& partition, std::uint64_t seq, std::uint64_t size,
                               std::uint64_t since);
  // Rows with "bytes", oldest first, from entry `from` to `to`; 0: to the end.
  Status exported(const std::string& partition, std::uint64_t from, std::uint64_t to,
                  const std::function<void(const json::value& row)>& visit);

 private:
  // Either a client, or a directory at rest.
  NodeLedgers(LedgerChoice choice, std::optional<ControlClient> client, std::unique_ptr<NodeDir> node)
      : choice_(std::move(choice)), client_(std::move(client)), node_(std::move(node)) {}
  std::string filters() const;
  Result<json::array> fetch(const std::string& query);
  Result<LedgerLine> asked(std::uint64_t seq);
  Result<json::array> after(const std::string& partition, std::uint64_t seq, std::size_t most, bool bytes = false);
  // With the number of the last entry that was pruned from it; 0: it is whole.
  Result<std::map<std::string, std::uint64_t>> partitions();
  Status checkKept(const std::string& file, const VerifyChoice& how);

  const LedgerChoice choice_;
  const std::optional<ControlClient> client_;
  const std::unique_ptr<NodeDir> node_;
};

}  // namespace witan::node
