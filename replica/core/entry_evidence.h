// Evidence: files by which somebody who trusts neither the cluster nor the program sees that a device lied
// (docs/ledger-format.md, sections 9 and 10). Each holds what the device signed, and what contradicts it.
//
//   unsigned, forgedName  an owner sealed an entry, or a beginning, in a name that did not ask for it
//   unlawful              an owner sealed an entry that the rules, which it signed, do not give
//   falseAnswer           an owner told a device of one entry, and sealed another under its number in the same run
//   forgedRow             a device sealed a replicated row in another's name (replica/core/row_proofs.h)
//   fork                  two heads of one log (kernel/record/fork_proof.h)
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_codec.h"
#include "base/result.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/entry.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/signed_leaves.h"
#include "kernel/record/signed_note.h"

namespace witan::kernel {
class DomainModule;
struct LedgerFormat;
}  // namespace witan::kernel

namespace witan::node {

class PartitionHost;

inline constexpr std::size_t kMaxEntryEvidence = 8 << 20;  // bytes of the file

// Base64 of any length that the file permits.
struct FileBytes : std::string {
  using std::string::string;
  FileBytes(std::string text) : std::string(std::move(text)) {}  // NOLINT: implicit by design
};

struct EntryEvidence {
  std::string kind;
  std::string key;  // the owner's verifier key, named witan/CLUSTER/DEVICE
  std::string partition;
  std::uint64_t entry = 0;  // its number; 0: it is the beginning of `entity`
  FileBytes seal;           // of a BatchSeal (replica/core/owner_proofs.h)
  FileBytes batch;          // as it stands in the log
  Omittable<std::string> entity{};
  Omittable<std::string> head{};               // unlawful: of the seal's epoch, by the owner: it names the rules
  Omittable<FileBytes> format{};               // unlawful: of the ledger's format record, which that head is of
  Omittable<std::vector<FileBytes>> before{};  // unlawful: the batches before
  Omittable<FileBytes> answer{};               // falseAnswer: the entry as it was told
  Omittable<std::string> proof{};              // falseAnswer: the owner's word that its log holds that, in hex
  WITAN_MEMBERS(EntryEvidence, kind, key, partition, entry, seal, batch, entity, head, format, before, answer, proof)
};

struct ProvenOffence {
  kernel::NoteVerifier signer;
  std::string log;
  std::string what;  // one sentence
  std::string kind;
};

// The domain of a ledger, for as long as evidence is verified. Null: its rules are not here.
using ModuleOf = std::function<const kernel::DomainModule*(const kernel::LedgerFormat& format)>;

// Of any kind. Errors: no such file; notFound, the rules that it speaks of are not here; what it holds proves nothing.
Result<ProvenOffence> verifyEvidence(std::string_view file, const ModuleOf& moduleOf = {});

// Whether a head carries all lines of a ledger about its rules.
bool namesRules(const kernel::Checkpoint& head, const kernel::LedgerFormat& rules);

// VersionWatch: to which version of its rule file a log has come. No owner goes back: an entity begins, or is moved on,
// under no earlier version than any before it in the log, nor than the owner named in a head of the epoch for fewer
// entries. The module outlives it.
class VersionWatch {
 public:
  // `reached`: in the log before; `entries`: of that log; `named`: of the last epoch, names the module's rules.
  VersionWatch(const kernel::DomainModule& module, std::int64_t reached, std::uint64_t entries,
               std::optional<kernel::Checkpoint> named)
      : module_(module), reached_(reached), entries_(entries), named_(std::move(named)) {}

  // To the next record of the log. Empty: none; of what does not parse, too. Errors: corrupt.
  Result<std::string> objection(const kernel::LogRecord& record);
  bool isByHead() const { return byHead_; }  // the last objection
  std::int64_t reached() const { return reached_; }
  static std::int64_t reachedIn(const PartitionHost& host);

 private:
  const kernel::DomainModule& module_;
  std::int64_t reached_;
  std::uint64_t entries_;
  std::optional<kernel::Checkpoint> named_;
  bool byHead_ = false;
};

// Why an entry or a beginning of an epoch with proofs shows that its owner wrote it in another's name, to those who
// know nobody's keys but the owner's. Empty: it does not. The name of the offence goes to `kind`.
std::string offenceOf(std::string_view cluster, std::string_view domain, const kernel::EntryView& entry,
                      std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                      std::string& kind);
std::string offenceOf(std::string_view cluster, std::string_view domain, const kernel::GenesisView& beginning,
                      std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                      std::string& kind);

}  // namespace witan::node

namespace witan {

template <>
struct JsonCodec<node::FileBytes> {
  static Status read(const json::value& v, node::FileBytes& out, std::string_view where) {
    if (!v.is_string()) return wrongJsonType(where, typeName(), v);
    out = node::FileBytes(std::string(v.get_string()));
    return okStatus();
  }
  static void write(std::string& out, const node::FileBytes& v) { writeJson(out, static_cast<const std::string&>(v)); }
  static std::string typeName() { return "text"; }
};

}  // namespace witan
