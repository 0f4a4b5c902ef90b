#include "lab/ontology/turtle_source.h"

#include <algorithm>

namespace witan::ontology {

namespace {

constexpr std::size_t kLookBack = 8 << 10;

// May it continue a prefixed name? Bytes of characters beyond ASCII may.
bool inName(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') || u >= 0x80 || c == '_' ||
         c == '-' || c == ':' || c == '%' || c == '\\';
}

}  // namespace

void Nesting::take(char c) {
  switch (in_) {
    case In::text: return takeText(c);
    case In::comment:
      if (c == '\n' || c == '\r') in_ = In::text;
      return;
    case In::iri:
      if (c == '>') in_ = In::text;
      return;
    case In::string:
    case In::longString: return takeString(c);
  }
}

void Nesting::takeText(char c) {
  if (escaped_) {
    escaped_ = false;  // \( in a local name
    return;
  }
  switch (c) {
    case '\\': escaped_ = true; return;
    case '#': in_ = In::comment; return;
    case '<': in_ = In::iri; return;
    case '"':
    case '\'':
      in_ = In::string;
      quote_ = c;
      quotes_ = 1;
      opening_ = true;
      return;
    case '[':
    case '(': ++depth_; return;
    case ']':
    case ')':
      if (depth_ > 0) --depth_;
      return;
    default: return;
  }
}

void Nesting::takeString(char c) {
  if (opening_) {  // one quote was taken: "x, "" or """
    if (c == quote_) {
      if (++quotes_ < 3) return;
      in_ = In::longString;
      opening_ = false;
      quotes_ = 0;
      return;
    }
    opening_ = false;
    if (quotes_ == 2) {  // "" was the empty string
      in_ = In::text;
      return takeText(c);
    }
  }
  if (escaped_) {
    escaped_ = false;
    quotes_ = 0;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (in_ == In::string) {
    if (c == quote_ || c == '\n' || c == '\r') in_ = In::text;  // a line's end in a short string is serd's error
  } else if (c != quote_) {
    quotes_ = 0;
  } else if (++quotes_ == 3) {
    in_ = In::text;
  }
}

TurtleSource::TurtleSource(std::string_view text, std::size_t maxDepth) : text_(text), maxDepth_(maxDepth), lines_{0} {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') lines_.push_back(i + 1);
}

std::optional<char> TurtleSource::next() {
  if (taken_ == text_.size() || tooDeep()) return std::nullopt;
  const char c = text_[taken_++];
  nesting_.take(c);
  return c;
}

Place TurtleSource::placeOf(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto line = std::upper_bound(lines_.begin(), lines_.end(), offset) - 1;
  const std::string_view before = text_.substr(*line, offset - *line);
  const auto characters = std::count_if(before.begin(), before.end(),
                                        [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return {static_cast<std::uint32_t>(line - lines_.begin()) + 1, static_cast<std::uint32_t>(characters) + 1};
}

std::optional<std::size_t> TurtleSource::findLast(std::string_view token, std::size_t end) const {
  const std::size_t from = end > kLookBack ? end - kLookBack : 0;
  const std::string_view window = text_.substr(from, end - from);
  for (std::size_t at = window.rfind(token); !token.empty() && at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : window.rfind(token, at - 1)) {
    const std::size_t start = from + at;
    const std::size_t after = start + token.size();
    const bool whole = (start == 0 || !inName(text_[start - 1]) || !inName(token.front())) &&
                       (after >= text_.size() || !inName(text_[after]) || !inName(token.back()));
    if (whole) return start;
  }
  return std::nullopt;
}

}  // namespace witan::ontology
