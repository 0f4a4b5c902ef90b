#include "kernel/run_bindings.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace witan::kernel {

namespace {

DigestPrefix prefixOf(RunBindings::Bytes digest) {
  DigestPrefix prefix{};
  WITAN_CHECK(digest.size() >= sizeof prefix, "a digest has 32 bytes");
  std::memcpy(prefix.data(), digest.data(), sizeof prefix);
  return prefix;
}

// A run key is chosen outside: hashed, so that nobody can make all of them collide.
DigestPrefix keyOf(RunBindings::Bytes runKey) {
  return prefixOf(sha256({reinterpret_cast<const char*>(runKey.data()), runKey.size()}));
}

}  // namespace

const RunBinding* RunBindings::find(Bytes runKey) const {
  if (runKey.empty()) return nullptr;
  const auto at = table_.find(keyOf(runKey));
  return at == table_.end() ? nullptr : &at->second;
}

std::string RunBindings::objection(Bytes runKey, Bytes planDigest) const {
  const RunBinding* bound = find(runKey);
  if (bound == nullptr || bound->plan == prefixOf(planDigest)) return {};
  return concat("run ", toHex(runKey), " is bound to the plan whose digest begins with ",
                toHex(Bytes(reinterpret_cast<const std::uint8_t*>(bound->plan.data()), sizeof bound->plan)), " (entry ",
                bound->entry, ")");
}

std::vector<RunBindings::Row> RunBindings::rows() const {
  std::vector<Row> all(table_.begin(), table_.end());
  std::ranges::sort(all, {}, &Row::first);
  return all;
}

bool RunBindings::isBoundTo(Bytes runKey, Bytes planDigest) const {
  const RunBinding* bound = find(runKey);
  return bound != nullptr && bound->plan == prefixOf(planDigest);
}

std::optional<RunBindings::Row> RunBindings::note(const EntryView& entry) {
  if (entry.runKey.empty()) return std::nullopt;
  const Row row{keyOf(entry.runKey), {prefixOf(entry.planDigest), entry.seq}};
  return table_.insert(row).second ? std::optional(row) : std::nullopt;
}

void rejectForIntegrity(std::size_t invariants, std::string message, Evaluation& out) {
  out.reset(invariants);
  out.tag = Evaluation::Tag::rejected;
  out.witness = 0;
  out.message = std::move(message);
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::reject);
}

bool isIntegrityRejection(const EntryView& entry) {
  return entry.tag == Tag::rejected && entry.invariant == kKernelIntegrity;
}

}  // namespace witan::kernel
