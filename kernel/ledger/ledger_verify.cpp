#include "kernel/ledger/ledger_verify.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "base/bytes.h"
#include "base/json.h"
#include "kernel/decision_check.h"
#include "kernel/ledger/export_line.h"
#include "kernel/ledger/ledger_versions.h"
#include "kernel/ledger/pruned_log.h"
#include "kernel/ledger/snapshot.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/entry_text.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/merkle.h"
#include "kernel/record/proven_trees.h"
#include "kernel/record/statement.h"
#include "kernel/run_bindings.h"

namespace witan::kernel {

namespace {

// Whose log it is; empty: not known.
struct LogOf {
  std::string cluster, domain;
};

// Of the names that a cluster gives its logs, {cluster}/{domain}/{number}, with "witan/" before it and more behind it
// in heads.
LogOf logOf(std::string_view name) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    parts.emplace_back(name.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() == 3) return {parts[0], parts[1]};
  return parts.size() == 6 && parts[0] == "witan" ? LogOf{parts[1], parts[2]} : LogOf{};
}

// Checks entries one after the other; the state it keeps is what the next entry is held against.
class EntryChecker {
 public:
  // `earlier`: of versions of the rules before the format's.
  EntryChecker(const LedgerFormat& format, const VerifyOptions& options, LogOf log,
               const std::vector<LedgerFormat>& earlier)
      : format_(format), options_(options), log_(std::move(log)), verdicts_{format.invariants.size()} {
    for (const LedgerFormat& one : earlier) verdicts_.insert(one.invariants.size());
    if (options.replay != nullptr) replay_.emplace(*options.replay);
  }

  void noteInvariants(std::uint64_t upTo, std::size_t count) { invariantsUpTo_[upTo] = count; }
  std::uint64_t proven() const { return proven_; }
  // The entry was held against what a checkpoint says of its log, and failed: the checkpoint may be of another log.
  bool failedByLog() const { return failedByLog_; }

  // Goes on behind entries that were pruned, from what they add up to. It makes no decision again: see Verification.
  Status goOnFrom(const store::Reader& snapshot, std::uint64_t entries) {
    replay_.reset();
    return visitSnapshot(
        snapshot, {[this](std::string_view id, EntitySnapshot& known, std::string_view state) -> Status {
                     if (known.pendingSeq != 0) return corrupt(concat("entity \"", id, "\" waits for a pruned entry"));
                     WITAN_TRY(parsed, parseJson(state, {.bytes = state.size(), .depth = 64}));
                     const json::value* clock = parsed.is_object() ? parsed.get_object().if_contains("clock") : nullptr;
                     Entity& entity = entities_[std::string(id)];
                     entity.begun = true, entity.entries = known.firstSeq == 0 ? 0 : 1;
                     entity.genesis = std::move(known.genesis), entity.digest = known.digest;
                     return clock == nullptr ? okStatus() : readJson(*clock, entity.clock, "clock");
                   },
                   [this](const OperationKey& key, bool turnedAway) { operations_.try_emplace(key, turnedAway); },
                   [this](const RunBindings::Row& row) { bindings_.restore(row); },
                   [this, entries](const std::vector<EpochRecord>& epochs) {
                     if (epochs.empty()) return;
                     goOnIn(epochs.back());
                     if (epochs.back().entries == entries) begins_ = last_;
                   }});
  }

  Status genesis(std::string_view payload) {
    WITAN_TRY(record, readGenesis(payload));
    Entity& entity = entities_[std::string(record.entity)];
    if (entity.begun) return corrupt(concat("entity \"", record.entity, "\" comes to be twice"));
    if (proofs_ >= kSignedBeginnings) {
      const auto name = [&](const Error& why) {
        return corrupt(concat("entity \"", record.entity, "\": ", why.message));
      };
      if (record.proof.empty()) return name(corrupt("bears no signature of who began it"));
      if (auto good = proof(record); !good.ok()) return name(good.error());
    }
    entity.begun = true;
    entity.genesis = record.genesis;
    return okStatus();
  }

