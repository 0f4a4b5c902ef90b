#include "base/json_cut.h"

namespace witan {

namespace {

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// One past the string that begins at `at`; npos if it does not end.
std::size_t afterString(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

}  // namespace

Error JsonCut::wrong(const char* what) const { return invalid(concat("JSON at byte ", offset_ + at_, ": ", what)); }

void JsonCut::skipSpace() {
  while (at_ < text_.size() && isSpace(text_[at_])) ++at_;
}

bool JsonCut::takeString() {
  const std::size_t end = afterString(text_, at_);
  if (end == std::string_view::npos) return at_ = text_.size(), false;
  at_ = end;
  return true;
}

// Up to the comma or bracket behind it. Each value but the first of a container follows a comma, a bracket or a colon.
bool JsonCut::takeValue(std::size_t& values) {
  std::size_t depth = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      if (!takeString()) return false;
      --at_;
    } else if (c == '[' || c == '{') {
      ++depth, ++values;
    } else if (c == ']' || c == '}') {
      if (depth == 0) return true;
      --depth;
    } else if (c == ',' || c == ':') {
      if (depth == 0) return true;
      ++values;
    }
  }
  return false;
}

Status JsonCut::open() {
  skipSpace();
  const char first = at_ < text_.size() ? text_[at_] : ' ';
  if (first != '[' && first != '{') return wrong("expected an object or a list");
  close_ = first == '[' ? ']' : '}';
  ++at_;
  skipSpace();
  if (at_ < text_.size() && text_[at_] == close_) return finish();
  return okStatus();
}

Status JsonCut::finish() {
  ++at_;
  skipSpace();
  if (at_ < text_.size()) return wrong("there is text after the value");
  done_ = true;
  return okStatus();
}

Result<std::optional<JsonPart>> JsonCut::next() {
  if (close_ == 0) WITAN_DO(open());
  if (done_) return std::optional<JsonPart>();
  JsonPart part;
  skipSpace();
  if (close_ == '}') {
    const std::size_t from = at_;
    if (at_ >= text_.size() || text_[at_] != '"') return wrong("expected a key");
    if (!takeString()) return wrong("the text ends too early");
    part.key = text_.substr(from, at_ - from);
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != ':') return wrong("expected a colon");
    ++at_;
    skipSpace();
  }
  const std::size_t from = at_;
  if (!takeValue(part.values)) return wrong("the text ends too early");
  part.text = text_.substr(from, at_ - from);
  if (text_[at_] == ',')
    ++at_;
  else if (text_[at_] == close_)
    WITAN_DO(finish());
  else
    return wrong("expected a comma or the end of the container");
  ++count_;
  return std::optional(part);
}

std::size_t jsonValuesAtMost(std::string_view text) {
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t end = afterString(text, at);
      if (end == std::string_view::npos) return values;
      at = end - 1;
    } else if (c == ',' || c == ':' || c == '[' || c == '{') {
      ++values;
    }
  }
  return values;
}

}  // namespace witan
