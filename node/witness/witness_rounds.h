// WitnessRounds: has the heads of the ledgers that this node decides cosigned by witnesses outside of the cluster
// ([witness] of the configuration). A head that so many have cosigned is published.
//
//   look()        after a round of the replica: asks each witness for what it has not cosigned yet, one head at a time
//   published()   the newest head of a partition that enough have cosigned, also after a restart (DIR/heads.published)
//
// A witness that has cosigned more of a log than there is here, or something else, tells that this ledger went back or
// that two of them exist: an incident. If `require` of them say so, nothing is decided there until the partition is
// seized: what followed would contradict what this device has signed, and no head of it would be published. Belongs to
// the loop's thread; loop, log and replica outlive it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_client.h"
#include "node/telemetry/log.h"
#include "replica/core/log_head.h"
#include "replica/replica.h"

namespace witan::node {

struct WitnessOptions {
  std::vector<std::string> urls, vkeys;  // of one witness each, in the same order
  std::size_t require = 1;               // of them, for a head to be published
};
// Errors: as many keys as addresses, of cosignatures; 1 to all of them.
Status checkWitnesses(const WitnessOptions& options);

class WitnessRounds {
 public:
  // Errors: checkWitnesses; of the file.
  static Result<std::unique_ptr<WitnessRounds>> open(net::Loop& loop, Log& log, Replica& replica,
                                                     const std::filesystem::path& dir, WitnessOptions options);
  ~WitnessRounds();

  void look();
  struct Published {
    std::string text, note;
    std::uint64_t size = 0;
    std::set<std::string> witnesses;  // names of keys
  };
  // Null: none.
  const Published* published(std::string_view partition) const;
  std::size_t required() const { return options_.require; }
  const std::vector<kernel::NoteVerifier>& verifiers() const { return verifiers_; }

 private:
  struct One {
    std::unique_ptr<net::HttpClient> client;
    std::string target;
    std::map<std::string, std::uint64_t> sizes;             // that it has cosigned, by origin
    std::map<std::string, std::string, std::less<>> texts;  // that it cosigned last, by partition
    // Logs about which it contradicts, and until when they wait: other epochs' heads go on.
    std::map<std::string, std::int64_t> putOff;
    std::int64_t nextMs = 0;
    unsigned failures = 0;
    bool asked = false;
  };

  WitnessRounds(net::Loop& loop, Log& log, Replica& replica, const std::filesystem::path& dir, WitnessOptions options)
      : loop_(loop), log_(log), replica_(replica), file_(dir / "heads.published"), options_(std::move(options)) {}
  Status start();
  Status load();
  void askNext(std::size_t index);
  void ask(std::size_t index, const std::string& partition, const LogHead& head);
  void answered(std::size_t index, const std::string& partition, const LogHead& head,
                const Result<net::HttpResponse>& answer);
  void cosigned(std::size_t index, const std::string& partition, const LogHead& head, std::string_view lines);
  void otherSize(std::size_t index, const LogHead& head, std::string_view body);
  void wentBack(std::size_t index, const LogName& log, std::uint64_t cosignedSize);
  void accuse(std::size_t index, const LogName& log, const std::string& what);
  std::set<std::string> witnessesOf(std::string_view note) const;
  void save();

  net::Loop& loop_;
  Log& log_;
  Replica& replica_;
  const std::filesystem::path file_;
  const WitnessOptions options_;
  std::vector<kernel::NoteVerifier> verifiers_;
  std::vector<One> witnesses_;
  std::map<std::string, Published, std::less<>> gathering_, published_;  // by partition
  std::map<std::string, std::set<std::size_t>> contradicting_;           // witnesses, by partition
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace witan::node