  // An export has no records of beginnings: the first entry of an entity carries its own.
  // `text`: what the line shows of it, for people; `read` gives the same as a value, if the text has another form than
  // this program gives it.
  template <class Read>
  Status entryOfExport(std::string_view payload, std::uint64_t seq, std::string_view text, Read read) {
    WITAN_TRY(e, readEntryView(payload));
    ofStore_ = false;
    auto entity = entities_.find(e.entity);
    if (entity == entities_.end()) entity = entities_.try_emplace(std::string(e.entity)).first;
    if (!std::exchange(entity->second.begun, true)) entity->second.genesis = e.genesis;
    WITAN_DO(check(e, payload, seq));
    // Behind the checkpoint a later version of a rule file may have more.
    static const std::vector<std::string> kUnnamed;
    const auto& named = e.verdicts.size() > format_.invariants.size() ? kUnnamed : format_.invariants;
    const std::vector<std::string>& names = named.empty() ? names_ : named;
    if (!text.empty() && isEntryText(text, e, names, form_)) return okStatus();
    const EntryForm other = form_ == EntryForm::written ? EntryForm::sorted : EntryForm::written;
    if (!text.empty() && isEntryText(text, e, names, other)) return form_ = other, okStatus();
    WITAN_TRY(shown, read());
    WITAN_DO(saysTheSame(shown, e, named));
    learnNames(e, shown);
    return okStatus();
  }

