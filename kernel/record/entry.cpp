#include "kernel/record/entry.h"

#include "kernel/record/signed_leaves.h"

namespace witan::kernel {

namespace {

Status checkSize(std::string_view name, std::size_t size, std::size_t expected) {
  if (size == 0 || size == expected) return okStatus();
  return invalid(concat("entry.", name, ": expected ", expected, " bytes, found ", size));
}

// Members that go together, and sizes.
template <class Entry>
Status checkMembers(const Entry& e) {
  if (e.runKey.size() != e.planDigest.size()) return invalid("entry: a run key without a plan digest, or the reverse");
  WITAN_DO(checkSize("runKey", e.runKey.size(), sizeof(Hash)));
  if ((e.epoch == 0) != e.owner.empty()) return invalid("entry: an epoch without an owner, or the reverse");
  WITAN_DO(checkSize("shown", e.shown.size(), sizeof(Hash)));
  WITAN_DO(checkSize("signature", e.signature.size(), kPersonSignature));
  if (!e.signature.empty() && e.shown.empty()) return invalid("entry: an answer is signed, but not what was shown");
  return e.proof.empty() ? okStatus() : checkProof(e.proof);
}

}  // namespace

Result<EntryView> readEntryView(std::string_view alignedBytes) {
  EntryView view;
  WITAN_DO(withMessage(alignedBytes, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, view, "entry"); }));
  WITAN_DO(checkMembers(view));
  return view;
}

Result<GenesisView> readGenesis(std::string_view alignedBytes) {
  GenesisView view;
  WITAN_DO(withMessage(alignedBytes, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, view, "genesis"); }));
  return view;
}

Result<Entry> readEntry(std::string_view bytes) {
  Entry entry;
  WITAN_DO(readMessage(bytes, entry, "entry"));
  WITAN_DO(checkMembers(entry));
  return entry;
}

bool isCanonicalEntry(const EntryView& entry, std::string_view bytes) {
  static thread_local WordWriter writer;
  return writer.message(entry) == bytes;
}

Hash firstStateDigest(std::string_view genesis) {
  static thread_local Sha256 hasher;
  return hasher.reset().update("witan/state/v1\n").update(genesis).finish();
}

Hash nextStateDigest(const Hash& before, Time time, std::string_view writes) {
  static thread_local Sha256 hasher;
  char head[40];
  std::memcpy(head, before.data(), 32);
  for (int i = 0; i < 8; ++i) head[32 + i] = static_cast<char>(static_cast<std::uint64_t>(time.micros) >> (8 * i));
  return hasher.reset().update({head, sizeof head}).update(writes).finish();
}

}  // namespace witan::kernel
