#include "kernel/record/entry.h"

#include "base/bytes.h"
#include "kernel/record/signed_leaves.h"
#include "kernel/record/verdict.h"

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

namespace {

void appendMember(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  out += ",\"";
  out += name;
  out += "\":";
  appendJsonString(out, text);
}

void appendJsonMember(std::string& out, std::string_view name, std::string_view canonical) {
  if (canonical.empty()) return;
  out += ",\"";
  out += name;
  out += "\":";
  // Stored text that is no JSON (a damaged ledger) is shown as text.
  if (surelyCanonicalJson(canonical, kOwnJson))
    out += canonical;
  else if (const auto parsed = parseJson(canonical, kOwnJson); parsed.ok())
    appendCanonicalJson(out, *parsed);
  else
    appendJsonString(out, canonical);
}

std::string_view resultName(std::uint16_t result) {
  return result < enumNames<InvResult>().size() ? enumName(static_cast<InvResult>(result)) : "?";
}

}  // namespace

std::string entryJson(const EntryView& e, const std::vector<std::string>& invariantIds) {
  std::string out =
      concat("{\"seq\":", e.seq, ",\"time\":\"", formatTime(e.time), "\",\"tag\":\"", enumName(e.tag), "\"");
  appendMember(out, "entity", e.entity);
  appendMember(out, "role", e.role);
  appendMember(out, "device", e.device);
  appendMember(out, "agent", e.agent);
  appendMember(out, "operationId", e.operationId);
  appendMember(out, "runKey", toHex(e.runKey));
  appendMember(out, "planDigest", toHex(e.planDigest));
  appendJsonMember(out, "action", e.action);
  if (!e.invariant.empty()) {
    appendMember(out, "invariant", e.invariant);
    appendMember(out, "message", e.message);
  }
  appendJsonMember(out, "writes", e.writes);
  out += ",\"verdicts\":{";
  bool first = true;
  for (std::size_t i = 0; i < e.verdicts.size(); ++i) {
    if (e.verdicts[i] == 0) continue;
    if (!first) out += ',';
    first = false;
    appendJsonString(out, i < invariantIds.size() ? invariantIds[i] : concat("#", i));
    out += concat(":\"", resultName(e.verdicts[i]), "\"");
  }
  out += '}';
  if (!e.findings.empty() || e.tag == Tag::cCommitted) {
    out += ",\"findings\":[";
    for (std::size_t i = 0; i < e.findings.size(); ++i) {
      out += i ? ",{\"invariant\":" : "{\"invariant\":";
      appendJsonString(out, e.findings[i].invariant);
      out += concat(",\"result\":\"", resultName(e.findings[i].result), "\",\"message\":");
      appendJsonString(out, e.findings[i].message);
      out += '}';
    }
    out += ']';
  }
  appendMember(out, "counselor", e.counselor);
  if (e.escalation != 0) out += concat(",\"escalation\":", e.escalation);
  appendMember(out, "reason", e.reason);
  appendJsonMember(out, "decision", e.decision);
  out += ",\"stateDigest\":\"" + toHex(e.stateDigest) + "\"";
  appendJsonMember(out, "genesis", e.genesis);
  if (e.epoch != 0) out += concat(",\"epoch\":", e.epoch);
  appendMember(out, "owner", e.owner);
  appendMember(out, "shown", toHex(e.shown));
  appendMember(out, "signature", toHex(e.signature));
  appendMember(out, "proof", toHex(e.proof));
  return out + "}";
}

}  // namespace witan::kernel