  // An epoch begins: later than the last and named after it, on exactly the entries before it, first in its batch. An
  // owner that named a successor had nothing more to say.
  Status epoch(std::string_view payload, const MerkleFrontier& before, bool opensBatch) {
    EpochView record;
    WITAN_DO(withMessage(payload, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, record, "epoch"); }));
    const std::string name = concat("epoch ", record.number, " of ", record.owner);
    if (record.number <= last_.number) return corrupt(concat(name, " follows epoch ", last_.number));
    if (!opensBatch) return corrupt(name + " does not open its batch");
    if (record.previousNumber != last_.number || record.previousOwner != last_.owner)
      return corrupt(concat(name, " says it follows epoch ", record.previousNumber, ", not epoch ", last_.number));
    if (!successor_.empty() && record.owner != successor_ && record.cause != EpochCause::seizure)
      return corrupt(concat(name, " is not of ", successor_, ", whom the owner before named"));
    if (record.entries != before.size() || record.root != before.root())
      return corrupt(name + " says it began after other entries than those before it");
    if (record.format < proofs_) return corrupt(name + " begins without proofs, after some with them");
    goOnIn(record);
    begins_ = last_;
    return okStatus();
  }

  Status entry(std::string_view payload, std::uint64_t seq) {
    WITAN_TRY(e, readEntryView(payload));
    return check(e, payload, seq);
  }

 private:
  template <class Record>
  void goOnIn(const Record& epoch) {
    last_ = {epoch.number, std::string(epoch.owner)};
    successor_ = epoch.successor;
    proofs_ = epoch.format;
    isSigned_ = epoch.format >= kSignedFormat;
  }

  Status check(const EntryView& e, std::string_view payload, std::uint64_t seq) {
    if (e.seq != seq) return corrupt(concat("says it is entry ", e.seq));
    if (!isCanonicalEntry(e, payload)) return corrupt("its bytes are not the canonical encoding of what they say");
    WITAN_DO(once(e));
    failedByLog_ = e.tag != Tag::cRejected && !(ofStore_ ? hasVerdictsOfStore(e) : hasVerdictsOfExport(e));
    if (failedByLog_) return corrupt("its verdicts are not one per invariant");
    const auto found = entities_.find(e.entity);
    if (found == entities_.end()) return corrupt(concat("its entity \"", e.entity, "\" has no beginning"));
    WITAN_DO(chain(found->second, e));
    WITAN_DO(shape(e));
    WITAN_DO(epochOf(e));
    if (isSigned_ && hasProposer(e)) {
      const Status proven = proposer(e);
      failedByLog_ = !proven.ok();
      WITAN_DO(proven);
    }
    return replay_ ? replay_->check(e) : okStatus();
  }

  // How the lines of an export without a checkpoint name the verdicts: the next lines are likely to, too.
  void learnNames(const EntryView& e, const json::value& shown) {
    if (!format_.invariants.empty()) return;
    std::size_t i = 0;
    for (const auto& [name, word] : shown.at("verdicts").as_object()) {
      while (i < e.verdicts.size() && e.verdicts[i] == 0) ++i;
      if (i == e.verdicts.size()) return;
      if (names_.size() <= i) names_.resize(i + 1);
      if (std::ranges::find(names_, std::string_view(name)) == names_.end()) names_[i] = name;
      ++i;
    }
  }

  struct Entity {
    bool begun = false;
    std::string genesis;  // until the first entry carried it
    Hash digest{};
    std::uint64_t entries = 0;
    std::uint64_t pending = 0;  // escalation that freezes it
    std::string pendingAction;
    bool byKey = false;         // it freezes not the whole entity
    std::optional<Time> until;  // when it expires
    Time clock{std::numeric_limits<std::int64_t>::min()};
  };

  // A device that joined after an upgrade has no format of the versions before; a replay looks at each verdict.
  bool hasVerdictsOfStore(const EntryView& e) const {
    const bool earlier = !format_.rules.empty() && !e.verdicts.empty() && e.verdicts.size() < *verdicts_.rbegin();
    return format_.invariants.empty() || verdicts_.contains(e.verdicts.size()) || earlier;
  }

  // Later versions of a rule file have more invariants, never fewer. How many there were up to a checkpoint, it says.
  bool hasVerdictsOfExport(const EntryView& e) {
    const auto upTo = invariantsUpTo_.lower_bound(e.seq);
    const std::size_t least = std::exchange(leastVerdicts_, std::max(leastVerdicts_, e.verdicts.size()));
    return e.verdicts.size() >= least && (upTo == invariantsUpTo_.end() || e.verdicts.size() <= upTo->second);
  }

  // The first entry of an epoch of format 2 names it, no other. In a store the epoch's record says so, too.
  Status epochOf(const EntryView& e) {
    const auto begins = std::exchange(begins_, std::nullopt);
    if (!successor_.empty()) return corrupt("is of an epoch that only names a successor");
    if (begins && isSigned_ && (e.epoch != begins->number || e.owner != begins->owner))
      return corrupt("does not name the epoch that it begins");
    if (e.epoch == 0) return okStatus();
    if (ofStore_ && !(begins && isSigned_)) return corrupt("names an epoch that it does not begin");
    if (e.epoch <= named_) return corrupt(concat("begins epoch ", e.epoch, " after epoch ", named_));
    named_ = e.epoch;
    isSigned_ = true;
    return okStatus();
  }

  // Its device signed the request, and the counselor the answer, if that is signed.
  Status proposer(const EntryView& e) {
    if (e.proof.empty()) return corrupt(concat("bears no signature of its proposer ", e.device));
    if (log_.cluster.empty()) return okStatus();
    WITAN_TRY(known, proof(e));
    if (known) ++proven_;
    const auto word = personsWord(statementOf(log_.cluster, log_.domain, e), e.signature);
    if (!word || word->signature.empty() || word->holds(memo_)) return okStatus();
    return corrupt(concat("the signature of ", word->person, " does not hold"));
  }

  // Of an entry or a beginning. Whether the key is known to be its device's.
  template <class Record>
  Result<bool> proof(const Record& record) {
    if (log_.cluster.empty()) return false;
    WITAN_TRY(proof, readProof(record.proof));
    const Hash leaf = requestLeaf(statementOf(log_.cluster, log_.domain, record));
    if (!trees_.holds(log_.cluster, leaf, proof, memo_))
      return corrupt(concat("the signature of its proposer ", record.device, " does not hold"));
    const auto keys = options_.keysOf ? options_.keysOf(record.device) : std::vector<PublicKey>();
    if (deviceOf_.second.empty() || deviceOf_.first != proof.key) deviceOf_ = {proof.key, deviceOfKey(proof.key)};
    const bool known = deviceOf_.second == record.device || std::ranges::find(keys, proof.key) != keys.end();
    if (!known && !keys.empty()) return corrupt(concat("no key of its proposer ", record.device, " signed it"));
    return known;
  }

  // One plan per run, one decision per operation id. An operation of two plans may have been turned away under the one
  // before it was decided under the other.
  Status once(const EntryView& e) {
    const std::string elsewhere = bindings_.objection(e.runKey, e.planDigest);
    if (!elsewhere.empty() && !isIntegrityRejection(e)) return corrupt("decides under another plan: " + elsewhere);
    bindings_.note(e);
    const auto [known, fresh] = operations_.try_emplace(operationKey(e.operationId), !elsewhere.empty());
    const bool again = known->second && elsewhere.empty() && !e.runKey.empty();
    known->second = !elsewhere.empty();
    if (fresh || again) return okStatus();
    return corrupt(concat("its operation id was decided before: ", e.operationId));
  }

  using OperationKey = std::array<std::uint64_t, 2>;
  struct OperationHash {
    std::size_t operator()(const OperationKey& key) const { return key[0]; }
  };
  static OperationKey operationKey(std::string_view id) {
    const Hash hash = sha256(id);
    OperationKey key;
    std::memcpy(key.data(), hash.data(), sizeof key);
    return key;
  }

  // Beginnings, freezes, resolutions (Theorem 4 viii) and the state digest.
  Status chain(Entity& entity, const EntryView& e) {
    if (entity.entries++ == 0) {
      if (e.genesis != entity.genesis) return corrupt("does not carry its entity's beginning");
      entity.digest = firstStateDigest(e.genesis);
      entity.genesis = {};
    } else if (!e.genesis.empty()) {
      return corrupt("carries a beginning though it is not its entity's first entry");
    }
    const bool resolves = e.tag == Tag::cCommitted || e.tag == Tag::cRejected;
    if (resolves && entity.pending == 0)
      return corrupt(concat("resolves entry ", e.escalation, " but nothing is pending"));
    if (resolves && entity.pending != e.escalation)
      return corrupt(concat("resolves entry ", e.escalation, " while entry ", entity.pending, " is pending"));
    if (!resolves && entity.pending != 0 && (!entity.byKey || e.tag == Tag::escalated))
      return corrupt(concat("decides an entity that is frozen by entry ", entity.pending));
    if (!resolves && e.escalation != 0) return corrupt("refers to an escalation though it resolves none");
    if (resolves && e.action != entity.pendingAction) return corrupt("its action is not the one that was escalated");
    if (e.tag == Tag::escalated) {
      WITAN_TRY(wait, readWait(e.decision));
      entity.pending = e.seq;
      entity.pendingAction = e.action;
      entity.byKey = !wait.freezes.empty();
      entity.until = wait.until;
    } else if (resolves) {
      if (entity.until && (e.counselor == "system" ? e.time != *entity.until : e.time >= *entity.until))
        return corrupt(concat("is of another time than entry ", e.escalation, ", which waits until ",
                              formatTime(*entity.until), ", allows"));
      entity.pending = 0;
    }
    const bool commits = e.tag == Tag::approved || e.tag == Tag::cCommitted;
    if (commits && e.time < entity.clock) return corrupt("its time lies before its entity's clock");
    if (commits) entity.clock = e.time;
    if (commits) entity.digest = nextStateDigest(entity.digest, e.time, e.writes);
    if (e.stateDigest != entity.digest) return corrupt("its state digest is not that of its writes");
    return okStatus();
  }

  static bool isCanonical(std::string_view text) {
    if (text.empty() || surelyCanonicalJson(text, {.bytes = kRecordTextMax, .depth = 64})) return true;
    const auto parsed = parseJson(text, {.bytes = kRecordTextMax, .depth = 64});
    return parsed.ok() && canonicalJson(*parsed) == text;
  }

  // Which members an entry of its tag has (Def. A.29, A.63), and their form.
  Status shape(const EntryView& e) const {
    if (e.entity.empty() || e.operationId.empty()) return corrupt("names no entity or no operation");
    for (const std::string_view text : {e.action, e.writes, e.decision, e.genesis})
      if (!isCanonical(text)) return corrupt("its JSON is not canonical");
    const bool witness = e.tag == Tag::rejected || e.tag == Tag::escalated;
    if (witness != !e.invariant.empty())
      return corrupt(witness ? "names no failure witness" : "names a failure witness though it has none");
    const bool writes = e.tag == Tag::approved || e.tag == Tag::cCommitted;
    if (writes != !e.writes.empty())
      return corrupt(writes ? "holds no write set" : "holds a write set though it changed nothing");
    const bool counselor = e.tag == Tag::cCommitted || e.tag == Tag::cRejected;
    if (counselor && !e.role.empty()) return corrupt("names a role though a counselor decided");
    if (e.tag == Tag::cRejected && !e.verdicts.empty()) return corrupt("has verdicts though nothing was tried");
    if (counselor != !e.counselor.empty())
      return corrupt(counselor ? "names no counselor" : "names a counselor though none decided");
    if (counselor && !e.runKey.empty()) return corrupt("names a run though a counselor decided");
    if (!counselor && !e.shown.empty()) return corrupt("shows a counselor something though none decided");
    if (e.tag == Tag::cCommitted ? e.decision.empty() : e.tag != Tag::escalated && !e.decision.empty())
      return corrupt("a decision belongs to a counselor's commit or to an escalation");
    return findings(e);
  }

  // The findings are the non-pass verdicts of escalated and cCommitted, in list order; no other entry has any.
  Status findings(const EntryView& e) const {
    const bool listed = e.tag == Tag::escalated || e.tag == Tag::cCommitted;
    std::size_t next = 0;
    for (std::size_t i = 0; i < e.verdicts.size(); ++i) {
      if (e.verdicts[i] > static_cast<std::uint8_t>(InvResult::escalate))
        return corrupt("a verdict is none that there is");
      if (!listed || e.verdicts[i] <= static_cast<std::uint8_t>(InvResult::pass)) continue;
      if (next == e.findings.size() || e.findings[next].result != e.verdicts[i] ||
          (i < format_.invariants.size() && e.findings[next].invariant != format_.invariants[i]))
        return corrupt("its findings are not its verdicts that do not pass");
      ++next;
    }
    return next == e.findings.size() ? okStatus()
                                     : Status(corrupt("its findings are not its verdicts that do not pass"));
  }

  const LedgerFormat& format_;
  std::optional<Replay> replay_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  boost::unordered_flat_map<std::string, Entity, TextHash, std::equal_to<>> entities_;
  boost::unordered_flat_map<OperationKey, bool, OperationHash> operations_;  // whether it was turned away
  RunBindings bindings_;
  Epoch last_;             // that has a record
  std::string successor_;  // whom its owner named
  const VerifyOptions& options_;
  const LogOf log_;
  std::vector<std::string> names_;       // of verdicts, as lines of an export have them
  EntryForm form_ = EntryForm::written;  // of the last line
  std::set<std::size_t> verdicts_;       // how many an entry may have
  bool ofStore_ = true;                  // epochs have records
  bool isSigned_ = false;
  bool failedByLog_ = false;
  std::map<std::uint64_t, std::size_t> invariantsUpTo_;  // of an export: by the size of a checkpoint
  std::size_t leastVerdicts_ = 0;
  std::uint16_t proofs_ = 0;     // format of the last epoch
  std::uint64_t named_ = 0;      // the last epoch that an entry names
  std::optional<Epoch> begins_;  // that has no entry yet
  SignatureMemo memo_;
  ProvenTrees trees_;
  std::pair<PublicKey, std::string> deviceOf_;  // of the key that was met last
  std::uint64_t proven_ = 0;
};

