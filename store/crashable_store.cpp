#include "store/crashable_store.h"

namespace witan::store {

CrashableStore::SnapshotCount::~SnapshotCount() {
  std::lock_guard lock(store_.mutex_);
  --store_.snapshots_;
}

Status CrashableStore::write(const WriteBatch& batch) {
  WITAN_DO(checkLimits(batch));
  std::lock_guard lock(mutex_);
  if (batch.empty()) return closed_ ? Status(*closed_) : okStatus();
  return afterStep(step("write", [&] { return applyWrite(batch); }));
}

Status CrashableStore::sync() {
  std::lock_guard lock(mutex_);
  return afterStep(step("sync", [this] { return applySync(); }));
}

Status CrashableStore::writeSynced(const WriteBatch& batch) {
  WITAN_DO(write(batch));
  return sync();
}

Status CrashableStore::step(const char* name, const std::function<Status()>& effect) {
  const auto note = [this](Status status) {
    if (!status.ok()) closed_ = status.error();
    return status;
  };
  if (closed_) return *closed_;
  const bool fails = strikes(1);
  const std::uint64_t n = writeSteps_++;
  if (!fails) return note(effect());
  if (full_) return closeAt(name, n, "disk full: no space left", "free some space, then reopen the store");
  const bool crashes = crash_ && crash_->at == n;
  if ((crashes ? crash_ : fail_)->moment == Moment::after) WITAN_DO(note(effect()));
  powerLost_ = crashes;
  return closeAt(name, n, crashes ? "the power was lost" : "an injected fault", "reopen the store");
}

Status CrashableStore::closeAt(const char* name, std::uint64_t n, const char* why, const char* hint) {
  closed_ = ioFailed(concat(what_, "'s ", name, " (write step ", n, ") failed (", why, ")"), hint);
  return *closed_;
}

bool CrashableStore::strikes(std::uint64_t steps) const {
  const auto within = [&](const std::optional<Fault>& fault) { return fault && fault->at - writeSteps_ < steps; };
  return full_ || within(fail_) || within(crash_);
}

Status CrashableStore::countReadLocked() const {
  if (powerLost_) return *closed_;
  const std::uint64_t n = reads_++;
  if (failRead_ != n) return okStatus();
  failRead_.reset();
  return ioFailed(concat("read ", n, " of ", what_, " failed (an injected fault)"));
}

Status CrashableStore::countRead() const {
  std::lock_guard lock(mutex_);
  return countReadLocked();
}

void CrashableStore::failAt(std::uint64_t n, Moment moment) {
  std::lock_guard lock(mutex_);
  fail_ = Fault{writeSteps_ + n, moment};
}

void CrashableStore::crashAt(std::uint64_t n, Moment moment) {
  std::lock_guard lock(mutex_);
  crash_ = Fault{writeSteps_ + n, moment};
}

void CrashableStore::failReadAt(std::uint64_t n) {
  std::lock_guard lock(mutex_);
  failRead_ = reads_ + n;
}

void CrashableStore::setFull(bool full) {
  std::lock_guard lock(mutex_);
  full_ = full;
}

std::uint64_t CrashableStore::writeSteps() const {
  std::lock_guard lock(mutex_);
  return writeSteps_;
}

std::uint64_t CrashableStore::reads() const {
  std::lock_guard lock(mutex_);
  return reads_;
}

bool CrashableStore::struck() const {
  std::lock_guard lock(mutex_);
  return closed_.has_value();
}

void CrashableStore::breakDown(Error error) {
  closed_ = std::move(error);
  powerLost_ = true;
}

void CrashableStore::resetFaults() {
  closed_.reset();
  powerLost_ = false;
  fail_.reset();
  crash_.reset();
  failRead_.reset();
}

}  // namespace witan::store
