// Power loss and failing disks under a ledger: one recorded history is fed again and again to a ledger on a MemoryStore
// that fails somewhere, as `witan run --store` is run again on the same file. What was acknowledged must stand.
#pragma once

#include <functional>

#include "kernel/ledger/ledger.h"
#include "store/memory_store.h"
#include "tests/kernel/history.h"

namespace witan::kernel::test {

// What a proposer is told of an event, apart from whether it was told before.
inline std::string told(const Decision& d) {
  const Outcome outcome = d.outcome == Outcome::duplicate ? d.recorded : d.outcome;
  return std::string(enumName(outcome)) + " " + d.invariant + " " + std::to_string(d.seq) +
         (d.safe ? *d.safe ? " safe" : " unsafe" : "");
}

// The whole of a partition that anyone can see.
inline std::string picture(const Partition& p) {
  std::string out = std::to_string(p.size()) + " " + std::to_string(p.unsafeCommits()) + " ";
  const Hash root = p.tree().root();
  out.append(root.begin(), root.end());
  for (const std::string& entity : p.entities()) {
    out += "\n" + entity + " " + stateJson(p.module(), p.state(entity)) + std::to_string(p.state(entity)->notPassing);
    out.append(p.stateDigest(entity)->begin(), p.stateDigest(entity)->end());
    if (const auto pending = p.pending(entity)) {
      out += " " + std::to_string(pending->seq) + pending->role + pending->action + pending->invariant +
             pending->message + formatTime(pending->at);
      out.append(pending->digest.begin(), pending->digest.end());
      for (const Finding& f : pending->findings) out += " " + std::to_string(f.invariant) + f.message;
    }
  }
  return out;
}

class CrashRig {
 public:
  // snapshotEvery: entries between snapshots, 0 for none.
  CrashRig(const DomainModule& module, std::vector<Step> events, std::size_t perCommit, std::uint64_t snapshotEvery = 0)
      : module_(module),
        events_(std::move(events)),
        perCommit_(perCommit),
        snapshotEvery_(snapshotEvery),
        acknowledged_(events_.size()) {}

  store::MemoryStore store;

  // Opens and feeds all events from the first, `perCommit` to a commit. "" when everything was acknowledged now or
  // before and stands; "stopped" when the store failed; else what was lost or doubled.
  std::string run() {
    auto ledger = Ledger::open(store, module_, {.origin = "crash.test/log"});
    if (!ledger.ok())
      return store.struck() ? "stopped" : "can't open: " + ledger.error().message + " " + ledger.error().hint;
    recovery = (*ledger)->recovery();
    if (std::string lost = checkAcknowledged(**ledger); !lost.empty()) return lost;
    std::vector<std::pair<std::size_t, std::string>> answers;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const std::string answer = told(feed((*ledger)->partition(), events_[i]));
      if (acknowledged_[i] && *acknowledged_[i] != answer)
        return "event " + std::to_string(i) + " was told \"" + *acknowledged_[i] + "\" and now \"" + answer + "\"";
      answers.emplace_back(i, answer);
      if ((i + 1) % perCommit_ != 0 && i + 1 != events_.size()) continue;
      if (!(*ledger)->commit().ok()) return store.struck() ? "stopped" : "commit failed";
      for (const auto& [event, text] : answers) acknowledged_[event] = text;
      answers.clear();
      if (snapshotEvery_ != 0 && !(*ledger)->snapshotIfDue(snapshotEvery_).ok())
        return store.struck() ? "stopped" : "snapshot failed";
    }
    final = picture((*ledger)->partition());
    return {};
  }

  void forget() { acknowledged_.assign(events_.size(), std::nullopt); }

  RecoveryReport recovery;
  std::string final;  // after a complete run

 private:
  // Every acknowledged entry is still the entry of that event.
  std::string checkAcknowledged(Ledger& ledger) {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!acknowledged_[i] || events_[i].kind == Step::Kind::init) continue;
      const std::string& answer = *acknowledged_[i];
      const std::uint64_t seq = std::strtoull(answer.c_str() + answer.find(' ', answer.find(' ') + 1), nullptr, 10);
      if (seq == 0) continue;
      auto bytes = ledger.entryBytes(seq);
      if (!bytes.ok())
        return "entry " + std::to_string(seq) + " was acknowledged and is lost: " + bytes.error().message;
      const Entry entry = readEntry(*bytes).value();
      if (entry.operationId != events_[i].operationId || entry.seq != seq)
        return "entry " + std::to_string(seq) + " is of another event";
    }
    return {};
  }

  const DomainModule& module_;
  std::vector<Step> events_;
  std::size_t perCommit_;
  std::uint64_t snapshotEvery_;
  std::vector<std::optional<std::string>> acknowledged_;
};

