#include "lab/redux/calculus/calculus_text.h"

#include <array>
#include <charconv>

namespace witan::kernel::calculus {

namespace {

const char* word(Outcome outcome) {
  return outcome == Outcome::approved ? "approved" : outcome == Outcome::rejected ? "rejected" : "escalated";
}

const char* word(CounselorOutcome outcome) {
  return outcome == CounselorOutcome::cCommitted ? "cCommitted" : "cRejected";
}

constexpr std::array<std::string_view, 14> keywords = {
    "let",      "in",       "coordinate", "adjudicate", "entry",     "awaitCounselor", "done",
    "approved", "rejected", "escalated",  "cCommitted", "cRejected", "role",           "action"};

bool isKeyword(std::string_view name) {
  for (const std::string_view keyword : keywords) {
    if (name == keyword) return true;
  }
  return false;
}

std::string inQuotation(std::string_view text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    } else {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
  }
  return out + '"';
}

struct ValuePrinter {
  std::string operator()(Unit) const { return "()"; }
  std::string operator()(Done) const { return "done"; }
  std::string operator()(const Role& role) const { return "role " + inQuotation(role.name); }
  std::string operator()(const Action& action) const { return "action " + inQuotation(action.text); }
  std::string operator()(Time time) const { return std::to_string(time.micros); }
  std::string operator()(const Proposal& pair) const {
    return "(" + inQuotation(pair.role) + ", " + inQuotation(pair.action) + ")";
  }
  std::string operator()(Outcome outcome) const { return word(outcome); }
  std::string operator()(CounselorOutcome outcome) const { return word(outcome); }
};

void print(const TermPtr& term, std::string& out) {
  switch (term->kind) {
    case Term::Kind::value: out += std::visit(ValuePrinter{}, term->value); return;
    case Term::Kind::variable: out += term->name; return;
    case Term::Kind::coordinate: out += "coordinate"; return;
    case Term::Kind::awaitCounselor: out += "awaitCounselor"; return;
    case Term::Kind::let:
      out.append("let ").append(term->name).append(" = ");
      print(term->first, out);
      out += " in ";
      return print(term->second, out);
    case Term::Kind::adjudicate:
      out += "adjudicate(";
      print(term->first, out);
      out += ", ";
      print(term->second, out);
      out += ')';
      return;
    case Term::Kind::entry:
      out += "entry(";
      print(term->first, out);
      out += ')';
      return;
  }
}

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

int hexDigit(char c) { return isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

// Recursive descent; one function per production.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<TermPtr> program() {
    WITAN_TRY(parsed, term(1));
    skipSpace();
    if (at_ != text_.size()) return fail("the program goes on after its end");
    return parsed;
  }

 private:
  Error fail(std::string_view why) const {
    return invalid("calculus program: offset " + std::to_string(at_) + ": " + std::string(why));
  }

  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  char peek() {
    skipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Status expect(char c) {
    if (peek() != c) return fail(std::string("'") + c + "' expected");
    ++at_;
    return okStatus();
  }

  std::string_view takeName() {
    skipSpace();
    const std::size_t start = at_;
    if (at_ < text_.size() && !isNameStart(text_[at_])) return {};
    while (at_ < text_.size() && (isNameStart(text_[at_]) || isDigit(text_[at_]))) ++at_;
    return text_.substr(start, at_ - start);
  }

  Result<TermPtr> term(unsigned depth) {
    if (depth > maxTermDepth) return fail("nested deeper than " + std::to_string(maxTermDepth));
    const char c = peek();
    if (c == '(') return parenthesised();
    if (c == '-' || isDigit(c)) return time();
    const std::string_view name = takeName();
    if (name.empty()) return fail("a term expected");
    if (name == "let") return let(depth);
    if (name == "adjudicate") return adjudicate(depth);
    if (name == "entry") return entry(depth);
    return atom(name);
  }

  Result<TermPtr> atom(std::string_view name) {
    if (name == "coordinate") return makeCoordinate();
    if (name == "awaitCounselor") return makeAwaitCounselor();
    if (name == "done") return makeValue(Done{});
    if (name == "role" || name == "action") {
      WITAN_TRY(text, string());
      return name == "role" ? makeValue(Role{std::move(text)}) : makeValue(Action{std::move(text)});
    }
    for (const Outcome outcome : {Outcome::approved, Outcome::rejected, Outcome::escalated}) {
      if (name == word(outcome)) return makeValue(outcome);
    }
    for (const CounselorOutcome outcome : {CounselorOutcome::cCommitted, CounselorOutcome::cRejected}) {
      if (name == word(outcome)) return makeValue(outcome);
    }
    if (isKeyword(name)) return fail("'" + std::string(name) + "' is no term");
    return makeVariable(std::string(name));
  }

  Result<TermPtr> let(unsigned depth) {
    const std::string name(takeName());
    if (name.empty() || isKeyword(name)) return fail("a name expected after 'let'");
    WITAN_DO(expect('='));
    WITAN_TRY(bound, term(depth + 1));
    if (takeName() != "in") return fail("'in' expected");
    WITAN_TRY(body, term(depth + 1));
    return makeLet(name, bound, body);
  }

  Result<TermPtr> adjudicate(unsigned depth) {
    WITAN_DO(expect('('));
    WITAN_TRY(proposal, term(depth + 1));
    WITAN_DO(expect(','));
    WITAN_TRY(time, term(depth + 1));
    WITAN_DO(expect(')'));
    return makeAdjudicate(proposal, time);
  }

  Result<TermPtr> entry(unsigned depth) {
    WITAN_DO(expect('('));
    WITAN_TRY(argument, term(depth + 1));
    WITAN_DO(expect(')'));
    return makeEntry(argument);
  }

  // () or ("role", "action")
  Result<TermPtr> parenthesised() {
    WITAN_DO(expect('('));
    if (peek() == ')') {
      ++at_;
      return makeValue(Unit{});
    }
    WITAN_TRY(role, string());
    WITAN_DO(expect(','));
    WITAN_TRY(action, string());
    WITAN_DO(expect(')'));
    return makeValue(Proposal{std::move(role), std::move(action)});
  }

  Result<TermPtr> time() {
    std::int64_t micros = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), micros);
    if (error != std::errc{}) return fail("a time is a number of microseconds of 64 bits");
    at_ = static_cast<std::size_t>(end - text_.data());
    return makeValue(Time{micros});
  }

  Result<std::string> string() {
    WITAN_DO(expect('"'));
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("a control character in a string");
      if (text_[at_] != '\\') {
        out.push_back(text_[at_++]);
        continue;
      }
      WITAN_TRY(byte, escape());
      out.push_back(byte);
    }
    WITAN_DO(expect('"'));
    return out;
  }

  Result<char> escape() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("\\\"") || rest.starts_with("\\\\")) {
      at_ += 2;
      return rest[1];
    }
    const int high = rest.size() < 4 || rest[1] != 'x' ? -1 : hexDigit(rest[2]);
    const int low = high < 0 ? -1 : hexDigit(rest[3]);
    if (low < 0) return fail("an escape is \\\" or \\\\ or \\x and two lower-case hex digits");
    at_ += 4;
    return static_cast<char>(high * 16 + low);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string printProgram(const TermPtr& term) {
  std::string out;
  print(term, out);
  return out;
}

Result<TermPtr> parseProgram(std::string_view text) {
  if (text.size() > maxProgramBytes) {
    return invalid("calculus program: more than " + std::to_string(maxProgramBytes) + " bytes");
  }
  return Parser(text).program();
}

}  // namespace witan::kernel::calculus
