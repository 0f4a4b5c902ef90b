#include "replica/core/follower_progress.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace witan::node {

// Rows: the state; columns: the event. None: the caller must not let it happen.
struct FollowerProgress::Transitions {
  using enum FollowerState;
  static constexpr std::optional<FollowerState> never = std::nullopt;
  static constexpr std::optional<FollowerState> table[4][5] = {
      // report    agree    replicate    diverge   pause
      {probing, never, never, diverged, unknown},          // unknown
      {probing, probing, replicating, diverged, probing},  // probing
      {probing, never, never, diverged, probing},          // replicating
      {diverged, probing, diverged, diverged, diverged},   // diverged
  };
};

void FollowerProgress::on(Event event) {
  const auto to = Transitions::table[static_cast<std::size_t>(state_)][static_cast<std::size_t>(event)];
  WITAN_CHECK(to.has_value(), "the state of a follower permits the event");
  state_ = *to;
  if (state_ != FollowerState::replicating) next_ = acked_ = 0;
}

void FollowerProgress::checkInvariants() const {
  WITAN_CHECK(acked_ <= next_, "a follower acknowledges only what was sent to it");
  WITAN_CHECK(acked_ <= batches_, "a follower has what it acknowledged");
  WITAN_CHECK(replicating() || next_ == 0, "only a replicating follower has entries in flight");
  WITAN_CHECK(follows_ || !replicating(), "a replicating follower has asked for entries");
  WITAN_CHECK(known_ || (!follows_ && epoch_.number == 0), "nothing is known of the log of an unknown follower");
  WITAN_CHECK(known_ ? state_ != FollowerState::unknown : state_ != FollowerState::probing && !replicating(),
              "only a report makes a follower known");
}

void FollowerProgress::report(bool follow, std::uint64_t batches, const kernel::Epoch& epoch) {
  on(Event::report);
  known_ = true;
  follows_ = follow;
  batches_ = batches;
  epoch_ = epoch;
  checkInvariants();
}

void FollowerProgress::agree() {
  on(Event::agree);
  checkInvariants();
}

void FollowerProgress::replicate(std::uint64_t next, std::int64_t nowMs) {
  WITAN_CHECK(next == batches_, "entries continue the follower's log");
  on(Event::replicate);
  if (!replicating()) return;
  next_ = acked_ = next;
  progressMs_ = nowMs;
  checkInvariants();
}

bool FollowerProgress::diverge() {
  const bool news = state_ != FollowerState::diverged;
  on(Event::diverge);
  checkInvariants();
  return news;
}

void FollowerProgress::pause() {
  on(Event::pause);
  checkInvariants();
}

void FollowerProgress::onBatchFrom(std::uint64_t batches) {
  batches_ = std::max(batches_, batches);
  if (replicating()) next_ = acked_ = std::max(acked_, batches);
  checkInvariants();
}

void FollowerProgress::acknowledge(std::uint64_t batches, std::int64_t nowMs) {
  batches_ = std::max(batches_, batches);
  if (!replicating()) return;
  if (batches > acked_) acked_ = batches, progressMs_ = nowMs;
  next_ = std::max(next_, acked_);
  checkInvariants();
}

bool FollowerProgress::resendIfStalled(std::int64_t nowMs, std::int64_t timeoutMs) {
  WITAN_CHECK(replicating(), "entries go to a replicating follower");
  const bool stalled = inFlight() > 0 && nowMs - progressMs_ > timeoutMs;
  if (stalled) next_ = acked_;
  if (inFlight() == 0) progressMs_ = nowMs;
  checkInvariants();
  return stalled;
}

void FollowerProgress::sent() {
  WITAN_CHECK(replicating(), "entries go to a replicating follower");
  ++next_;
  checkInvariants();
}

}  // namespace witan::node
