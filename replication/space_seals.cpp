// The part of a Space that proves who wrote its versions (replication/row_seals.h).
#include "base/check.h"
#include "replication/space.h"
#include "replication/writer.h"

namespace witan::replication {

Arrival Space::prove(const Incoming& in, std::string_view body) {
  static const Context kNothing;
  LeafText text{in.writer, in.seq, 0, in.kind, in.key, in.tombstone, {}, body};
  switch (seals_.judge(in.proof, text, in.context != nullptr ? *in.context : kNothing)) {
    case ProofVerdict::proven: break;
    case ProofVerdict::keyUnknown: return Arrival::keyUnknown;
    case ProofVerdict::unproven: return Arrival::unproven;
  }
  return Arrival::inserted;
}

// What came is held. The first seal of a writer shows which unsealed versions in its name somebody else made up.
void Space::proven(const Incoming& in, Held& held) {
  if (!seals_.take(in.proof, in.writer, held)) return;
  const std::string& writer = writers_.name(in.writer);
  if (deviceOf(writer) == deviceOf(selfName())) return;
  RecordTable::Origin& origin = table_.origin(in.writer);
  for (auto at = origin.lower_bound(seals_.first(in.writer), SeqOrder{}); at != origin.end();) {
    Held& each = *at++;
    if (each.seal != nullptr) continue;
    forged_.push_back(concat(schemas_.traits(each.record->kind).name, " ", each.record->key(), ", ", writer, ":",
                             each.seq, ", bore no seal of ", deviceOf(writer),
                             ", which seals what it writes: it is gone"));
    drop(each);
  }
}

Result<Hash> Space::leafOf(const Held& held, Seq first) const {
  WITAN_TRY(body, bodyOf(held));
  return seals_.leafOf({held.writer, held.seq, first, held.record->kind, held.record->key(), held.tombstone,
                        held.whole() != nullptr ? *held.whole() : seals_.seenBy(held.context()), body});
}

Status Space::sealOwn() {
  if (!sealDue()) return okStatus();
  // Its writers stand one behind the other, with some of devices whose names begin like its own.
  const std::string_view device = deviceOf(selfName());
  const auto& names = writers_.byName();
  for (auto at = names.lower_bound(device); at != names.end() && at->first.starts_with(device); ++at)
    if (deviceOf(at->first) == device && seals_.first(at->second) != 0) WITAN_DO(sealWriter(at->second));
  sealedChanges_ = changes_;
  return okStatus();
}

Status Space::sealWriter(WriterIndex writer) {
  if (writer >= sealedUpTo_.size()) sealedUpTo_.resize(writer + 1);
  const Seq first = seals_.first(writer), from = std::max(first, sealedUpTo_[writer] + 1);
  std::vector<Held*> versions;
  std::vector<Hash> leaves;
  const auto seal = [&](Seq count) {
    if (!versions.empty() || count != 0) seals_.add(writer, versions, std::exchange(leaves, {}), count);
    versions.clear();
  };
  RecordTable::Origin& origin = table_.origin(writer);
  for (auto at = origin.lower_bound(from, SeqOrder{}); at != origin.end(); ++at) {
    sealedUpTo_[writer] = at->seq;
    if (at->seal != nullptr) continue;
    WITAN_TRY(leaf, leafOf(*at, first));
    versions.push_back(&*at), leaves.push_back(leaf);
    if (versions.size() == kMaxSealLeaves - 1) seal(0);
  }
  const Seq made = vector_.at(writer);
  seal(made > seals_.counted(writer) ? made : 0);
  return okStatus();
}

}  // namespace witan::replication
