#include "kernel/record/entry_text.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "kernel/record/verdict.h"

namespace witan::kernel {

namespace {

// Where the words go: to the end of a text, or against one that is given.
class Writing {
 public:
  explicit Writing(std::string& out) : out_(out) {}
  void put(std::string_view words) { out_ += words; }
  void string(std::string_view text) { appendJsonString(out_, text); }
  void hex(std::span<const std::uint8_t> bytes) { out_ += toHex(bytes); }
  // Stored text that is no JSON (a damaged ledger) is shown as text.
  void json(std::string_view text) {
    if (surelyCanonicalJson(text, kOwnJson))
      out_ += text;
    else if (const auto parsed = parseJson(text, kOwnJson); parsed.ok())
      appendCanonicalJson(out_, *parsed);
    else
      appendJsonString(out_, text);
  }

 private:
  std::string& out_;
};

class Comparing {
 public:
  explicit Comparing(std::string_view text) : rest_(text) {}
  bool same() const { return same_ && rest_.empty(); }
  void put(std::string_view words) {
    same_ = same_ && rest_.starts_with(words);
    if (same_) rest_.remove_prefix(words.size());
  }
  void string(std::string_view text) {
    const auto escaped = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; };
    if (std::ranges::any_of(text, escaped)) {
      std::string whole;
      appendJsonString(whole, text);
      return put(whole);
    }
    put("\""), put(text), put("\"");
  }
  void hex(std::span<const std::uint8_t> bytes) {
    char two[2 * sizeof(Hash)];
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), sizeof(Hash)))) {
      const std::size_t n = std::min(bytes.size(), sizeof(Hash));
      for (std::size_t i = 0; i < n; ++i)
        two[2 * i] = "0123456789abcdef"[bytes[i] >> 4], two[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
      put({two, 2 * n});
    }
  }
  void json(std::string_view canonical) { put(canonical); }

 private:
  std::string_view rest_;
  bool same_ = true;
};

std::string_view resultName(std::uint16_t result) {
  return result < enumNames<InvResult>().size() ? enumName(static_cast<InvResult>(result)) : "?";
}

enum class Part : std::uint8_t {
  seq,
  time,
  tag,
  entity,
  role,
  device,
  agent,
  operationId,
  runKey,
  planDigest,
  action,
  invariant,
  message,
  writes,
  verdicts,
  findings,
  counselor,
  escalation,
  reason,
  decision,
  stateDigest,
  genesis,
  epoch,
  owner,
  shown,
  signature,
  proof
};
constexpr Part kWritten[] = {Part::seq,         Part::time,      Part::tag,         Part::entity, Part::role,
                             Part::device,      Part::agent,     Part::operationId, Part::runKey, Part::planDigest,
                             Part::action,      Part::invariant, Part::message,     Part::writes, Part::verdicts,
                             Part::findings,    Part::counselor, Part::escalation,  Part::reason, Part::decision,
                             Part::stateDigest, Part::genesis,   Part::epoch,       Part::owner,  Part::shown,
                             Part::signature,   Part::proof};
constexpr Part kSorted[] = {Part::action,    Part::agent,     Part::counselor,   Part::decision, Part::device,
                            Part::entity,    Part::epoch,     Part::escalation,  Part::findings, Part::genesis,
                            Part::invariant, Part::message,   Part::operationId, Part::owner,    Part::planDigest,
                            Part::proof,     Part::reason,    Part::role,        Part::runKey,   Part::seq,
                            Part::shown,     Part::signature, Part::stateDigest, Part::tag,      Part::time,
                            Part::verdicts,  Part::writes};
static_assert(std::size(kWritten) == std::size(kSorted));

template <class Sink>
class EntryText {
 public:
  EntryText(Sink& sink, const EntryView& entry, const std::vector<std::string>& names, EntryForm form)
      : sink_(sink), e_(entry), names_(names), form_(form) {}

  void all() {
    sink_.put("{");
    for (const Part part : form_ == EntryForm::sorted ? kSorted : kWritten) put(part);
    sink_.put("}");
  }

