#include "agents/policy/field_path.h"

#include "base/json.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '$' || c == '@';
}

bool plainWord(std::string_view key) {
  for (const char c : key)
    if (!plain(c)) return false;
  return !key.empty();
}

void appendKey(std::string& out, std::string_view key) {
  if (!out.empty()) out += '.';
  if (plainWord(key))
    out += key;
  else
    appendJsonString(out, key);
}

// The JSON string that `text` begins with, quotes included; empty if it has no end.
std::string_view quotedAt(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return text.substr(0, i + 1);
  }
  return {};
}

class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<FieldPath> parse() {
    if (text_.size() > kMaxPathBytes)
      return invalid("a field path of more than " + std::to_string(kMaxPathBytes) + " bytes");
    if (text_.empty()) return invalid("an empty field path", "name a field, as in \"patient.id\"");
    while (at_ < text_.size()) {
      if (path_.size() == kMaxPathSteps)
        return invalid("a field path of more than " + std::to_string(kMaxPathSteps) + " steps");
      WITAN_DO(step());
    }
    return std::move(path_);
  }

 private:
  Error wrong(const std::string& what) const {
    return invalid("field path " + inQuotes(text_) + ": " + what + " at byte " + std::to_string(at_),
                   "write names joined by '.', [] for the elements of a list, \"...\" around unusual names");
  }

  Status step() {
    if (text_[at_] == '[') {
      if (text_.substr(at_, 2) != "[]") return wrong("expected []");
      at_ += 2;
      path_.push_back({true, {}});
      return okStatus();
    }
    if (!path_.empty()) {
      if (text_[at_] != '.') return wrong("expected '.' or []");
      if (++at_ == text_.size()) return wrong("a name is missing");
    }
    return text_[at_] == '"' ? quoted() : word();
  }

  Status word() {
    std::size_t end = at_;
    while (end < text_.size() && plain(text_[end])) ++end;
    if (end == at_) return wrong("expected a name");
    path_.push_back({false, std::string(text_.substr(at_, end - at_))});
    at_ = end;
    return okStatus();
  }

  Status quoted() {
    const std::string_view literal = quotedAt(text_.substr(at_));
    if (literal.empty()) return wrong("a name without closing quote");
    auto key = parseJson(literal);
    if (!key.ok()) return wrong(key.error().message);
    path_.push_back({false, std::string(key->get_string())});
    at_ += literal.size();
    return okStatus();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  FieldPath path_;
};

}  // namespace

Result<FieldPath> parseFieldPath(std::string_view text) { return PathParser(text).parse(); }

std::string fieldPathText(const FieldPath& path) {
  std::string out;
  for (const PathStep& step : path) {
    if (step.element)
      out += "[]";
    else
      appendKey(out, step.key);
  }
  return out.empty() ? "." : out;
}

std::string withMember(std::string_view base, std::string_view key) {
  std::string out(base);
  const std::string_view shown = clip(key);
  appendKey(out, shown);
  if (shown.size() < key.size()) out += "...";
  return out;
}

std::string withElement(std::string_view base) { return std::string(base) + "[]"; }

}  // namespace witan::agents