// By size.
using Heads = std::multimap<std::uint64_t, SignedHead>;

// Parsed and, with a key, signature-checked.
Result<Heads> readCheckpoints(const store::Reader& store, const LedgerFormat& format,
                              const std::optional<NoteVerifier>& key) {
  Heads all;
  Status status = okStatus();
  WITAN_DO(store.scan("c", {}, [&](std::string_view at, std::string_view note) {
    const std::string where =
        "the checkpoint under key " + toHex({reinterpret_cast<const std::uint8_t*>(at.data()), at.size()});
    auto read = [&]() -> Result<Checkpoint> {
      if (key) {
        WITAN_TRY(opened, openCheckpoint(note, format.origin, std::span(&*key, 1)));
        return opened.checkpoint;
      }
      const std::size_t end = note.find("\n\n");
      if (end == std::string_view::npos) return corrupt("no signed note");
      return parseCheckpointText(note.substr(0, end + 1));
    }();
    if (!read)
      status = corrupt(where + ": " + read.error().message);
    else if (checkpointKey(read->size) != at)
      status = corrupt(concat(where, " speaks of ", read->size, " entries"));
    else
      all.emplace(read->size, SignedHead{*read, where});
    return status.ok();
  }));
  if (!status.ok()) return status.error();
  return all;
}

