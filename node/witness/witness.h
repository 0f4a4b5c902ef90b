// Witness: cosigns checkpoints of logs that it was told of (C2SP tlog-witness, add-checkpoint). Each that it cosigns
// extends all that it has cosigned of that log, so nobody can show two histories under its name.
//
//   old SIZE                        that it knows of this log; 0: none
//   HASH                            in base64, each of the consistency proof from there
//
//   CHECKPOINT                      signed by a key of its log
//
// A log is an origin that a key may sign: the key's own name; of a device of a cluster each epoch that it owns
// (replica/core/log_head.h). What it cosigned is remembered before the answer leaves. No I/O but that. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/merkle.h"
#include "replica/core/signed_sizes.h"

namespace witan::node {

inline constexpr std::size_t kMaxWitnessedLogs = 16'384;  // of all keys; each has an equal share
inline constexpr std::size_t kMaxAddCheckpoint = 64 * 1024;

class Witness {
 public:
  struct Answer {
    int status = 200;  // 200, 400, 403, 404, 409, 422, 500, 503
    std::string contentType = "text/plain; charset=utf-8";
    std::string body;
  };
  using Remember = std::function<Status(std::string_view text)>;

  // `remembered`: what `remember` was told last; empty: nothing. Errors: corrupt.
  static Result<Witness> open(kernel::NoteSigner signer, std::vector<kernel::NoteVerifier> logs,
                              std::string_view remembered, Remember remember);

  Answer addCheckpoint(std::string_view body, Time now);
  std::size_t logs() const { return known_.size(); }

 private:
  Witness(kernel::NoteSigner signer, std::vector<kernel::NoteVerifier> keys, Remember remember)
      : signer_(std::move(signer)), keys_(std::move(keys)), remember_(std::move(remember)) {}
  std::vector<kernel::NoteVerifier> keysOf(std::string_view origin) const;
  Status hasRoomFor(const kernel::NoteVerifier& key) const;

  kernel::NoteSigner signer_;
  std::vector<kernel::NoteVerifier> keys_;
  Remember remember_;
  SignedSizes known_;
};

// The body of a request.
std::string addCheckpointBody(std::uint64_t old, const std::vector<Hash>& proof, std::string_view note);

}  // namespace witan::node
