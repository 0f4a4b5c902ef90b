#include "kernel/record/statement.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/json.h"
#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

// Long texts are signed by their digests; none has none.
std::string digestOf(std::string_view text) { return text.empty() ? std::string() : toHex(sha256(text)); }

}  // namespace

Statement statementOf(std::string_view cluster, std::string_view domain, const EntryView& e) {
  Statement s{cluster, domain, "propose", e.entity, e.role, e.operationId, e.device, e.agent, {}, {},
              {},      {},     {},        {},       {}};
  if (e.counselor.empty()) {
    s.action = e.action, s.runKey = e.runKey, s.planDigest = e.planDigest;
    return s;
  }
  s.kind = e.tag == Tag::cCommitted ? "commit" : "reject";
  s.counselor = e.counselor, s.decision = e.decision, s.reason = e.reason, s.shown = e.shown;
  return s;
}

Statement statementOf(std::string_view cluster, std::string_view domain, const GenesisView& g) {
  Statement s{cluster, domain, "begin", g.entity, {}, g.operationId, g.device, g.agent};
  s.action = g.fields;
  return s;
}

Hash requestLeaf(const Statement& s) {
  const std::string action = digestOf(s.action), decision = digestOf(s.decision), reason = digestOf(s.reason);
  const std::string run = toHex(s.runKey), plan = toHex(s.planDigest), shown = toHex(s.shown);
  const std::array<std::string_view, 15> parts{s.cluster,     s.domain,    s.kind,   s.entity, s.role,
                                               s.operationId, s.device,    s.agent,  action,   run,
                                               plan,          s.counselor, decision, reason,   shown};
  return leafHash(statementText("witan-request/1", parts));
}

std::string answerText(const Statement& s) {
  const std::string decision = digestOf(s.decision), reason = digestOf(s.reason), shown = toHex(s.shown);
  const std::array<std::string_view, 8> parts{s.cluster, s.domain, s.entity, s.counselor,
                                              s.kind,    shown,    decision, reason};
  return statementText("witan-answer/1", parts);
}

PublicKey PersonsWord::key() const {
  PublicKey key{};
  std::copy_n(signature.begin(), std::min(signature.size(), key.size()), key.begin());
  return key;
}

bool PersonsWord::holds(SignatureMemo& memo) const {
  return signature.size() == kPersonSignature &&
         memo.holds(key(), text, std::span(signature).subspan(sizeof(PublicKey)));
}

std::optional<PersonsWord> personsWord(const Statement& s, std::span<const std::uint8_t> signature) {
  if (s.kind != "propose")
    return PersonsWord{std::string(s.counselor), answerText(s), {signature.begin(), signature.end()}};
  if (!isPersonal(s.domain, s.role)) return std::nullopt;
  const auto action = parseJson(s.action, {.bytes = kRecordTextMax, .depth = 64});
  if (!action.ok() || !action->is_object()) return std::nullopt;
  json::object said = action->get_object();
  const auto textOf = [&](const char* member) {
    const json::value* value = said.if_contains(member);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  PersonsWord word{textOf("by"), {}, {}};
  const std::string given = textOf("signature");
  if (const auto bytes = fromHex(given); bytes.ok())
    word.signature.assign(bytes->begin(), bytes->end());
  else
    word.signature.assign(1, 0);  // there is one, and nobody made it
  const auto shown = hashFromHex(textOf("digest"));
  said.erase("signature");
  const std::string decision = canonicalJson(said);
  Statement answer{s.cluster, s.domain, "answer", s.entity};
  answer.counselor = word.person, answer.decision = decision;
  if (shown.ok()) answer.shown = *shown;
  word.text = answerText(answer);
  return word;
}

std::string decisionText(std::string_view base, const json::object& edit) {
  std::string text = concat("{\"base\":\"", base, "\",\"edit\":");
  appendCanonicalJson(text, edit);
  return text + "}";
}

std::string deviceOfKey(const PublicKey& key) {
  const Hash hash = sha256({reinterpret_cast<const char*>(key.data()), key.size()});
  return toHex(std::span(hash).first(16));
}

Hash holdingLeaf(std::string_view cluster, std::string_view partition, std::uint64_t epoch, std::string_view owner,
                 std::uint64_t run, std::uint64_t seq, const Hash& entryLeaf) {
  const std::string number = std::to_string(epoch), during = std::to_string(run), place = std::to_string(seq),
                    leaf = toHex(entryLeaf);
  const std::array<std::string_view, 7> parts{cluster, partition, number, owner, during, place, leaf};
  return leafHash(statementText("witan-entry/2", parts));
}

}  // namespace witan::kernel