// A history of `steps` random events on two entities, for a CrashRig.
inline std::vector<Step> eventsFor(const DomainModule& module, std::uint64_t seed, int steps) {
  History history(module, seed, {.unsafeEdits = true, .keepAudits = false});
  history.init("e1");
  history.init("e2");
  history.run(steps);
  return std::move(history.steps);
}

// Power loss before and after every write step of the whole run, with none, one or all of the un-synced batches kept.
// Returns "" or the first run that lost, doubled or changed anything.
inline std::string crashAtEveryWriteBoundary(const DomainModule& module, const std::vector<Step>& events,
                                             std::size_t perCommit, std::uint64_t snapshotEvery = 0) {
  CrashRig undisturbed(module, events, perCommit, snapshotEvery);
  if (std::string broken = undisturbed.run(); !broken.empty()) return "undisturbed: " + broken;
  const std::uint64_t steps = undisturbed.store.writeSteps();
  for (std::uint64_t n = 0; n < steps; ++n)
    for (store::Moment moment : {store::Moment::before, store::Moment::after})
      for (std::size_t keep : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        CrashRig rig(module, events, perCommit, snapshotEvery);
        rig.store.crashAt(n, moment);
        const std::string where = "write step " + std::to_string(n) +
                                  (moment == store::Moment::before ? " before" : " after") + ", keep " +
                                  std::to_string(keep) + ": ";
        if (std::string first = rig.run(); first != "stopped") return where + "the crash did not strike: " + first;
        rig.store.crash({.keepUnsynced = keep, .tearLastValue = {}});
        if (std::string second = rig.run(); !second.empty()) return where + second;
        if (rig.recovery.cutTornTail) return where + "nothing was torn";
        if (rig.final != undisturbed.final) return where + "another end";
      }
  return {};
}

// The write step after which the last batch is written but not synced, torn at every byte.
inline std::string tearTheLastBatchAtEveryByte(const DomainModule& module, const std::vector<Step>& events,
                                               std::size_t perCommit, std::size_t* records = nullptr) {
  CrashRig undisturbed(module, events, perCommit);
  if (std::string broken = undisturbed.run(); !broken.empty()) return "undisturbed: " + broken;
  const std::string value = undisturbed.store.last("l").value()->second;
  std::vector<std::size_t> ends;  // of the complete records
  std::size_t at = kBatchHeader;
  if (!readLogBatch(value, [&](const LogRecord& r) {
         at += kRecordHeader + (r.payload.size() + 7) / 8 * 8;
         ends.push_back(at);
         return okStatus();
       }).ok())
    return "unreadable";
  if (records != nullptr) *records = ends.size();
  for (std::size_t bytes = 0; bytes <= value.size(); ++bytes) {
    CrashRig rig(module, events, perCommit);
    rig.store.crashAt(undisturbed.store.writeSteps() - 2, store::Moment::after);  // the write; its sync never comes
    const std::string where = "torn at byte " + std::to_string(bytes) + ": ";
    if (rig.run() != "stopped") return where + "the crash did not strike";
    rig.store.crash({.keepUnsynced = 1, .tearLastValue = bytes});
    if (std::string again = rig.run(); !again.empty()) return where + again;
    const bool torn = bytes < value.size();
    const auto kept = static_cast<std::uint64_t>(std::upper_bound(ends.begin(), ends.end(), bytes) - ends.begin());
    if (rig.recovery.cutTornTail != torn) return where + "the cut was not reported";
    if (torn && rig.recovery.recordsKept != kept)
      return where + "kept " + std::to_string(rig.recovery.recordsKept) + " records, not " + std::to_string(kept);
    if (rig.final != undisturbed.final) return where + "another end";
    rig.forget();  // a third opening finds a whole log
    if (std::string third = rig.run(); !third.empty() || rig.recovery.cutTornTail)
      return where + "the cut did not hold: " + third;
  }
  return {};
}

}  // namespace witan::kernel::test
