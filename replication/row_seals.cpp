#include "replication/row_seals.h"

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "base/dense.h"
#include "base/mutant.h"
#include "replication/space_rows.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr std::uint8_t kMemberShortened = 1;
constexpr std::string_view kLeafStart("\0witan-row/1\n", 13);  // RFC 6962: a leaf begins with a zero
constexpr std::string_view kCountStart("\0witan-count/1\n", 15);
constexpr std::size_t kNameMax = 1024;

Held* findMember(RecordTable& table, WriterIndex writer, Seq seq, std::uint64_t hash) {
  RecordTable::Origin& origin = table.origin(writer);
  for (auto at = origin.lower_bound(seq, SeqOrder{}); at != origin.end() && at->seq == seq; ++at)
    if (at->record->hash == hash) return &*at;
  return nullptr;
}

// Null: the seal has no such leaf.
const Hash* leafAt(const std::vector<SealLeaf>& leaves, std::uint32_t leaf) {
  const auto at = std::ranges::lower_bound(leaves, leaf, {}, &SealLeaf::index);
  return at == leaves.end() || at->index != leaf ? nullptr : &at->hash;
}

}  // namespace

void RowSeals::use(std::shared_ptr<RowKeys> keys, std::string_view cluster, std::string_view space) {
  keys_ = std::move(keys);
  start_ = kLeafStart, countStart_ = kCountStart;
  for (std::string* start : {&start_, &countStart_}) {
    DenseWriter to(*start);
    to.text(cluster), to.text(space);
  }
}

Result<LeafNames> readLeafNames(std::string_view text) {
  if (!text.starts_with(kLeafStart)) return invalid("no row that a seal proves");
  DenseReader from(text.substr(kLeafStart.size()));
  LeafNames names;
  names.cluster = from.text(kNameMax), names.space = from.text(kNameMax), names.writer = from.text(kNameMax);
  (void)from.varint(), (void)from.byte();
  names.key = from.text(text.size());
  WITAN_DO(from.status("a sealed row"));
  return names;
}

// --- which versions are sealed

void RowSeals::setFirst(WriterIndex writer, Seq first) {
  if (writer >= firsts_.size()) firsts_.resize(writer + 1);
  firsts_[writer] = first;
  std::string row = prefix_ + rows::kFirstSealed, value;
  rows::putBigEndian(row, writer, 4);
  DenseWriter(value).varint(first);
  pending_.put(row, value);
}

void RowSeals::begin(WriterIndex writer, Seq written) {
  if (!on() || first(writer) != 0) return;
  setFirst(writer, keys_->sealsAll(deviceOf(writers_.name(writer))) ? 1 : written + 1);
}

bool RowSeals::mustSeal(WriterIndex writer, Seq seq) const {
  if (!on()) return false;
  const Seq from = first(writer);
  return (from != 0 && seq >= from) || keys_->sealsAll(deviceOf(writers_.name(writer)));
}

// --- leaves

Hash RowSeals::leafOf(const LeafText& text) const { return Sha256().update(headOf(text)).update(text.body).finish(); }

std::string RowSeals::headOf(const LeafText& text) const {
  std::string head = start_;
  DenseWriter to(head);
  to.text(writers_.name(text.writer));
  to.varint(text.first);
  to.byte(static_cast<std::uint8_t>(text.kind));
  to.text(text.key);
  to.varint(text.seq);
  to.byte(text.tombstone ? 1 : 0);
  to.raw(asView(text.seen));
  return head;
}

Hash RowSeals::seenBy(const Context& context) const {
  if (context.empty()) return Hash{};
  std::vector<std::pair<std::string_view, Seq>> seen;
  for (const ContextEntry& e : context) seen.emplace_back(writers_.name(e.writer), e.seq);
  std::ranges::sort(seen);
  std::string text;
  DenseWriter to(text);
  for (const auto& [name, seq] : seen) to.text(name), to.varint(seq);
  return sha256(text);
}

// --- how many there are

Hash RowSeals::countLeaf(WriterIndex writer, Seq first, Seq count) const {
  std::string text = countStart_;
  DenseWriter to(text);
  to.text(writers_.name(writer));
  to.varint(first), to.varint(count);
  return sha256(text);
}

