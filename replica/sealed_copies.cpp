#include "replica/sealed_copies.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/dense.h"
#include "base/mutant.h"
#include "replication/records/record_write.h"
#include "replication/sealed_scope.h"
#include "replication/space_rows.h"
#include "replication/writer.h"

namespace witan::node {

using replication::Kind;
using replication::SealedCopyBody;
using replication::VectorClock;
using replication::VersionVector;

namespace {

constexpr std::string_view kEnd = "end";
constexpr std::size_t kFrameBytes = 4;  // before the rows of a segment: their length
constexpr std::size_t kMaxSegmentBytes = 4 * 1024 * 1024;
constexpr std::size_t kErasedAtOnce = 1000;
constexpr std::size_t kPartDigits = 20;    // ':' and the number of a part
constexpr std::size_t kSmallBytes = 4096;  // a new copy is taken for at least that large
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

void putClock(DenseWriter& to, const VectorClock& clock) {
  to.varint(clock.entries().size());
  for (const auto& [writer, counter] : clock.entries()) to.idText(writer), to.varint(counter);
}

VectorClock getClock(DenseReader& from) {
  VectorClock clock;
  const std::uint64_t n = from.count(replication::kMaxWriters);
  for (std::uint64_t i = 0; i < n && from.ok(); ++i) {
    const std::string writer = from.idText(kMaxIdBytes);
    clock.set(writer, from.count(replication::kMaxSeq));
  }
  return clock;
}

VectorClock joined(VectorClock one, const VectorClock& other) {
  one.join(other);
  return one;
}

// The same for the same content, so that nothing is sealed twice under one nonce.
std::string nonceOf(const Secret& secret, std::string_view about, std::string_view plain) {
  const Hash content = sha256(plain);
  const Hash hash = hmacSha256(asView(hmacSha256(secret.reveal(), "witan sealed copy nonce v1")),
                               concat(about, "\n", asView(content)));
  return std::string(asView(hash).substr(0, kCipherNonceBytes));
}

Secret cipherKeyOf(const Secret& secret) {
  Hash key = hmacSha256(secret.reveal(), "witan sealed copy v1");
  Secret out = Secret::copyOf(asView(key));
  wipe(key);
  return out;
}

// What a record's seal is of besides its content.
std::string aboutOf(std::string_view cluster, std::string_view space, std::string_view key, std::string_view record) {
  return concat("witan sealed copy v1\n", cluster, "\n", space, "\n", key, "\n", record);
}

std::string partName(const std::string& copy, std::uint64_t part) { return concat(copy, ":", part); }

// The one version of a record, if it has one and that is no tombstone.
const replication::Held* only(replication::Space& space, const std::string& record) {
  const replication::Record* found = space.table().find(Kind::sealedCopy, record);
  if (found == nullptr || found->versions.size() != 1 || found->versions.front()->tombstone) return nullptr;
  return found->versions.front();
}

}  // namespace

// --- the round

std::uint64_t SealedCopies::changesNow() const {
  std::uint64_t all = 0;
  for (const auto name : {replication::DatabaseName::journal, replication::DatabaseName::agents})
    for (const auto& [scope, space] : state_.local->database(name).spaces()) all += space->changes() + 1;
  return all;
}

bool SealedCopies::copied(std::string_view scope) const {
  return state_.config.copied && scope != replication::kClusterScope && state_.config.copied(scope);
}

Status SealedCopies::followStatements() {
  const replication::Space* cluster =
      state_.local->database(replication::DatabaseName::agents).find(replication::kClusterScope);
  if (cluster == nullptr || statements_ == cluster->changes()) return okStatus();
  WITAN_SET(members_, state_.local->membership());
  statements_ = cluster->changes();
  return okStatus();
}

// Whether its author leaves the cluster, or has left: what all had of it by then, others seal.
bool SealedCopies::leaves(std::string_view copy) const {
  const std::string_view author = replication::deviceOf(copy.substr(0, copy.rfind(':')));
  return members_.epoch > 0 && members_.standing(author) != replication::Standing::active;
}

Status SealedCopies::round(Now now) {
  if (!state_.config.copyKeys) return okStatus();
  if (seen_ == changesNow() && now.ms < nextMs_) return okStatus();
  nextMs_ = kNever;
  WITAN_DO(followStatements());
  for (const auto name : {replication::DatabaseName::journal, replication::DatabaseName::agents}) {
    std::set<std::string, std::less<>> scopes;
    for (const auto& [scope, space] : state_.local->database(name).spaces())
      if (replication::isSealedScope(scope) || copied(scope)) scopes.emplace(replication::openScopeOf(scope));
    for (const std::string& scope : scopes) {
      const auto kept = keptOf(name, scope);  // errors: too many scopes
      if (kept.ok()) WITAN_DO(roundOf(**kept, now));
    }
  }
  seen_ = changesNow();
  return okStatus();
}

void SealedCopies::rosterChanged() {
  seen_.reset();
  for (auto& [id, kept] : kept_) kept.read.reset(), kept.waiting.clear();
}

bool SealedCopies::quiet() const {
  return std::ranges::none_of(kept_, [](const auto& one) { return one.second.taking || one.second.making; });
}

Result<SealedCopies::Kept*> SealedCopies::keptOf(replication::DatabaseName database, const std::string& scope) {
  const std::string id = replication::LocalReplica::spaceId(database, scope);
  Kept& kept = kept_[id];
  if (kept.space != nullptr) return &kept;
  replication::Database& in = state_.local->database(database);
  WITAN_TRY(space, in.space(scope));
  WITAN_TRY(sealed, in.space(replication::sealedScopeOf(scope)));
  kept.database = database, kept.scope = scope, kept.id = id;
  kept.space = space, kept.sealed = sealed;
  return &kept;
}

Status SealedCopies::roundOf(Kept& kept, Now now) {
  if (state_.local->restored(kept.id)) {  // it adopts a peer's copy first, in a session
    kept.taking.reset(), kept.making.reset();
    return okStatus();
  }
  std::size_t budget = kCopyRoundBytes;
  WITAN_DO(readCopies(kept));
  WITAN_DO(take(kept, budget));
  if (copied(kept.scope)) WITAN_DO(make(kept, now, budget));
  if (kept.taking || kept.making) nextMs_ = now.ms;
  return okStatus();
}

// --- reading copies

Status SealedCopies::readCopies(Kept& kept) {
  if (kept.read == kept.sealed->changes()) return okStatus();
  kept.read = kept.sealed->changes();
  std::map<std::string, std::uint64_t, std::less<>> parts;
  std::set<std::string> ends;
  for (const std::string& record : kept.sealed->keys(Kind::sealedCopy)) {
    const std::size_t colon = record.rfind(':');
    if (colon == std::string::npos || only(*kept.sealed, record) == nullptr) continue;
    const std::string copy = record.substr(0, colon);
    std::string_view(record).substr(colon + 1) == kEnd ? (void)ends.insert(copy) : (void)++parts[copy];
  }
  std::map<std::string, std::optional<Copy>, std::less<>> copies;
  for (const auto& [name, count] : parts) copies.emplace(name, std::nullopt);
  for (const std::string& name : ends) {
    std::optional<Copy>& copy = copies[name];
    if (const auto known = kept.copies.find(name); known != kept.copies.end()) copy = known->second;
    if (!copy) {
      WITAN_SET(copy, readHeader(kept, name));
    }
    const auto here = parts.find(name);
    if (copy && copy->parts != (here == parts.end() ? 0 : here->second)) copy.reset();
  }
  kept.copies = std::move(copies);
  return okStatus();
}

// None: there is no key of it here, or it is not what its writer's device may seal.
Result<std::optional<Secret>> SealedCopies::open(const Kept& kept, const std::string& record) {
  const replication::Held* held = only(*kept.sealed, record);
  if (held == nullptr) return std::optional<Secret>();
  WITAN_TRY(bytes, kept.sealed->bodyOf(*held));
  const auto body = replication::decodeRecord<SealedCopyBody>(bytes);
  if (!body.ok()) return std::optional<Secret>();
  const auto secret = state_.config.copyKeys->find(kept.scope, body->key);
  const std::string_view sealed = asView(body->sealed);
  if (secret == nullptr || sealed.size() < kCipherNonceBytes + kCipherTagBytes) return std::optional<Secret>();
  return aesGcmOpen(cipherKeyOf(*secret).reveal(), sealed.substr(0, kCipherNonceBytes),
                    aboutOf(state_.local->cluster(), kept.id, body->key, record), sealed.substr(kCipherNonceBytes));
}

Result<std::optional<SealedCopies::Copy>> SealedCopies::readHeader(Kept& kept, const std::string& name) {
  WITAN_TRY(plain, open(kept, concat(name, ":", kEnd)));
  if (!plain) return std::optional<Copy>();
  DenseReader from(plain->reveal());
  Copy copy;
  copy.parts = from.count(kMaxCopyParts);
  copy.bytes = from.varint();
  copy.from = getClock(from), copy.to = getClock(from), copy.forgotten = getClock(from);
  return from.finish("the header of a sealed copy").ok() ? std::optional(std::move(copy)) : std::nullopt;
}

// --- taking in

// Whether the copy goes on from what is here.
bool SealedCopies::mayTake(const Kept& kept, const Copy& copy, const VectorClock& here) const {
  if (!le(copy.from, here) || le(copy.to, here)) return false;
  const replication::WriterTable& writers = kept.space->writers();
  for (const auto& [writer, counter] : copy.to.entries())
    if (const auto index = writers.find(writer);
        index && kept.space->retired(*index) && counter > kept.space->vector().at(*index))
      return false;
  if (copy.from.empty() && here.empty()) return true;
  // What is here may have been outlived and forgotten elsewhere: a session compares.
  const VectorClock forgotten = joined(copy.forgotten, state_.local->acks().acked(kept.id, replication::kForgotten));
  return std::ranges::none_of(forgotten.entries(), [&](const auto& entry) {
    return std::min(entry.second, copy.to.at(entry.first)) > here.at(entry.first);
  });
}

void SealedCopies::chooseNext(Kept& kept) {
  const VectorClock here = kept.space->clock();
  for (const auto& [name, copy] : kept.copies) {
    if (!copy || kept.bad.contains(name) || kept.waiting.contains(name) || leaves(name)) continue;
    if (!mayTake(kept, *copy, here)) continue;
    const std::string author(replication::deviceOf(std::string_view(name).substr(0, name.rfind(':'))));
    auto sync = std::make_unique<replication::SpaceSync>(
        *kept.space, kept.database,
        [this, &kept, author](const VersionVector& claimed) {
          return state_.local->judgeClaim(*kept.space, kept.id, author, withNames(claimed, kept.space->writers()));
        },
        [this, author](const std::string& why, bool taken) {
          return taken ? state_.local->dotWasTaken(author, why) : state_.local->reincarnate(why);
        });
    kept.taking = Taking{name, author, 0, {}, std::move(sync)};
    return;
  }
}

Status SealedCopies::take(Kept& kept, std::size_t& budget) {
  while (budget > 0) {
    if (!kept.taking) chooseNext(kept);
    if (!kept.taking) return okStatus();
    const auto at = kept.copies.find(kept.taking->name);
    if (at == kept.copies.end() || !at->second || leaves(at->first)) {  // another one took its place
      kept.taking.reset();
      continue;
    }
    const Copy copy = *at->second;
    if (kept.taking->part == copy.parts) {
      const bool whole = kept.taking->rows.empty() && le(copy.to, kept.space->clock());
      if (!whole) refuse(kept, "badCopy", "a copy that does not hold what its header says", false);
      kept.taking.reset();
      continue;
    }
    WITAN_TRY(plain, open(kept, partName(at->first, kept.taking->part++)));
    if (!plain) {
      refuse(kept, "badCopy", "a part that the key of its header does not open", false);
      continue;
    }
    budget -= std::min(budget, std::max<std::size_t>(plain->size(), 1));
    kept.taking->rows += plain->reveal();
    std::string& rows = kept.taking->rows;
    while (kept.taking && rows.size() >= kFrameBytes) {
      const std::uint64_t length = replication::rows::bigEndian(std::string_view(rows).substr(0, kFrameBytes));
      if (length > kMaxSegmentBytes) {
        refuse(kept, "badCopy", "a segment that is too long", false);
        break;
      }
      if (rows.size() - kFrameBytes < length) break;
      WITAN_DO(takeSegment(kept, std::string_view(rows).substr(kFrameBytes, length)));
      if (kept.taking) rows.erase(0, kFrameBytes + length);
    }
  }
  return okStatus();
}

// As a session takes one; what is wrong with it, its author is named for.
Status SealedCopies::takeSegment(Kept& kept, std::string_view rows) {
  replication::SpaceSync& sync = *kept.taking->sync;
  const auto applied = sync.apply(rows, 0, replication::Gate::closed);
  if (applied.ok() && !applied->retry) {
    for (const auto& [device, what] : applied->incidents) state_.local->note({"equivocation", device, what});
    for (const std::string& what : applied->forged) state_.local->note({"forgedRow", "", what});
    return okStatus();
  }
  if (!applied.ok() && applied.error().code == ErrorCode::unavailable) {  // the roster may be on its way
    kept.waiting.insert(kept.taking->name);
    kept.taking.reset();
    return okStatus();
  }
  const auto& violation = sync.violation();
  const bool lie = violation && violation->lie;
  const std::string kind = violation && !violation->kind.empty() ? violation->kind : "badCopy";
  refuse(kept, kind, applied.ok() ? "rows that build on what did not come" : applied.error().message, lie);
  return okStatus();
}

void SealedCopies::refuse(Kept& kept, const std::string& kind, const std::string& what, bool lie) {
  const std::string author = kept.taking->author;
  state_.local->note({kind, author, concat(kept.id, ": in the sealed copy ", kept.taking->name, ": ", what)});
  if (lie && !state_.local->quarantined(author)) state_.local->quarantine(author, what);
  kept.bad.insert(kept.taking->name);
  kept.taking.reset();
}

// --- making

// Of copies that go on from the same, the larger one, then the one of the smaller name.
SealedCopies::Chain SealedCopies::chainOf(const Kept& kept) const {
  Chain chain;
  const VectorClock here = kept.space->clock();
  for (bool more = true; more;) {
    more = false;
    const std::pair<const std::string, std::optional<Copy>>* best = nullptr;
    for (const auto& one : kept.copies) {
      const auto& [name, copy] = one;
      // What is not here yet, or never will be, is no ground to build upon.
      if (!copy || kept.bad.contains(name) || leaves(name) || !le(copy->to, here) ||
          !mayTake(kept, *copy, chain.covered))
        continue;
      if (best == nullptr || copy->bytes > best->second->bytes) best = &one;
    }
    if (best == nullptr) break;
    chain.links.emplace_back(best->first, chain.covered);
    chain.covered.join(best->second->to);
    more = true;
  }
  return chain;
}

// Whether this one seals what nobody has sealed yet, of those that are connected.
bool SealedCopies::goesFirst() const {
  const auto mine = [&](const auto& one) {
    const bool copies = state_.config.copiesOnly && state_.config.copiesOnly(one.first);
    return copies || !one.second.full() || state_.device() < one.first;
  };
  return std::ranges::all_of(state_.peers, mine);
}

void SealedCopies::chooseToMake(Kept& kept, Now now) {
  const Chain chain = chainOf(kept);
  const VectorClock here = kept.space->clock();
  bool others = false, own = false;
  for (const auto& [writer, counter] : here.entries()) {
    if (counter <= chain.covered.at(writer)) continue;
    const bool mine = replication::deviceOf(writer) == state_.device() && !(chain.links.empty() && !goesFirst());
    own = own || mine, others = others || !mine;
  }
  if (!own && !others) return kept.lackingMs.reset();
  if (!kept.lackingMs) kept.lackingMs = now.ms;
  const std::int64_t due = std::max(kept.nextMs, own ? now.ms : *kept.lackingMs + kOthersMs);
  if (now.ms < due) {
    nextMs_ = std::min(nextMs_, due);
    return;
  }
  if (begin(kept, chain).ok()) kept.nextMs = now.ms + kSealSpacingMs;
}

// Errors: there is no key of the scope here.
Status SealedCopies::begin(Kept& kept, const Chain& chain) {
  const std::string key = state_.config.copyKeys->newest(kept.scope);
  const auto secret = key.empty() ? nullptr : state_.config.copyKeys->find(kept.scope, key);
  if (secret == nullptr) return unavailable("no key of the scope " + kept.scope);
  Making making;
  making.name = concat(kept.sealed->selfName(), ":", kept.sealed->vector().at(kept.sealed->self()) + 1);
  if (making.name.size() + kPartDigits > kMaxIdBytes) return invalid(making.name + " is too long a name");
  making.key = key, making.secret = secret;
  std::size_t replaced = kSmallBytes, links = chain.links.size();
  making.copy.from = chain.covered;
  for (; links > 0; --links) {
    const auto& [name, before] = chain.links[links - 1];
    const std::uint64_t bytes = kept.copies.find(name)->second->bytes;
    if (bytes > 2 * replaced) break;
    replaced += bytes, making.copy.from = before;
  }
  Copy next{.from = making.copy.from, .to = kept.space->clock()};
  if (!mayTake(kept, next, making.copy.from)) making.copy.from = {}, links = 0;  // something was forgotten in between
  for (std::size_t i = 0; i < links; ++i) making.remains.insert(chain.links[i].first);
  VersionVector from;
  for (const auto& [writer, counter] : making.copy.from.entries())
    if (const auto index = kept.space->writers().find(writer)) from.raise(*index, counter);
  const auto never = [](const auto&...) { return okStatus(); };
  making.sync = std::make_unique<replication::SpaceSync>(*kept.space, kept.database, never, never);
  making.sync->begin(from);
  kept.making = std::move(making);
  return okStatus();
}

Status SealedCopies::make(Kept& kept, Now now, std::size_t& budget) {
  if (kept.making && kept.making->key != state_.config.copyKeys->newest(kept.scope)) kept.making.reset();
  if (!kept.making) chooseToMake(kept, now);
  while (kept.making && budget > 0) {
    Making& making = *kept.making;
    std::string rows, resume;
    WITAN_TRY(any, making.sync->nextRows(rows, resume, kCopyPartBytes / 2));
    budget -= std::min(budget, std::max<std::size_t>(rows.size(), 1));
    if (any) {
      for (int shift = 24; shift >= 0; shift -= 8) making.rows += static_cast<char>(rows.size() >> shift & 0xff);
      making.rows += rows;
    }
    const bool last = !any || resume.empty();
    while (making.rows.size() >= kCopyPartBytes || (last && !making.rows.empty())) {
      const std::size_t size = std::min(making.rows.size(), kCopyPartBytes);
      WITAN_DO(put(kept, std::to_string(making.copy.parts++), std::string_view(making.rows).substr(0, size)));
      making.copy.bytes += size;
      making.rows.erase(0, size);
    }
    if (last) WITAN_DO(finish(kept));
  }
  return okStatus();
}

Status SealedCopies::put(Kept& kept, const std::string& part, std::string_view plain) {
  const Making& making = *kept.making;
  const std::string record = concat(making.name, ":", part);
  const std::string about = aboutOf(state_.local->cluster(), kept.id, making.key, record);
  const std::string nonce = nonceOf(*making.secret, about, plain);
  const std::string sealed = mutated("sealNothing")
                                 ? concat(nonce, plain)
                                 : nonce + aesGcmSeal(cipherKeyOf(*making.secret).reveal(), nonce, about, plain);
  WITAN_TRY(write, replication::recordWrite(record, SealedCopyBody{making.key, {sealed.begin(), sealed.end()}}));
  WITAN_TRY(dot, state_.local->commit(kept.database, replication::sealedScopeOf(kept.scope), {&write, 1}));
  (void)dot;
  return okStatus();
}

Status SealedCopies::finish(Kept& kept) {
  Making& making = *kept.making;
  making.copy.to = joined(making.copy.from, kept.space->clock());
  making.copy.forgotten = state_.local->acks().acked(kept.id, replication::kForgotten);
  std::string header;
  DenseWriter to(header);
  to.varint(making.copy.parts), to.varint(making.copy.bytes);
  for (const VectorClock* clock : {&making.copy.from, &making.copy.to, &making.copy.forgotten}) putClock(to, *clock);
  WITAN_DO(put(kept, std::string(kEnd), header));
  // What it replaces, and what this device began and a restart ended.
  std::set<std::string> gone;
  for (const auto& [name, copy] : kept.copies) {
    if (name == making.name || making.remains.contains(name)) continue;
    const bool own = replication::deviceOf(std::string_view(name).substr(0, name.rfind(':'))) == state_.device();
    if (copy ? le(copy->to, making.copy.to) : own) gone.insert(name);
  }
  kept.making.reset();
  return erase(kept, gone);
}

Status SealedCopies::erase(Kept& kept, const std::set<std::string>& names) {
  std::vector<replication::Write> writes;
  for (const std::string& record : kept.sealed->keys(Kind::sealedCopy))
    if (names.contains(record.substr(0, record.rfind(':'))) && only(*kept.sealed, record) != nullptr &&
        (record.ends_with(kEnd) || !mutated("keepSealedParts")))
      writes.push_back({Kind::sealedCopy, record, "", true});
  for (std::size_t at = 0; at < writes.size(); at += kErasedAtOnce) {
    const std::size_t n = std::min(kErasedAtOnce, writes.size() - at);
    WITAN_TRY(dot, state_.local->commit(kept.database, replication::sealedScopeOf(kept.scope),
                                        std::span(writes).subspan(at, n)));
    (void)dot;
  }
  return okStatus();
}

}  // namespace witan::node
