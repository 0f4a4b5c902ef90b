// Syntax of CEL expressions, and of the small scripts of rule files that are made of them.
//
//   script    = { statement ";" }
//   statement = "let" name "=" expr | "require" expr "else" ["reject" | "escalate"] expr | target "=" expr
//             | "append" field "=" expr | "if" expr block [ "else" (block | if) ] | "for" name "in" expr block
//   block     = "{" { statement ";" } "}"
//
// Text from outside: bounded in length, depth and parts; an error names the byte. Pure functions; the text must outlive
// nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/cel/value.h"

namespace witan::rules {

inline constexpr std::size_t kTextMax = 64 * 1024;  // bytes of one expression or script
inline constexpr std::size_t kDepthMax = 100;       // expressions inside each other
inline constexpr std::size_t kNodesMax = 20'000;    // parts of one program, after its functions are put in

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  enum class Kind : std::uint8_t {
    constant,  // value
    name,      // text; optional: .text, which no local name hides
    select,    // parts[0].text; optional: parts[0].?text
    index,     // parts[0][parts[1]]; optional: [?...]
    call,      // text(parts...): operators are calls of _+_ and so on
    member,    // parts[0].text(parts[1...])
    list,      // parts; those of `optionals` are optional
    map,       // key, value, key, value...
  };
  Kind kind = Kind::constant;
  bool optional = false;
  std::uint32_t at = 0;  // byte in the text
  std::uint32_t depth = 1;
  Value value;  // a text borrows `text`
  std::string text;
  std::vector<ExprPtr> parts;
  std::vector<bool> optionals;
};

struct Statement {
  enum class Kind : std::uint8_t { let, require, assign, append, branch, loop };
  Kind kind = Kind::let;
  std::uint32_t at = 0;
  std::string name;  // of let, append and loop; of require: reject, escalate or ""
  ExprPtr target;    // of assign
  ExprPtr expr;
  ExprPtr message;  // of require
  std::vector<Statement> body, otherwise;
};

// Where in a text something is wrong; `at` counts bytes.
struct SyntaxError {
  std::uint32_t at = 0;
  std::string message;
};

template <class T>
using Parsed = std::variant<T, SyntaxError>;

Parsed<ExprPtr> parseExpression(std::string_view text);
Parsed<std::vector<Statement>> parseScript(std::string_view text);

// A duration as CEL writes it: 1h30m, -1.5s, 100ms. Nothing: it is none, or exceeds 64 bits of nanoseconds.
std::optional<std::int64_t> parseDuration(std::string_view text);

struct LineColumn {
  std::size_t line = 1, column = 1;
};
LineColumn lineColumn(std::string_view text, std::size_t at);  // columns count characters

}  // namespace witan::rules