 private:
  void put(Part part) {
    switch (part) {
      case Part::seq: return number("seq", e_.seq);
      case Part::time: return text("time", formatTime(e_.time));
      case Part::tag: return text("tag", enumName(e_.tag));
      case Part::entity: return text("entity", e_.entity);
      case Part::role: return text("role", e_.role);
      case Part::device: return text("device", e_.device);
      case Part::agent: return text("agent", e_.agent);
      case Part::operationId: return text("operationId", e_.operationId);
      case Part::runKey: return hex("runKey", e_.runKey);
      case Part::planDigest: return hex("planDigest", e_.planDigest);
      case Part::action: return json("action", e_.action);
      case Part::invariant: return text("invariant", e_.invariant);
      case Part::message:
        if (e_.invariant.empty()) return;
        return text("message", e_.message);
      case Part::writes: return json("writes", e_.writes);
      case Part::verdicts: return verdicts();
      case Part::findings: return findings();
      case Part::counselor: return text("counselor", e_.counselor);
      case Part::escalation: return e_.escalation == 0 ? void() : number("escalation", e_.escalation);
      case Part::reason: return text("reason", e_.reason);
      case Part::decision: return json("decision", e_.decision);
      case Part::stateDigest: return hex("stateDigest", e_.stateDigest);
      case Part::genesis: return json("genesis", e_.genesis);
      case Part::epoch: return e_.epoch == 0 ? void() : number("epoch", e_.epoch);
      case Part::owner: return text("owner", e_.owner);
      case Part::shown: return hex("shown", e_.shown);
      case Part::signature: return hex("signature", e_.signature);
      case Part::proof: return hex("proof", e_.proof);
    }
  }

  void name(std::string_view name) {
    sink_.put(first_ ? "\"" : ",\""), sink_.put(name), sink_.put("\":");
    first_ = false;
  }
  void number(std::string_view of, std::uint64_t number) {
    char digits[20];
    name(of), sink_.put({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
  }
  void text(std::string_view of, std::string_view text) {
    if (!text.empty()) name(of), sink_.string(text);
  }
  void hex(std::string_view of, std::span<const std::uint8_t> bytes) {
    if (!bytes.empty()) name(of), sink_.put("\""), sink_.hex(bytes), sink_.put("\"");
  }
  void json(std::string_view of, std::string_view text) {
    if (!text.empty()) name(of), sink_.json(text);
  }

  void verdicts() {
    name("verdicts"), sink_.put("{");
    said_.clear(), unnamed_.clear();
    if (names_.size() < e_.verdicts.size()) unnamed_.reserve(e_.verdicts.size());
    for (std::size_t i = 0; i < e_.verdicts.size(); ++i)
      if (e_.verdicts[i] != 0)
        said_.emplace_back(i < names_.size() ? names_[i] : unnamed_.emplace_back(concat("#", i)), e_.verdicts[i]);
    if (form_ == EntryForm::sorted) std::ranges::sort(said_);
    for (std::size_t i = 0; i < said_.size(); ++i) {
      if (i > 0) sink_.put(",");
      sink_.string(said_[i].first), sink_.put(":\""), sink_.put(resultName(said_[i].second)), sink_.put("\"");
    }
    sink_.put("}");
  }

  void findings() {
    if (e_.findings.empty() && e_.tag != Tag::cCommitted) return;
    name("findings"), sink_.put("[");
    for (std::size_t i = 0; i < e_.findings.size(); ++i) {
      const auto& finding = e_.findings[i];
      sink_.put(i ? ",{\"invariant\":" : "{\"invariant\":"), sink_.string(finding.invariant);
      const auto result = [&] { sink_.put(",\"result\":\""), sink_.put(resultName(finding.result)), sink_.put("\""); };
      if (form_ == EntryForm::written) result();
      sink_.put(",\"message\":"), sink_.string(finding.message);
      if (form_ == EntryForm::sorted) result();
      sink_.put("}");
    }
    sink_.put("]");
  }

  Sink& sink_;
  const EntryView& e_;
  const std::vector<std::string>& names_;
  const EntryForm form_;
  bool first_ = true;
  static inline thread_local std::vector<std::pair<std::string_view, std::uint16_t>> said_;
  std::vector<std::string> unnamed_;
};

}  // namespace

std::string entryJson(const EntryView& entry, const std::vector<std::string>& invariantIds) {
  std::string out;
  Writing writing(out);
  EntryText(writing, entry, invariantIds, EntryForm::written).all();
  return out;
}

bool isEntryText(std::string_view text, const EntryView& entry, const std::vector<std::string>& invariantIds,
                 EntryForm form) {
  Comparing comparing(text);
  EntryText(comparing, entry, invariantIds, form).all();
  return comparing.same();
}

}  // namespace witan::kernel
