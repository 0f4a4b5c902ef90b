#include "node/tools/secret_strike.h"

#include <algorithm>
#include <cctype>

#include "base/bytes.h"
#include "base/utf8.h"
#include "net/http_message.h"

namespace witan::node {

namespace {

constexpr std::size_t kCutOff = 6;  // the fewest bytes at the end of a text that count as the start of a form

// Of the characters that a text gives wherever it stands, those that no neighbour has a part in.
std::string base64Inside(std::string_view text, std::size_t before) {
  std::string whole(before, '\0');
  whole += text;
  const std::size_t from = (before * 8 + 5) / 6, to = whole.size() * 8 / 6;
  std::string form = toBase64(whole);
  wipe(whole);
  return form.substr(from, to - from);
}

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::string withSmallDigits(std::string percent) {
  for (std::size_t at = percent.find('%'); at != percent.npos; at = percent.find('%', at + 3))
    for (std::size_t digit = at + 1; digit <= at + 2; ++digit)
      percent[digit] = static_cast<char>(std::tolower(percent[digit]));
  return percent;
}

}  // namespace

SecretStrike::SecretStrike(const Secret* secret) {
  if (secret == nullptr) return;
  std::string value = trimmed(secret->reveal());
  if (value.size() < kFewest) return;
  if (isUtf8(value)) {
    const std::string escaped = canonicalJson(json::value(value));
    add(escaped.substr(1, escaped.size() - 2));
  }
  add(net::percentEncoded(value));
  add(withSmallDigits(net::percentEncoded(value)));
  add(toHex(asBytes(value)));
  for (const std::size_t before : {0u, 1u, 2u}) {
    std::string form = base64Inside(value, before);
    add(form);
    std::ranges::replace(form, '+', '-');
    std::ranges::replace(form, '/', '_');
    add(std::move(form));
  }
  add(std::move(value));
  std::ranges::stable_sort(forms_, [](const Secret& a, const Secret& b) { return a.size() > b.size(); });
}

void SecretStrike::add(std::string form) {
  if (form.size() >= kFewest && std::ranges::none_of(forms_, [&](const Secret& one) { return one.sameAs(form); }))
    forms_.push_back(Secret::copyOf(form));
  wipe(form);
}

std::string SecretStrike::of(std::string_view text) const {
  std::string out(text);
  for (const Secret& form : forms_)
    for (std::size_t at = out.find(form.reveal()); at != out.npos; at = out.find(form.reveal(), at + kStruck.size()))
      out.replace(at, form.size(), kStruck);
  for (const Secret& form : forms_)
    for (std::size_t size = std::min(out.size(), form.size() - 1); size >= kCutOff; --size)
      if (out.ends_with(form.reveal().substr(0, size))) {
        out.replace(out.size() - size, size, kStruck);
        break;
      }
  return out;
}

json::value SecretStrike::ofJson(const json::value& value) const {
  if (forms_.empty()) return value;
  if (value.is_string()) return json::value(of(std::string_view(value.get_string())));
  if (const json::array* list = value.if_array()) {
    json::array out;
    for (const json::value& one : *list) out.push_back(ofJson(one));
    return out;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  json::object out;
  for (const auto& member : *object) out[of(std::string_view(member.key()))] = ofJson(member.value());
  return out;
}

}  // namespace witan::node
