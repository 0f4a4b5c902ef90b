#include "sim/etcd_model.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

namespace witan::sim {

using namespace node;

EtcdAnswer EtcdModel::apply(const EtcdRequest& request, Micros now) {
  EtcdAnswer answer;
  answer.id = request.id;
  if (request.call == EtcdCall::grant) {
    answer.lease = nextLease_++;
    leases_[answer.lease] = {request.ttlMs * 1000, now + request.ttlMs * 1000};
  } else if (request.call == EtcdCall::keepAlive) {
    const auto at = leases_.find(request.lease);
    if (at == leases_.end())
      answer.error = EtcdError::noLease;
    else
      at->second.until = now + at->second.ttl;
  } else if (request.call == EtcdCall::txn) {
    answer.succeeded =
        std::ranges::all_of(request.compares, [this](const EtcdCompare& compare) { return holds(compare); });
    const std::vector<EtcdOp>& branch = answer.succeeded ? request.then : request.otherwise;
    for (const EtcdOp& op : branch)
      if (op.act == EtcdAct::put && op.lease != 0 && !leases_.contains(op.lease)) answer.error = EtcdError::noLease;
    if (answer.error != EtcdError::none) {  // nothing of it happens
      answer.succeeded = false;
      answer.revision = revision_;
      return answer;
    }
    const bool writes = std::ranges::any_of(branch, [](const EtcdOp& op) { return op.act != EtcdAct::range; });
    const std::uint64_t before = revision_;
    const std::size_t changesBefore = changes_.size();
    if (writes) ++revision_;
    for (const EtcdOp& op : branch) {
      if (op.act == EtcdAct::put) put(op);
      if (op.act == EtcdAct::remove) remove(op.keys);
      answer.results.push_back(op.act == EtcdAct::range ? range(op.keys, op.limit) : std::vector<EtcdKeyValue>());
    }
    if (changes_.size() == changesBefore) revision_ = before;  // what removes nothing is no change
  }
  answer.revision = revision_;
  return answer;
}

bool EtcdModel::holds(const EtcdCompare& compare) const {
  const auto at = keys_.find(compare.key);
  const std::uint64_t created = at == keys_.end() ? 0 : at->second.created;
  return compare.above ? created > compare.created : created == compare.created;
}

void EtcdModel::put(const EtcdOp& op) {
  EtcdKeyValue& key = keys_[op.keys.key];
  if (key.created == 0) key.key = op.keys.key, key.created = revision_;
  key.modified = revision_;
  key.value = op.value;
  key.lease = op.lease;
  changes_.push_back({false, key});
}

void EtcdModel::remove(const EtcdKeys& keys) {
  for (const EtcdKeyValue& gone : range(keys)) {
    keys_.erase(gone.key);
    changes_.push_back({true, {gone.key, "", 0, revision_, 0}});
  }
}

std::vector<EtcdKeyValue> EtcdModel::range(const EtcdKeys& keys, std::size_t limit) const {
  std::vector<EtcdKeyValue> found;
  for (auto at = keys_.lower_bound(keys.key); at != keys_.end() && keys.has(at->first); ++at) {
    found.push_back(at->second);
    if (limit != 0 && found.size() == limit) break;
  }
  return found;
}

void EtcdModel::expire(Micros now) {
  std::set<std::uint64_t> over;
  for (const auto& [id, lease] : leases_)
    if (lease.until < now) over.insert(id);
  for (const std::uint64_t id : over) {
    leases_.erase(id);
    std::vector<std::string> keys;
    for (const auto& [name, key] : keys_)
      if (key.lease == id) keys.push_back(name);
    if (keys.empty()) continue;
    ++revision_;
    for (const std::string& name : keys) remove({name, ""});
  }
}

void EtcdModel::renewLeases(Micros now) {
  for (auto& [id, lease] : leases_) lease.until = now + lease.ttl;
}

void EtcdModel::compact(std::uint64_t revision) {
  compacted_ = std::max(compacted_, std::min(revision, revision_));
  std::erase_if(changes_, [&](const EtcdChange& change) { return change.at.modified <= compacted_; });
}

std::optional<std::vector<EtcdChange>> EtcdModel::changes(const EtcdKeys& keys, std::uint64_t from) const {
  if (from <= compacted_) return std::nullopt;
  std::vector<EtcdChange> found;
  const auto first = std::ranges::lower_bound(changes_, from, {}, [](const EtcdChange& c) { return c.at.modified; });
  for (auto at = first; at != changes_.end(); ++at)
    if (keys.has(at->at.key)) found.push_back(*at);
  return found;
}

namespace {

std::uint64_t numberOf(std::string_view text, int base) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

}  // namespace

std::string gapBefore(const EtcdModel& etcd, std::string_view key) {
  constexpr std::size_t kDigits = 16;
  const std::size_t log = key.find("/log/"), number = key.rfind('/') + 1;
  if (log == std::string_view::npos || number < log + 5 || key.size() - number != kDigits) return {};
  const std::string partition(key.substr(log + 5, number - log - 6)), cluster(key.substr(0, log));
  const std::uint64_t batch = numberOf(key.substr(number), 16);
  std::uint64_t first = 0;
  for (const EtcdKeyValue& mark : etcd.range({cluster + "/trim/" + partition, ""})) first = numberOf(mark.value, 10);
  if (batch <= first) return {};
  char before[kDigits + 1];
  std::snprintf(before, sizeof before, "%016llx", static_cast<unsigned long long>(batch - 1));
  if (!etcd.range({concat(key.substr(0, number), before), ""}).empty()) return {};
  return concat("etcd has batch ", batch, " of ", partition, ", and the one before it is not there");
}

std::string letsGoTooEarly(const EtcdOp& op, std::size_t copies,
                           const std::function<std::vector<std::uint64_t>(const std::string& partition)>& held) {
  constexpr std::string_view kTrim = "/trim/";
  const std::size_t trim = op.keys.key.find(kTrim);
  if (op.act != EtcdAct::put || trim == std::string::npos) return {};
  const std::string partition = op.keys.key.substr(trim + kTrim.size());
  const std::uint64_t until = numberOf(op.value, 10);
  const std::vector<std::uint64_t> disks = held(partition);
  const auto enough = std::ranges::count_if(disks, [&](std::uint64_t has) { return has >= until; });
  if (static_cast<std::size_t>(enough) >= copies) return {};
  return concat("etcd lets go of the batches of ", partition, " below ", until, ", which ", enough,
                " of the disks hold, and ", copies, " must");
}

}  // namespace witan::sim