class Verification {
 public:
  // `store`: null for an export.
  Verification(const store::Reader* store, const VerifyOptions& options) : store_(store), options_(options) {}

  Result<VerifyReport> run() {
    WITAN_TRY(format, Ledger::readFormat(*store_));
    if (!format) return notFound("the store holds no ledger");
    if (options_.replay != nullptr && toHex(options_.replay->digest()) != format->moduleDigest)
      return bad(0, "the module at hand is not the one that the ledger was written under");
    auto checkpoints = readCheckpoints(*store_, *format, options_.checkpointKey);
    if (!checkpoints) return bad(0, checkpoints.error().message);
    heads_ = std::move(*checkpoints);
    for (const SignedHead& head : options_.kept) keep(head);
    if ((options_.checkpointKey || options_.ofCluster) && !heads_.empty())
      report_.signedEntries = heads_.rbegin()->first;
    report_.signaturesChecked = options_.checkpointKey || !options_.kept.empty();
    report_.replayed = options_.replay != nullptr;
    WITAN_SET(earlier_, earlierFormats(*store_));
    EntryChecker checker(*format, options_, logOf(format->origin), earlier_);
    auto pruned = prunedLog(*store_);
    if (!pruned) return bad(0, pruned.error().message);
    if (const Status good = *pruned ? goOnBehind(**pruned, *format, checker) : okStatus(); !good.ok())
      return bad(0, good.error().message);
    std::uint64_t number = *pruned ? (*pruned)->batches : 0;
    WITAN_DO(store_->scan("l", batchKey(number), [&](std::string_view key, std::string_view value) {
      if (key != batchKey(number))
        bad(0, concat("batch ", number, " of the log is missing"));
      else
        batch(checker, value);
      ++number;
      if (options_.progress) options_.progress(frontier_.size());
      return report_.ok();
    }));
    count(checker);
    if (report_.ok()) finish(*format);
    return report_;
  }