const RowSeal* RowSeals::counting(WriterIndex writer) const {
  return writer < counting_.size() ? counting_[writer] : nullptr;
}

Seq RowSeals::counted(WriterIndex writer) const {
  const RowSeal* seal = counting(writer);
  return seal == nullptr ? 0 : seal->count->seq;
}

void RowSeals::setCount(RowSeal& seal, std::uint32_t leaf, Seq count) {
  if (counted(seal.writer) >= count) return;
  if (seal.writer >= counting_.size()) counting_.resize(seal.writer + 1);
  RowSeal* const before = std::exchange(counting_[seal.writer], &seal);
  if (before != nullptr && before != &seal) {
    before->count.reset();
    if (before->live == 0) touch(*before);
  }
  seal.count = {leaf, count};
}

ProofVerdict RowSeals::count(ArrivingSeal& seal, std::uint32_t leaf, WriterIndex writer, Seq count) {
  if (!on()) return ProofVerdict::proven;
  open(seal, writer);
  if (seal.refused == ErrorCode::unavailable && seal.writer == writer) return ProofVerdict::keyUnknown;
  const Hash* at = leafAt(seal.leaves, leaf);
  if (seal.writer != writer || at == nullptr || *at != countLeaf(writer, seal.first, count))
    return ProofVerdict::unproven;
  if (count > counted(writer)) {
    setCount(kept(seal, writer), leaf, count);
    touch(*seal.kept);
  }
  return ProofVerdict::proven;
}

// --- what is held

// For the writer that first names it: a seal is of one writer.
void RowSeals::open(ArrivingSeal& seal, WriterIndex writer) const {
  if (std::exchange(seal.opened, true)) return;
  seal.writer = writer;
  auto leaves = keys_->open(seal.bytes, deviceOf(writers_.name(writer)));
  if (leaves.ok())
    seal.leaves = *std::move(leaves);
  else
    seal.refused = leaves.error().code;
}

RowSeal& RowSeals::kept(ArrivingSeal& seal, WriterIndex writer) {
  if (seal.kept == nullptr) seal.kept = &make(writer, seal.first, std::string(seal.bytes), seal.leaves.size());
  return *seal.kept;
}

RowSeal& RowSeals::make(WriterIndex writer, Seq first, std::string bytes, std::size_t leaves) {
  auto seal = std::make_unique<RowSeal>();
  seal->id = nextId_++;
  seal->writer = writer, seal->first = first;
  seal->bytes = std::move(bytes), seal->leaves = leaves;
  return *seals_.emplace(seal->id, std::move(seal)).first->second;
}

void RowSeals::join(RowSeal& seal, std::uint32_t leaf, Held& held) {
  // They come in their order, but where something was sent again.
  const auto at = std::ranges::upper_bound(seal.members, leaf, {}, [](const auto& member) { return member.first; });
  seal.members.emplace(at, leaf, &held);
  ++seal.live;
  static_assert(kMaxSealLeaves <= 1 << 16);
  held.seal = &seal, held.leaf = static_cast<std::uint16_t>(leaf);
}

void RowSeals::touch(RowSeal& seal) {
  if (std::exchange(seal.dirty, true)) return;
  dirty_.push_back(&seal);
}

void RowSeals::add(WriterIndex writer, std::span<Held* const> versions, std::vector<Hash> leaves, Seq count) {
  if (count != 0) leaves.push_back(countLeaf(writer, first(writer), count));
  RowSeal& seal = make(writer, first(writer), keys_->seal(leaves), leaves.size());
  for (std::uint32_t i = 0; i < versions.size(); ++i) join(seal, i, *versions[i]);
  if (count != 0) setCount(seal, static_cast<std::uint32_t>(versions.size()), count);
  put(seal);
}

