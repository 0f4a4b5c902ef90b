// TreeLink: what one link does for the live updates of one space: pass them on at once, or only say what is here. After
// Plumtree (Leitao, Pereira, Rodrigues: "Epidemic broadcast trees", 2007), with version vectors as the digests.
//
//   eager   segments go out as soon as there is something to send; all links begin so
//   prune   a segment brought nothing new: its sender is told so, and both ends are lazy on this link
//   lazy    segments do not go out; an acknowledgement (this side's vector) does, for several updates together
//   graft   a vector shows what is not here, and it does not come for a while, or comes late over another link: its
//           sender is told so, and both ends are eager again
//
// What stays eager is a tree over all devices: an update crosses each of its links once. When a link of it fails, the
// digests beside it show what is missing. Underneath is anti-entropy: a peer that has shown for long that it lacks
// something gets it, lazy or not, so no prune, lost graft or lie about it keeps an update from a device.
// A digest is a vector: one that is replayed says nothing new, and one that is made up costs a single graft.
//
// The time comes as an argument. Values, no I/O; not thread-safe. A sync session has one for each space it shares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace witan::replication {

class TreeLink {
 public:
  static constexpr std::int64_t kDigestMs = 300;  // updates are gathered so long
  static constexpr std::int64_t kGraftMs = 300;
  static constexpr std::int64_t kShorterMs = 100;  // and the digest itself waited for kDigestMs
  static constexpr std::int64_t kAnywayMs = 3'000;

  // --- what comes
  // A segment of the peer had nothing new: say prune.
  void repeated() { be(false); }
  void fresh() { be(true); }
  void pruned() { be(false); }
  void grafted() { be(true); }

  // Nothing but eager, in both directions: there is nothing to compare.
  bool plain() const { return sends_ && receives_; }
  struct Compared {
    bool peerLacks = false;  // something that is here, by its own word
    bool lacks = false;      // this side, something that the peer has
    bool untold = false;     // the peer was not told of all that is here
  };
  // True: what a digest of this lazy link showed came over another one, and later by so much that this one is shorter.
  bool compare(const Compared& now, std::int64_t nowMs) {
    const bool shorter = !receives_ && !now.lacks && due(lacksMs_, kShorterMs, nowMs);
    since(peerLacksMs_, now.peerLacks, nowMs);
    since(lacksMs_, now.lacks, nowMs);
    since(untoldMs_, now.untold, nowMs);
    return shorter;
  }

  // --- what to do
  // A link that was late is eager again: its peer says prune if it need not be.
  bool maySend(std::int64_t nowMs) { return sends_ = sends_ || due(peerLacksMs_, kAnywayMs, nowMs); }
  bool receives() const { return receives_; }
  bool digestDue(std::int64_t nowMs) const { return !sends_ && due(untoldMs_, kDigestMs, nowMs); }
  // True: say graft, unless another link was asked just now.
  bool graftDue(std::int64_t nowMs) const { return !receives_ && due(lacksMs_, kGraftMs, nowMs); }
  // Said, or put off.
  void graft(bool said, std::int64_t nowMs) {
    if (said) be(true);
    if (lacksMs_ >= 0) lacksMs_ = nowMs;
  }
  // When one of these becomes due, after `nowMs`.
  std::int64_t nextMs(std::int64_t nowMs) const {
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    const auto add = [&](std::int64_t sinceMs, std::int64_t waitMs) {
      if (sinceMs >= 0 && sinceMs + waitMs > nowMs) next = std::min(next, sinceMs + waitMs);
    };
    if (!sends_) add(peerLacksMs_, kAnywayMs), add(untoldMs_, kDigestMs);
    if (!receives_) add(lacksMs_, kGraftMs);
    return next;
  }

 private:
  void be(bool eager) {
    if (sends_ && !eager) peerLacksMs_ = untoldMs_ = -1;
    if (receives_ && !eager) lacksMs_ = -1;
    sends_ = receives_ = eager;
  }
  static void since(std::int64_t& ms, bool holds, std::int64_t nowMs) {
    if (!holds) ms = -1;
    if (holds && ms < 0) ms = nowMs;
  }
  static bool due(std::int64_t sinceMs, std::int64_t waitMs, std::int64_t nowMs) {
    return sinceMs >= 0 && nowMs - sinceMs >= waitMs;
  }

  bool sends_ = true, receives_ = true;
  std::int64_t peerLacksMs_ = -1, lacksMs_ = -1, untoldMs_ = -1;  // since when; -1: it does not
};

}  // namespace witan::replication
