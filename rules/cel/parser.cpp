#include <algorithm>
#include <array>
#include <charconv>

#include "rules/cel/lexer.h"
#include "rules/cel/syntax.h"

namespace witan::rules {

namespace {

struct Stop {
  SyntaxError error;
};

constexpr std::array<std::string_view, 17> kReserved{"as",        "break",  "const",  "continue", "else", "for",
                                                     "function",  "if",     "import", "let",      "loop", "package",
                                                     "namespace", "return", "var",    "void",     "while"};

struct Level {
  std::string_view sign, name;
  int rank;
};
constexpr std::array<Level, 14> kBinary{{{"||", "_||_", 1},
                                         {"&&", "_&&_", 2},
                                         {"==", "_==_", 3},
                                         {"!=", "_!=_", 3},
                                         {"<", "_<_", 3},
                                         {"<=", "_<=_", 3},
                                         {">", "_>_", 3},
                                         {">=", "_>=_", 3},
                                         {"in", "_in_", 3},
                                         {"+", "_+_", 4},
                                         {"-", "_-_", 4},
                                         {"*", "_*_", 5},
                                         {"/", "_/_", 5},
                                         {"%", "_%_", 5}}};

// Throws Stop: only parseExpression and parseScript see it.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {
    if (text.size() > kTextMax) throw Stop{{0, concat("an expression has at most ", kTextMax, " bytes")}};
    advance();
  }

  ExprPtr whole() {
    ExprPtr e = expression();
    if (token_.kind != Token::Kind::end) stop("expected the end of the expression");
    return e;
  }

  std::vector<Statement> script() {
    std::vector<Statement> all;
    while (token_.kind != Token::Kind::end) statement(all);
    return all;
  }

 private:
  [[noreturn]] void stop(const std::string& what) {
    const std::string found = token_.kind == Token::Kind::end ? "the end"
                              : token_.raw.empty()            ? "a text"
                                                              : "\"" + std::string(token_.raw.substr(0, 40)) + "\"";
    const bool word = token_.raw == "and" || token_.raw == "or" || before_ == "not";
    const char* const instead = token_.raw == "=" ? ": two values are compared by =="
                                : word            ? ": the operators are &&, || and !"
                                                  : "";
    throw Stop{{token_.at, concat(what, ", found ", found, instead)}};
  }

  void advance() {
    Parsed<Token> next = lexer_.next();
    if (auto* error = std::get_if<SyntaxError>(&next)) throw Stop{*error};
    before_ = token_.raw;
    token_ = std::get<Token>(std::move(next));
  }
  bool sees(std::string_view sign) const {
    return (token_.kind == Token::Kind::sign || (token_.kind == Token::Kind::name && sign != "r")) &&
           token_.raw == sign;
  }
  bool takes(std::string_view sign) {
    if (!sees(sign)) return false;
    advance();
    return true;
  }
  void want(std::string_view sign) {
    if (!takes(sign)) stop(concat("expected \"", sign, "\""));
  }
  std::string name() {
    if (token_.kind != Token::Kind::name || std::ranges::find(kReserved, token_.raw) != kReserved.end() ||
        token_.raw == "in" || token_.raw == "true" || token_.raw == "false" || token_.raw == "null")
      stop("expected a name");
    std::string out(token_.raw);
    advance();
    return out;
  }

  ExprPtr make(Expr::Kind kind, std::uint32_t at, std::string text = {}) {
    if (++nodes_ > kNodesMax) throw Stop{{at, concat("an expression has at most ", kNodesMax, " parts")}};
    auto e = std::make_unique<Expr>();
    e->kind = kind;
    e->at = at;
    e->text = std::move(text);
    return e;
  }
  void add(Expr& to, ExprPtr part) {
    to.depth = std::max(to.depth, part->depth + 1);
    if (to.depth > kDepthMax) throw Stop{{to.at, concat("expressions nest at most ", kDepthMax, " deep")}};
    to.parts.push_back(std::move(part));
  }
  template <class... Parts>
  ExprPtr make(Expr::Kind kind, std::uint32_t at, std::string text, Parts... parts) {
    ExprPtr e = make(kind, at, std::move(text));
    (add(*e, std::move(parts)), ...);
    return e;
  }

  struct Depth {
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > kDepthMax)
        throw Stop{{parser.token_.at, concat("expressions nest at most ", kDepthMax, " deep")}};
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  ExprPtr expression() {
    const Depth depth(*this);
    ExprPtr condition = binary(1);
    const std::uint32_t at = token_.at;
    if (!takes("?")) return condition;
    ExprPtr yes = binary(1);
    want(":");
    return make(Expr::Kind::call, at, "_?_:_", std::move(condition), std::move(yes), expression());
  }

  ExprPtr binary(int least) {
    ExprPtr left = unary();
    for (;;) {
      const auto level = std::ranges::find_if(kBinary, [&](const Level& l) { return sees(l.sign); });
      if (level == kBinary.end() || level->rank < least) return left;
      const std::uint32_t at = token_.at;
      advance();
      ExprPtr right = binary(level->rank + 1);
      left = make(Expr::Kind::call, at, std::string(level->name), std::move(left), std::move(right));
    }
  }