ProofVerdict RowSeals::judge(const RowProof& proof, LeafText& text, const Context& context) {
  if (!on() || mutated("anyRowSeal")) return ProofVerdict::proven;
  if (proof.seal == nullptr) return mustSeal(text.writer, text.seq) ? ProofVerdict::unproven : ProofVerdict::proven;
  ArrivingSeal& seal = *proof.seal;
  open(seal, text.writer);
  if (seal.refused && seal.writer == text.writer) {
    if (*seal.refused == ErrorCode::unavailable) return ProofVerdict::keyUnknown;
    text.first = seal.first;
    text.seen = proof.whole != nullptr ? *proof.whole : seenBy(context);
    keys_->forged(seal.bytes, headOf(text).append(text.body));
    return ProofVerdict::unproven;
  }
  if (seal.writer != text.writer || text.seq < seal.first || seal.first == 0) return ProofVerdict::unproven;
  const Hash* at = leafAt(seal.leaves, proof.leaf);
  if (at == nullptr) return ProofVerdict::unproven;
  text.first = seal.first;
  text.seen = proof.whole != nullptr ? *proof.whole : seenBy(context);
  return leafOf(text) == *at ? ProofVerdict::proven : ProofVerdict::unproven;
}

bool RowSeals::take(const RowProof& proof, WriterIndex writer, Held& held) {
  if (!on() || proof.seal == nullptr) return false;
  ArrivingSeal& seal = *proof.seal;
  join(kept(seal, writer), proof.leaf, held);
  if (proof.whole != nullptr) held.setWhole(*proof.whole);
  touch(*seal.kept);
  const Seq known = first(writer);
  if (known != 0 && known <= seal.first) return false;
  setFirst(writer, seal.first);
  return true;
}

void RowSeals::release(Held& held) {
  if (held.seal == nullptr) return;
  RowSeal& seal = *held.seal;
  for (auto at = std::ranges::lower_bound(seal.members, held.leaf, {}, [](const auto& member) { return member.first; });
       at != seal.members.end() && at->first == held.leaf; ++at)
    if (at->second == &held) at->second = nullptr;
  held.seal = nullptr;
  // Rewritten when half of it is of no use any more, so that each version costs its seal a fixed number of writes.
  if (--seal.live == 0 || seal.used() * 2 < seal.leaves) touch(seal);
}

void RowSeals::shorten(Held& held) {
  if (held.seal == nullptr || held.whole() != nullptr || held.context().empty()) return;
  held.setWhole(seenBy(held.context()));
  touch(*held.seal);
}

std::string RowSeals::forLeaves(const RowSeal& seal, std::vector<std::uint32_t> leaves) const {
  if (!on()) return seal.bytes;
  std::ranges::sort(leaves);
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves.size() == seal.leaves ? seal.bytes : keys_->keep(seal.bytes, leaves);
}

// --- rows

std::string RowSeals::rowKey(const RowSeal& seal) const {
  std::string row = prefix_ + rows::kSeal;
  rows::putBigEndian(row, seal.id, 8);
  return row;
}

void RowSeals::put(RowSeal& seal) {
  std::string value;
  DenseWriter to(value);
  to.varint(seal.writer), to.varint(seal.first);
  to.varint(seal.leaves);
  to.text(seal.bytes);
  to.varint(seal.live);
  for (const auto& [leaf, held] : seal.members) {
    if (held == nullptr) continue;
    to.varint(leaf), to.varint(held->seq);
    std::string hash;
    rows::putBigEndian(hash, held->record->hash, 8);
    to.raw(hash);
    to.byte(held->whole() != nullptr ? kMemberShortened : 0);
    if (held->whole() != nullptr) to.raw(asView(*held->whole()));
  }
  if (seal.count) to.varint(seal.count->leaf), to.varint(seal.count->seq);
  pending_.put(rowKey(seal), value);
}

void RowSeals::write() {
  for (RowSeal* seal : std::exchange(dirty_, {})) {
    seal->dirty = false;
    std::erase_if(seal->members, [](const auto& member) { return member.second == nullptr; });
    if (seal->used() == 0) {
      if (!mutated("keepDeadSeals")) pending_.erase(rowKey(*seal));
      seals_.erase(seal->id);
      continue;
    }
    if (on() && seal->used() * 2 < seal->leaves) {
      std::vector<std::uint32_t> leaves;
      for (const auto& [leaf, held] : seal->members) leaves.push_back(leaf);
      if (seal->count) leaves.push_back(seal->count->leaf);
      seal->bytes = forLeaves(*seal, std::move(leaves));
      seal->leaves = seal->used();
    }
    put(*seal);
  }
}

