#include "market/letters.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/base64url.h"
#include "base/identity.h"

witan::Status witan::JsonCodec<witan::market::LongText>::read(const json::value& v, market::LongText& out,
                                                              std::string_view where) {
  if (!v.is_string()) return wrongJsonType(where, "text", v);
  if (v.get_string().size() > market::kBundleLimits.bytes)
    return invalid(concat(where, ": longer than ", market::kBundleLimits.bytes, " bytes"));
  out.assign(v.get_string().data(), v.get_string().size());
  return okStatus();
}

namespace witan::market {

namespace {

struct LetterLimit {
  std::string_view kind;
  std::size_t bytes;  // of names and texts, and one of each other value: less than its JSON has
};
constexpr std::size_t kOfAnother = 4 << 10;
constexpr LetterLimit kLetterLimits[] = {
    {"answer", kMostLetterBytes},
    {"evidence", kBundleLimits.bytes + kOfAnother},
    {"propose", 1 << 20},
    {"open", 1 << 20},
    {"order", 2 * kMostInputBytes},
    {"act", kMostEnvelopeBytes + kOfAnother},
    {"view", kMostEnvelopeBytes / 2},
    {"quote", kMostEnvelopeBytes / 2},
};

std::size_t bytesOf(const json::value& value) {
  std::size_t bytes = 1;
  if (const json::string* text = value.if_string()) bytes += text->size();
  if (const json::array* list = value.if_array())
    for (const json::value& each : *list) bytes += bytesOf(each);
  if (const json::object* object = value.if_object())
    for (const auto& member : *object) bytes += member.key().size() + bytesOf(member.value());
  return bytes;
}

void cutTexts(json::object& body) {
  for (auto&& member : body) {
    json::string* text = member.value().if_string();
    const std::size_t most = member.key() == "statement" ? kMostEnvelopeBytes : kMostReasonBytes;
    if (text != nullptr && text->size() > most) *text = std::string(clip(*text, most));
  }
}

// [salt, name, value]; null: it is none.
json::value disclosed(const std::string& disclosure) {
  const auto bytes = fromBase64Url(disclosure);
  auto parts = bytes.ok() ? parseJson(*bytes) : Result<json::value>(bytes.error());
  const bool good = parts.ok() && parts->is_array() && parts->get_array().size() == 3 && parts->at(0).is_string() &&
                    parts->at(1).is_string();
  return good ? std::move(*parts) : json::value();
}

}  // namespace

std::string textOf(const json::object& body, std::string_view member) {
  const json::value* value = body.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<std::int64_t> numberOf(const json::object& body, std::string_view member) {
  const json::value* value = body.if_contains(member);
  return value != nullptr && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

std::string trim(Letter& letter) {
  const auto* at = std::ranges::find(kLetterLimits, letter.kind, &LetterLimit::kind);
  const std::size_t most = at == std::end(kLetterLimits) ? kOfAnother : at->bytes;
  std::size_t bytes = 0;
  for (const auto& member : letter.body) bytes += member.key().size() + bytesOf(member.value());
  if (bytes > most) {
    if (letter.kind != "answer") return concat("a letter of kind ", clip(letter.kind), " has at most ", most, " bytes");
    json::object texts;
    for (const auto& member : letter.body)
      if (member.value().is_string()) texts.emplace(member.key(), clip(member.value().get_string(), kMostReasonBytes));
    letter.body = std::move(texts);
  }
  if (letter.kind != "answer") return "";
  cutTexts(letter.body);
  json::value* calls = letter.body.if_contains("calls");
  if (calls != nullptr && calls->is_object())
    for (auto&& call : calls->get_object())
      if (json::object* standing = call.value().if_object()) cutTexts(*standing);
  return "";
}

Letter refusalOf(const Letter& letter, const std::string& why) {
  return answerTo(letter, {{"outcome", "refused"}, {"message", why}, {"declined", why}});
}

std::string nameFlaw(std::string_view what, std::string_view name) {
  if (name.size() > kMostCallBytes) return concat(what, " has 1 to ", kMostCallBytes, " bytes");
  if (name.find('/') != name.npos) return concat(what, " has no /");
  if (const Status valid = validateId(what, name); !valid.ok()) return valid.error().message;
  const bool begins = std::isalnum(static_cast<unsigned char>(name.front())) != 0;  // an id is ASCII
  return begins ? "" : concat(what, " begins with a letter or a digit");
}

std::string timesFlaw(Natural deliverWithinSeconds, Natural disputeWindowSeconds) {
  if (deliverWithinSeconds > Natural(kMostSeconds) || disputeWindowSeconds > Natural(kMostSeconds))
    return "a delivery or a dispute has ten years at most";
  if (deliverWithinSeconds < 1) return "nothing can be delivered within no time";
  if (disputeWindowSeconds < Natural(kLeastWindowSeconds))
    return concat("a buyer needs ", kLeastWindowSeconds, " s at least for a dispute");
  return "";
}

std::string termsFlaw(const Contract& c, Moment now) {
  if (std::string flaw = nameFlaw("a contract's id", c.id); !flaw.empty()) return flaw;
  if (isHex(c.id)) return "a contract's id looks like a digest";
  if (c.buyer.org == c.seller.org) return "buyer and seller are one organisation";
  if (c.notBefore >= c.expiry || c.perCall < 1 || c.total < 1 || c.calls < 1) return "it permits no call";
  if (c.perCall > Natural(kMostMoney) || c.total > Natural(kMostMoney))
    return concat("no contract is of more than ", kMostMoney);
  if (now >= c.expiry) return "it has expired";
  if (c.models.empty() || c.locales.empty()) return "no run keeps to it: it allows no model, or no locale";
  return timesFlaw(c.deliverWithinSeconds, c.disputeWindowSeconds);
}

std::string disclosuresFlaw(const std::vector<std::string>& disclosures) {
  std::size_t bytes = 0;
  for (const std::string& each : disclosures) {
    if (each.size() > kTextMax) return concat("a member of the input has at most ", kTextMax / 4 * 3, " bytes");
    bytes += each.size();
  }
  if (bytes > kMostInputBytes) return concat("the input has more than ", kMostInputBytes, " bytes");
  std::set<std::string> names;
  for (const std::string& each : disclosures) {
    const json::value parts = disclosed(each);
    if (parts.is_null()) return "a disclosure is not base64url of [salt, name, value]";
    if (!names.emplace(parts.at(1).get_string()).second) return "two disclosures have one name";
  }
  return "";
}

json::object membersOf(const std::vector<std::string>& disclosures) {
  json::object members;
  for (const std::string& each : disclosures) {
    const json::value parts = disclosed(each);
    if (!parts.is_null()) members[parts.at(1).get_string()] = parts.at(2);
  }
  return members;
}

json::value valueOf(const std::string& text) {
  auto parsed = parseJson(text, kBundleLimits);
  return parsed.ok() ? std::move(*parsed) : json::value();
}

std::string externalId(std::string_view contract, std::string_view call) { return concat(contract, "/", call); }

std::string externalIdOf(std::string_view letterId) {
  const std::size_t slash = letterId.find('/');
  return std::string(slash == letterId.npos ? letterId : letterId.substr(0, letterId.find('/', slash + 1)));
}

std::string stepId(std::string_view external, std::string_view step, std::uint64_t attempt) {
  return attempt == 0 ? concat(external, "/", step) : concat(external, "/", step, "/", attempt);
}

void Retry::tried(Moment now, std::int64_t most) {
  last_ = now;
  next_ = {now.seconds + std::min(std::int64_t{1} << std::min(tries_, 20u), most)};
  ++tries_;
}

bool Pacing::permits(const Letter& letter, Moment now) {
  Sent& sent = sent_[letter.to];
  if (sent.second != now) sent = {now, 0, 0};
  return ++(letter.kind == "view" ? sent.views : sent.others) <= 3 * kRequestsPerSecond / 4;
}

bool Allowance::admits(const std::string& org, Moment now, Out& out) {
  Count& count = counts_[org];
  if (count.second != now) {
    count.second = now;
    count.requests = 0;
  }
  if (++count.requests <= kRequestsPerSecond) return true;
  if (tells("flood " + org, now))
    out.incidents.push_back({"flood", org, concat("more than ", kRequestsPerSecond, " requests in a second"), {}});
  return false;
}

bool Allowance::tells(const std::string& what, Moment now) {
  std::erase_if(told_, [&](const auto& each) { return now.seconds - each.second.seconds >= 60; });
  return told_.emplace(what, now).second;
}

}  // namespace witan::market