  ExprPtr unary() {
    const std::uint32_t at = token_.at;
    if (!sees("!") && !sees("-")) return member();
    const Depth depth(*this);
    const bool minus = sees("-");
    advance();
    if (minus && (token_.kind == Token::Kind::integer || token_.kind == Token::Kind::real)) {
      negative_ = true;
      return member();
    }
    return make(Expr::Kind::call, at, minus ? "-_" : "!_", unary());
  }

  ExprPtr member() {
    ExprPtr e = primary();
    for (;;) {
      const std::uint32_t at = token_.at;
      if (sees(".") || sees(".?")) {
        const bool optional = token_.raw == ".?";
        advance();
        std::string text;
        if (token_.kind == Token::Kind::quotedName || token_.kind == Token::Kind::name) {
          text = std::string(token_.raw);
          if (text == "in" || text == "true" || text == "false" || text == "null") stop("expected a name");
          advance();
        } else {
          stop("expected a name");
        }
        const bool call = !optional && takes("(");
        ExprPtr outer = make(call ? Expr::Kind::member : Expr::Kind::select, at, std::move(text), std::move(e));
        outer->optional = optional;
        if (call) arguments(*outer, ")");
        e = std::move(outer);
      } else if (sees("[") || sees("[?")) {
        const bool optional = token_.raw == "[?";
        advance();
        ExprPtr outer = make(Expr::Kind::index, at, "", std::move(e), expression());
        outer->optional = optional;
        want("]");
        e = std::move(outer);
      } else {
        return e;
      }
    }
  }

  // Up to the closing sign, which it takes.
  void arguments(Expr& to, std::string_view close) {
    const bool list = close == "]";
    while (!sees(close)) {
      const bool optional = list && takes("?");
      add(to, expression());
      if (list) to.optionals.push_back(optional);
      if (!takes(",")) break;
      if (!list && sees(close)) stop("expected an expression");
    }
    want(close);
  }

  ExprPtr primary() {
    const std::uint32_t at = token_.at;
    switch (token_.kind) {
      case Token::Kind::integer:
      case Token::Kind::uinteger:
      case Token::Kind::real: return number();
      case Token::Kind::text:
      case Token::Kind::bytes: {
        ExprPtr e = make(Expr::Kind::constant, at, std::move(token_.text));
        e->value = Value::text(e->text, token_.kind == Token::Kind::text ? Tag::text : Tag::bytes);
        advance();
        return e;
      }
      case Token::Kind::name: return named();
      default: break;
    }
    if (takes("(")) {
      ExprPtr e = expression();
      want(")");
      return e;
    }
    if (takes("[")) {
      ExprPtr e = make(Expr::Kind::list, at);
      arguments(*e, "]");
      return e;
    }
    if (takes("[?")) {  // a list that begins with an optional element
      ExprPtr e = make(Expr::Kind::list, at);
      add(*e, expression());
      e->optionals.push_back(true);
      if (takes(","))
        arguments(*e, "]");
      else
        want("]");
      return e;
    }
    if (takes("{")) return mapOf(at);
    if (takes(".")) {
      ExprPtr e = named();
      e->optional = e->kind == Expr::Kind::name;
      return e;
    }
    stop("expected an expression");
  }

  ExprPtr mapOf(std::uint32_t at) {
    ExprPtr e = make(Expr::Kind::map, at);
    while (!sees("}")) {
      e->optionals.push_back(takes("?"));
      add(*e, expression());
      want(":");
      add(*e, expression());
      if (!takes(",")) break;
    }
    want("}");
    return e;
  }

  ExprPtr named() {
    const std::uint32_t at = token_.at;
    if (token_.raw == "true" || token_.raw == "false" || token_.raw == "null") {
      ExprPtr e = make(Expr::Kind::constant, at);
      if (token_.raw != "null") e->value = Value::of(token_.raw == "true");
      advance();
      return e;
    }
    std::string text = name();
    if (!takes("(")) {
      if (sees("{") && !inCondition_) stop("messages of Protocol Buffers do not exist here; expected an expression");
      return make(Expr::Kind::name, at, std::move(text));
    }
    ExprPtr e = make(Expr::Kind::call, at, std::move(text));
    arguments(*e, ")");
    return e;
  }

  ExprPtr number() {
    ExprPtr e = make(Expr::Kind::constant, token_.at);
    const bool negative = std::exchange(negative_, false);
    std::string digits = (negative ? "-" : "") + std::string(token_.raw);
    bool fits = true;
    const auto read = [&]<class T>(T value, int base) {
      const auto [end, error] = [&] {
        if constexpr (std::is_same_v<T, double>)
          return std::from_chars(digits.data(), digits.data() + digits.size(), value);
        else
          return std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
      }();
      fits = error == std::errc() && end == digits.data() + digits.size();
      if (std::is_same_v<T, double> && error == std::errc::result_out_of_range) fits = true, value = 0;
      return Value::of(value);
    };
    const std::size_t x = digits.find_first_of("xX");
    if (x != std::string::npos) digits.erase(x - 1, 2);
    const int base = x == std::string::npos ? 10 : 16;
    if (token_.kind == Token::Kind::real)
      e->value = read(double{}, base);
    else if (token_.kind == Token::Kind::uinteger)
      e->value = read(std::uint64_t{}, base);
    else
      e->value = read(std::int64_t{}, base);
    if (!fits) stop("expected a number of 64 bits");
    advance();
    return e;
  }