Status RowSeals::load(const store::Reader& store, RecordTable& table) {
  Status status = okStatus();
  const std::string seals = prefix_ + rows::kSeal, firsts = prefix_ + rows::kFirstSealed;
  WITAN_DO(store.scan(seals, {}, [&](std::string_view key, std::string_view value) {
    status = loadSeal(key.substr(seals.size()), value, table);
    return status.ok();
  }));
  WITAN_DO(status);
  WITAN_DO(store.scan(firsts, {}, [&](std::string_view key, std::string_view value) {
    const auto writer = rows::bigEndian(key.substr(firsts.size()));
    if (writer >= writers_.size()) return status = corrupt("a sealed writer that has no row"), false;
    if (writer >= firsts_.size()) firsts_.resize(writer + 1);
    firsts_[writer] = DenseReader(value).varint();
    return true;
  }));
  return status;
}

Status RowSeals::loadSeal(std::string_view row, std::string_view value, RecordTable& table) {
  DenseReader from(value);
  const auto writer = static_cast<WriterIndex>(from.count(kMaxWriters));
  const Seq first = from.varint();
  const std::uint64_t leaves = from.count(kMaxSealLeaves);
  std::string bytes(from.text(kMaxSealBytes));
  WITAN_DO(from.status("a seal's row"));
  RowSeal& seal = make(writer, first, std::move(bytes), leaves);
  const std::uint64_t id = rows::bigEndian(row);
  auto node = seals_.extract(seal.id);
  node.key() = seal.id = id;
  seals_.insert(std::move(node));
  nextId_ = std::max(nextId_, id + 1);
  const std::uint64_t n = from.count(kMaxSealLeaves);
  for (std::uint64_t i = 0; i < n && from.ok(); ++i) {
    const auto leaf = static_cast<std::uint32_t>(from.count(kMaxSealLeaves));
    const Seq seq = from.varint();
    const std::string_view hash = from.raw(8);
    const bool shortened = from.byte() == kMemberShortened;
    const std::string_view whole = shortened ? from.raw(sizeof(Hash)) : std::string_view();
    if (!from.ok()) break;
    // It may have been superseded since.
    Held* held = findMember(table, writer, seq, rows::bigEndian(hash));
    if (held == nullptr) continue;
    if (held->seal != nullptr) release(*held);
    join(seal, leaf, *held);
    Hash digest{};
    std::ranges::copy(whole, digest.begin());
    if (shortened) held->setWhole(digest);
  }
  if (from.ok() && !from.atEnd()) {
    const auto leaf = static_cast<std::uint32_t>(from.count(kMaxSealLeaves));
    setCount(seal, leaf, from.varint());
  }
  WITAN_DO(from.finish("a seal's row"));
  if (seal.used() == 0) touch(seal);
  return okStatus();
}

Status RowSeals::check(const std::function<Result<Hash>(const Held&, Seq first)>& leafOf) const {
  if (!on()) return okStatus();
  for (const auto& [id, seal] : seals_) {
    WITAN_TRY(leaves, keys_->open(seal->bytes, deviceOf(writers_.name(seal->writer))));
    std::size_t live = 0;
    for (const auto& [leaf, held] : seal->members) {
      if (held == nullptr) continue;
      ++live;
      const Hash* at = leafAt(leaves, leaf);
      WITAN_TRY(hash, leafOf(*held, seal->first));
      if (held->seal != seal.get() || at == nullptr || *at != hash)
        return corrupt(concat("a seal does not prove ", held->record->key()));
    }
    if (live != seal->live) return corrupt("a seal counts other versions than it has");
    if (!seal->count) continue;
    const Hash* at = leafAt(leaves, seal->count->leaf);
    if (counting(seal->writer) != seal.get() || at == nullptr ||
        *at != countLeaf(seal->writer, seal->first, seal->count->seq))
      return corrupt(concat("a seal does not prove the commits of ", writers_.name(seal->writer)));
  }
  return okStatus();
}

}  // namespace witan::replication