  Result<VerifyReport> runOnExport(const std::function<Result<std::optional<std::string>>()>& next) {
    LedgerFormat format;
    for (const SignedHead& head : options_.kept) keep(head);
    std::map<std::uint64_t, std::size_t> invariants;
    for (const auto& [size, head] : heads_)
      for (const std::string& line : head.checkpoint.extensions)
        if (line.starts_with(kInvariantsLine)) {
          format.invariants = split(line.substr(kInvariantsLine.size()));
          invariants[size] = format.invariants.size();
        }
    report_.signaturesChecked = !heads_.empty();
    if (!heads_.empty()) report_.signedEntries = heads_.rbegin()->first;
    if (!ofOneLog()) return report_;
    VerifyOptions withoutReplay = options_;
    withoutReplay.replay = nullptr;
    const LogOf log = heads_.empty() ? LogOf{} : logOf(heads_.begin()->second.checkpoint.origin);
    EntryChecker checker(format, withoutReplay, log, earlier_);
    for (const auto& [upTo, count] : invariants) checker.noteInvariants(upTo, count);
    while (report_.ok()) {
      WITAN_TRY(line, next());
      if (!line) break;
      const Status good = exported(checker, *line);
      if (good.ok()) {
        if (options_.progress) options_.progress(frontier_.size());
        continue;
      }
      const std::string other = checker.failedByLog() ? ofAnotherLog(*line, next) : std::string();
      bad(frontier_.size() + (rootWrong_ ? 0 : 1), other + good.error().message);
    }
    count(checker);
    if (report_.ok()) finishExport();
    return report_;
  }

 private:
  static constexpr std::string_view kInvariantsLine = "invariants ";