  // ---- scripts

  void statement(std::vector<Statement>& all) {
    const Depth depth(*this);
    if (++nodes_ > kNodesMax) throw Stop{{token_.at, concat("a script has at most ", kNodesMax, " parts")}};
    Statement s;
    s.at = token_.at;
    bool block = false;
    if (takes("let")) {
      s.kind = Statement::Kind::let;
      s.name = name();
      want("=");
      s.expr = expression();
    } else if (takes("if")) {
      s.kind = Statement::Kind::branch;
      block = true;
      s.expr = condition();
      blockOf(s.body);
      if (takes("else")) {
        if (sees("if")) {
          statement(s.otherwise);
          all.push_back(std::move(s));
          return;
        }
        blockOf(s.otherwise);
      }
    } else if (takes("for")) {
      s.kind = Statement::Kind::loop;
      block = true;
      s.name = name();
      want("in");
      s.expr = condition();
      blockOf(s.body);
    } else if (takes("require")) {
      s.kind = Statement::Kind::require;
      s.expr = expression();
      want("else");
      if (sees("reject") || sees("escalate")) {
        s.name = std::string(token_.raw);
        advance();
      }
      s.message = expression();
    } else if (takes("append")) {
      s.kind = Statement::Kind::append;
      s.name = name();
      while (takes(".")) s.name += "." + name();
      want("=");
      s.expr = expression();
    } else {
      s.kind = Statement::Kind::assign;
      s.target = member();
      want("=");
      s.expr = expression();
    }
    if (!block && token_.kind != Token::Kind::end && !sees("}")) want(";");
    if (block) takes(";");
    all.push_back(std::move(s));
  }

  // Before a block, "{" after a name begins the block.
  ExprPtr condition() {
    const bool before = std::exchange(inCondition_, true);
    ExprPtr e = expression();
    inCondition_ = before;
    return e;
  }

  void blockOf(std::vector<Statement>& body) {
    want("{");
    while (!takes("}")) {
      if (token_.kind == Token::Kind::end) stop("expected \"}\"");
      statement(body);
    }
  }

  Lexer lexer_;
  Token token_;
  std::string_view before_;  // of the token before it
  bool negative_ = false, inCondition_ = false;
  std::size_t depth_ = 0, nodes_ = 0;
};

}  // namespace

Parsed<ExprPtr> parseExpression(std::string_view text) {
  try {
    return Parser(text).whole();
  } catch (Stop& stop) {
    return std::move(stop.error);
  }
}

Parsed<std::vector<Statement>> parseScript(std::string_view text) {
  try {
    return Parser(text).script();
  } catch (Stop& stop) {
    return std::move(stop.error);
  }
}

std::optional<std::int64_t> parseDuration(std::string_view text) {
  __extension__ using Wide = __int128;
  Wide total = 0;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  if (text == "0") return 0;
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{{{"ns", 1},
                                                                                    {"us", 1'000},
                                                                                    {"ms", 1'000'000},
                                                                                    {"s", 1'000'000'000},
                                                                                    {"m", 60'000'000'000},
                                                                                    {"h", 3'600'000'000'000}}};
  while (!text.empty()) {
    std::size_t n = 0;
    Wide whole = 0, part = 0, scale = 1;
    for (; n < text.size() && text[n] >= '0' && text[n] <= '9' && n < 19; ++n) whole = whole * 10 + (text[n] - '0');
    const std::size_t digits = n;
    if (n < text.size() && text[n] == '.')
      for (++n; n < text.size() && text[n] >= '0' && text[n] <= '9'; ++n)
        if (scale < 1'000'000'000'000'000) part = part * 10 + (text[n] - '0'), scale *= 10;
    if (digits == 0 && scale == 1) return std::nullopt;
    text.remove_prefix(n);
    const auto unit = std::ranges::find_if(kUnits, [&](const auto& u) {
      return text.starts_with(u.first) && (u.first != "m" || !text.starts_with("ms"));
    });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->first.size());
    total += whole * unit->second + part * unit->second / scale;
    if (total > Wide{1} << 63) return std::nullopt;
  }
  if (negative) total = -total;
  // As the standard has it: years of 10,000 would not fit in nanoseconds anyway.
  if (total > INT64_MAX || total < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

LineColumn lineColumn(std::string_view text, std::size_t at) {
  LineColumn out;
  for (std::size_t i = 0; i < std::min(at, text.size()); ++i) {
    if (text[i] == '\n') {
      ++out.line;
      out.column = 1;
    } else if ((text[i] & 0xC0) != 0x80) {
      ++out.column;
    }
  }
  return out;
}

}  // namespace witan::rules
