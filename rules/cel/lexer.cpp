#include "rules/cel/lexer.h"

#include <array>

#include "base/utf8.h"

namespace witan::rules {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
int hexOf(char c) {
  if (isDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void appendUtf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace

void Lexer::skipSpace() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')
      ++at_;
    else if (text_.substr(at_, 2) == "//")
      at_ = std::min(text_.find('\n', at_), text_.size());
    else
      return;
  }
}

Token Lexer::take(Token::Kind kind, std::size_t length) {
  Token token{kind, static_cast<std::uint32_t>(at_), text_.substr(at_, length), {}};
  at_ += length;
  return token;
}

Parsed<Token> Lexer::next() {
  skipSpace();
  if (at_ >= text_.size()) return take(Token::Kind::end, 0);
  const std::string_view rest = text_.substr(at_);
  const char c = rest[0];
  if (isDigit(c) || (c == '.' && rest.size() > 1 && isDigit(rest[1]))) return number();
  // A prefix of r and b, each at most once, before a quote.
  std::size_t prefix = 0;
  bool raw = false, bytes = false;
  while (prefix < rest.size() && prefix < 2) {
    const char p = static_cast<char>(rest[prefix] | 0x20);
    if (p == 'r' && !raw)
      raw = true;
    else if (p == 'b' && !bytes)
      bytes = true;
    else
      break;
    ++prefix;
  }
  if (prefix < rest.size() && (rest[prefix] == '"' || rest[prefix] == '\'')) return literal(prefix, raw, bytes);
  if (isLetter(c)) {
    std::size_t n = 1;
    while (n < rest.size() && (isLetter(rest[n]) || isDigit(rest[n]))) ++n;
    return take(Token::Kind::name, n);
  }
  if (c == '`') {
    const std::size_t end = rest.find('`', 1);
    if (end == std::string_view::npos || end == 1)
      return SyntaxError{static_cast<std::uint32_t>(at_), "a quoted name ends with `"};
    Token token = take(Token::Kind::quotedName, end + 1);
    token.raw = token.raw.substr(1, end - 1);
    return token;
  }
  static constexpr std::array<std::string_view, 8> kTwo{"==", "!=", "<=", ">=", "&&", "||", ".?", "[?"};
  for (std::string_view two : kTwo)
    if (rest.starts_with(two)) return take(Token::Kind::sign, 2);
  if (std::string_view("<>+-*/%!?:.,()[]{}=;").find(c) != std::string_view::npos) return take(Token::Kind::sign, 1);
  const char* const instead = c == '#' ? ": a comment begins with //" : c < 0 ? ": texts stand in ' or \"" : "";
  return SyntaxError{static_cast<std::uint32_t>(at_),
                     concat("\"", clip(rest, 4), "\" is no part of an expression", instead)};
}

Parsed<Token> Lexer::number() {
  const std::string_view rest = text_.substr(at_);
  std::size_t n = 0;
  Token::Kind kind = Token::Kind::integer;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    n = 2;
    while (n < rest.size() && hexOf(rest[n]) >= 0) ++n;
    if (n == 2) return SyntaxError{static_cast<std::uint32_t>(at_), "0x needs digits"};
  } else {
    while (n < rest.size() && isDigit(rest[n])) ++n;
    if (n + 1 < rest.size() && rest[n] == '.' && isDigit(rest[n + 1])) {
      kind = Token::Kind::real;
      ++n;
      while (n < rest.size() && isDigit(rest[n])) ++n;
    }
    std::size_t e = n;
    if (e < rest.size() && (rest[e] | 0x20) == 'e') {
      ++e;
      if (e < rest.size() && (rest[e] == '+' || rest[e] == '-')) ++e;
      if (e < rest.size() && isDigit(rest[e])) {
        kind = Token::Kind::real;
        for (n = e; n < rest.size() && isDigit(rest[n]);) ++n;
      }
    }
  }
  const bool isUnsigned = kind == Token::Kind::integer && n < rest.size() && (rest[n] | 0x20) == 'u';
  Token token = take(isUnsigned ? Token::Kind::uinteger : kind, n);
  if (isUnsigned) ++at_;
  return token;
}

Parsed<Token> Lexer::literal(std::size_t prefix, bool raw, bool bytes) {
  Token token = take(bytes ? Token::Kind::bytes : Token::Kind::text, 0);
  at_ += prefix;
  const char quote = text_[at_];
  const std::string three(3, quote);
  const bool triple = text_.substr(at_, 3) == three;
  at_ += triple ? 3 : 1;
  for (;;) {
    if (at_ >= text_.size() || (!triple && (text_[at_] == '\n' || text_[at_] == '\r')))
      return SyntaxError{token.at, "the text that begins here does not end"};
    if (triple ? text_.substr(at_, 3) == three : text_[at_] == quote) break;
    if (text_[at_] == '\\' && !raw) {
      if (auto error = escape(token.text, bytes)) return *error;
    } else {
      token.text += text_[at_++];
    }
  }
  at_ += triple ? 3 : 1;
  if (!bytes && !isUtf8(token.text)) return SyntaxError{token.at, "a text must be valid Unicode"};
  return token;
}

std::optional<SyntaxError> Lexer::escape(std::string& out, bool bytes) {
  const auto start = static_cast<std::uint32_t>(at_);
  const auto wrong = [&](const char* why) { return SyntaxError{start, why}; };
  if (++at_ >= text_.size()) return wrong("the text ends within an escape");
  const char c = text_[at_++];
  static constexpr std::string_view kNames = "abfnrtv\\'\"`?", kMeans = "\a\b\f\n\r\t\v\\'\"`?";
  if (const std::size_t at = kNames.find(c); at != std::string_view::npos) {
    out += kMeans[at];
    return std::nullopt;
  }
  std::uint32_t code = 0;
  std::size_t digits = 0;
  if (c >= '0' && c <= '3') {
    code = static_cast<std::uint32_t>(c - '0');
    for (digits = 0; digits < 2; ++digits, ++at_) {
      if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '7') return wrong("an octal escape has three digits");
      code = code * 8 + static_cast<std::uint32_t>(text_[at_] - '0');
    }
  } else {
    digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) return wrong("this escape does not exist");
    if (bytes && digits > 2) return wrong("bytes have no Unicode escapes");
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      const int hex = at_ < text_.size() ? hexOf(text_[at_]) : -1;
      if (hex < 0) return wrong("this escape needs more hexadecimal digits");
      code = code * 16 + static_cast<std::uint32_t>(hex);
    }
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return wrong("this is no Unicode character");
  if (bytes)
    out += static_cast<char>(code);
  else
    appendUtf8(out, code);
  return std::nullopt;
}

}  // namespace witan::rules
