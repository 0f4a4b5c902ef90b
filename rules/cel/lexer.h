// Lexer of CEL: one token at a time. Borrows the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/cel/syntax.h"

namespace witan::rules {

struct Token {
  enum class Kind : std::uint8_t { end, name, quotedName, integer, uinteger, real, text, bytes, sign };
  Kind kind = Kind::end;
  std::uint32_t at = 0;
  std::string_view raw;  // a name, a sign, the digits of a number
  std::string text;      // what a literal says
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Parsed<Token> next();

 private:
  void skipSpace();
  Token take(Token::Kind kind, std::size_t length);
  Parsed<Token> number();
  Parsed<Token> literal(std::size_t prefix, bool raw, bool bytes);
  std::optional<SyntaxError> escape(std::string& out, bool bytes);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace witan::rules