  // Of entries that were pruned their hashes are held against each head, and what they add up to against its signature.
  Status goOnBehind(const PrunedLog& pruned, const LedgerFormat& format, EntryChecker& checker) {
    WITAN_DO(forEachPrunedLeaf(*store_, pruned, [&](const Hash& leaf) {
      frontier_.append(leaf);
      return checkRoot();
    }));
    report_.prunedEntries = pruned.entries;
    WITAN_DO(
        checkPrunedState(*store_, pruned, frontier_.root(), format.origin, options_.checkpointKey, options_.copyKeys));
    const auto state = prunedState(*store_, pruned);
    WITAN_DO(checker.goOnFrom(state, pruned.entries));
    if (options_.replay == nullptr) return okStatus();
    replay_ = std::make_unique<Partition>(*options_.replay);
    std::vector<std::uint64_t> batches;
    WITAN_TRY(earlier, earlierModules(*store_));
    WITAN_TRY(restored, replay_->restoreSnapshot(state, batches, earlier));
    return restored == pruned.batches ? okStatus() : Status(corrupt("the pruned entries are of other batches"));
  }

  void count(const EntryChecker& checker) {
    report_.entries = frontier_.size();
    report_.root = frontier_.root();
    report_.provenEntries = checker.proven();
  }

  static std::vector<std::string> split(std::string_view words) {
    std::vector<std::string> list;
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find(' '));
      list.emplace_back(word);
      words.remove_prefix(std::min(words.size(), word.size() + 1));
    }
    return list;
  }

  // One line of an export. Most have the form that this program gives them; to read them as JSON takes ten times as
  // long.
  Status exported(EntryChecker& checker, std::string_view line) {
    const std::uint64_t seq = frontier_.size() + 1;
    std::optional<ReadLine> whole;
    const auto read = [&]() -> Status {
      if (!whole) WITAN_SET(whole, readExportLine(line, seq));
      return okStatus();
    };
    auto cut = cutWrittenLine(line, seq);
    if (!cut) {
      WITAN_DO(read());
      cut = {whole->leaf, whole->bytes, {}};
    }
    WITAN_TRY(entry, fromBase64(cut->bytes));
    const Hash hash = leafHash(entry);
    if (cut->leaf != toHex(hash)) return corrupt("its leaf hash is not that of its bytes");
    const auto shown = [&]() -> Result<json::value> {
      WITAN_DO(read());
      return whole->shown;
    };
    WITAN_DO(checker.entryOfExport(entry, seq, cut->entry, shown));
    frontier_.append(hash);
    return checkRoot();
  }

  void finishExport() {
    for (const auto& [size, head] : heads_) {
      if (size > frontier_.size()) {
        bad(0, concat("entries are missing: ", head.where, " speaks of ", size, ", the export has ", frontier_.size()));
        return;
      }
    }
  }

  // Before any entry is held against them.
  bool ofOneLog() {
    for (const auto& [size, head] : heads_)
      if (const SignedHead& first = heads_.begin()->second; head.checkpoint.origin != first.checkpoint.origin)
        bad(0, concat(head.where, " is of another log than ", first.where, ": ", head.checkpoint.origin, " and ",
                      first.checkpoint.origin));
    return report_.ok();
  }

  // An entry that does not fit its log accuses somebody. Before that counts, the entries are held against the heads'
  // roots: a checkpoint of another log has none of them. Empty: a root is theirs, or none can be compared.
  template <class Next>
  std::string ofAnotherLog(std::string first, const Next& next) {
    MerkleFrontier all = frontier_;
    std::optional<std::string> line = std::move(first);
    for (const auto& [size, head] : heads_) {
      if (size <= frontier_.size()) return {};  // its root was compared
      while (all.size() < size) {
        const auto read = line ? readExportLine(*line, all.size() + 1) : Result<ReadLine>(invalid(""));
        const auto entry = read.ok() ? fromBase64(read->bytes) : Result<std::string>(invalid(""));
        if (!entry.ok()) return {};
        all.append(leafHash(*entry));
        auto following = next();
        line = following.ok() ? *std::move(following) : std::nullopt;
      }
      if (all.root() == head.checkpoint.root) return {};
      return concat("the tree's root is not that of ", head.where,
                    ", which may be of another log: held against that one, ");
    }
    return {};
  }

  VerifyReport& bad(std::uint64_t entry, std::string problem) {
    report_.badEntry = entry;
    report_.problem = entry == 0 ? std::move(problem) : concat("entry ", entry, ": ", std::move(problem));
    return report_;
  }

  void batch(EntryChecker& checker, std::string_view value) {
    std::vector<std::uint64_t> aligned;
    if (reinterpret_cast<std::uintptr_t>(value.data()) % 8 != 0) {
      aligned.resize((value.size() + 7) / 8);
      std::memcpy(aligned.data(), value.data(), value.size());
      value = {reinterpret_cast<const char*>(aligned.data()), value.size()};
    }
    bool first = true;
    auto info = readLogBatch(value, [&](const LogRecord& record) -> Status {
      const bool opens = std::exchange(first, false);
      if (opens) {
        std::uint64_t firstSeq = 0;
        std::memcpy(&firstSeq, value.data() + 8, 8);
        if (firstSeq != frontier_.size() + 1) return corrupt(concat("its batch says it starts at entry ", firstSeq));
      }
      if (record.kind == RecordKind::genesis) return checker.genesis(record.payload);
      if (record.kind == RecordKind::note) return okStatus();
      if (record.kind == RecordKind::epoch) return checker.epoch(record.payload, frontier_, opens);
      WITAN_DO(checker.entry(record.payload, frontier_.size() + 1));
      frontier_.append(record.leaf);
      return checkRoot();
    });
    if (!info)
      bad(frontier_.size() + (rootWrong_ ? 0 : 1), info.error().message);
    else if (info->torn)
      bad(frontier_.size() + 1, "the log is torn here: the batch ends before its stated size");
    if (replay_ == nullptr || !report_.ok()) return;
    if (const auto again = replay_->fold(value, Fold::checked); !again.ok()) {
      report_.badEntry = replay_->size() + 1;
      report_.problem = again.error().message;  // which names the entry
    }
  }

  // Not twice if the store holds the same one.
  void keep(const SignedHead& head) {
    const auto [begin, end] = heads_.equal_range(head.checkpoint.size);
    if (std::none_of(begin, end, [&](const auto& known) { return known.second.checkpoint == head.checkpoint; }))
      heads_.emplace(head.checkpoint.size, head);
  }

  Status checkRoot() {
    const auto [begin, end] = heads_.equal_range(frontier_.size());
    for (auto at = begin; at != end; ++at) {
      ++report_.checkpoints;
      if (at->second.checkpoint.root == frontier_.root()) continue;
      rootWrong_ = true;
      return corrupt("an entry up to here was altered: the tree's root is not that of " + at->second.where);
    }
    return okStatus();
  }

  void finish(const LedgerFormat& format) {
    for (const auto& [size, stored] : heads_) {
      if (size > frontier_.size()) {
        bad(0, concat(stored.where, " speaks of ", size, " entries, the log has ", frontier_.size()));
        return;
      }
      if (!options_.ofCluster && stored.checkpoint.origin != format.origin) {
        bad(0, stored.where + " is of the log " + stored.checkpoint.origin + ", not of " + format.origin);
        return;
      }
      if (size == 0) ++report_.checkpoints;
      if (Status agrees = agreesWith(format, earlier_, stored.checkpoint, stored.where); !agrees.ok()) {
        bad(0, agrees.error().message);
        return;
      }
    }
  }

  const store::Reader* const store_;
  const VerifyOptions& options_;
  VerifyReport report_;
  Heads heads_;
  std::vector<LedgerFormat> earlier_;
  MerkleFrontier frontier_;
  std::unique_ptr<Partition> replay_;  // of a pruned log
  bool rootWrong_ = false;
};

}  // namespace

Result<VerifyReport> verifyLedger(const store::Reader& store, const VerifyOptions& options) {
  return Verification(&store, options).run();
}

Result<VerifyReport> verifyExport(const std::function<Result<std::optional<std::string>>()>& next,
                                  const VerifyOptions& options) {
  return Verification(nullptr, options).runOnExport(next);
}

}  // namespace witan::kernel
