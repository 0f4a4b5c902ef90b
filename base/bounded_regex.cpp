#include "base/bounded_regex.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/concat.h"

namespace witan {

std::u32string codePointsOf(std::string_view utf8) {
  std::u32string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i++]);
    const int more = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    char32_t c = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 0; k < more && i < utf8.size(); ++k) c = c << 6 | (static_cast<unsigned char>(utf8[i++]) & 0x3F);
    out.push_back(c);
  }
  return out;
}

namespace {

constexpr char32_t kLast = 0x10FFFF;
constexpr std::uint32_t kNowhere = ~0u;
constexpr int kMaxGroups = 64;  // inside each other
constexpr std::size_t kMaxRepeats = 1'000;
constexpr std::size_t kAnyNumber = ~std::size_t{0};

bool isWordCharacter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

int hexDigit(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A' + 10);
  return -1;
}

}  // namespace

bool BoundedRegex::Set::has(char32_t c) const {
  return negated != std::ranges::any_of(ranges, [c](const Range& r) { return r.first <= c && c <= r.second; });
}

// From a pattern to states, backwards: each part is given what comes after it. Recursion is as deep as groups are.
class RegexParser {
 public:
  explicit RegexParser(std::string_view pattern) : text_(codePointsOf(pattern)) {}

  Result<BoundedRegex> parse() {
    Node whole = alternatives(0);
    if (problem_.empty() && at_ < text_.size()) fail("a group ends that did not begin");
    if (problem_.empty()) {
      const std::uint32_t match = add({BoundedRegex::State::Kind::match});
      out_.start_ = emit(whole, match);
    }
    if (!problem_.empty()) return invalid(concat("the pattern is not one that can be checked: ", problem_));
    return std::move(out_);
  }

 private:
  using State = BoundedRegex::State;
  using Set = BoundedRegex::Set;

  struct Node {
    enum class Kind { empty, leaf, sequence, choice, repeat } kind = Kind::empty;
    State leaf{};
    std::vector<Node> parts{};
    std::size_t least = 0, most = kAnyNumber;  // of repeat
  };

  bool more() const { return problem_.empty() && at_ < text_.size(); }
  bool is(char32_t c) const { return more() && text_[at_] == c; }
  bool take(char32_t c) { return is(c) ? (++at_, true) : false; }
  Node fail(std::string why) {
    if (problem_.empty()) problem_ = concat(why, " (at ", at_, ")");
    return {};
  }

  Node alternatives(int depth) {
    if (depth > kMaxGroups) return fail("too many groups inside each other");
    Node choice{Node::Kind::choice};
    do choice.parts.push_back(sequence(depth));
    while (take('|'));
    return choice.parts.size() == 1 ? std::move(choice.parts.front()) : choice;
  }

  Node sequence(int depth) {
    Node all{Node::Kind::sequence};
    while (more() && !is('|') && !is(')')) all.parts.push_back(quantified(depth));
    return all;
  }

  Node quantified(int depth) {
    Node one = atom(depth);
    std::size_t least = 0, most = kAnyNumber;
    if (take('*')) {
    } else if (take('+')) {
      least = 1;
    } else if (take('?')) {
      most = 1;
    } else if (!is('{') || !counts(least, most)) {
      return one;
    }
    take('?');  // a lazy one matches the same texts
    if (is('*') || is('+') || is('?')) return fail("a quantifier of nothing");
    Node repeat{Node::Kind::repeat};
    repeat.parts.push_back(std::move(one));
    repeat.least = least, repeat.most = most;
    return repeat;
  }

  // {n}, {n,}, {n,m}. False: it is no quantifier, and a brace is not taken for itself here.
  bool counts(std::size_t& least, std::size_t& most) {
    ++at_;
    const auto number = [&](std::size_t& into) {
      const std::size_t from = at_;
      for (into = 0; more() && text_[at_] >= '0' && text_[at_] <= '9' && into <= kMaxRepeats; ++at_)
        into = into * 10 + (text_[at_] - '0');
      return at_ > from;
    };
    bool good = number(least);
    most = least;
    bool open = false;
    if (good && take(',')) open = !number(most);
    good = good && take('}');
    if (!good) return fail("a brace that is no quantifier"), false;
    if (least > kMaxRepeats || most > kMaxRepeats || (!open && most < least))
      return fail("a quantifier that is too large, or the wrong way round"), false;
    if (open) most = kAnyNumber;
    return true;
  }

  Node leaf(State state) { return {Node::Kind::leaf, state}; }
  Node setOf(Set set) {
    out_.sets_.push_back(std::move(set));
    return leaf({State::Kind::set, 0, 0, static_cast<std::uint32_t>(out_.sets_.size() - 1)});
  }

  Node atom(int depth) {
    const char32_t c = text_[at_++];
    switch (c) {
      case '^': return leaf({State::Kind::begin});
      case '$': return leaf({State::Kind::end});
      case '.': return setOf({{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}, true});
      case '[': return setOf(characters());
      case '(': return group(depth);
      case '*':
      case '+':
      case '?':
      case '{':
      case '}':
      case ']': return fail("a sign that stands for nothing here");
      case '\\': break;
      default: return setOf({{{c, c}}});
    }
    if (take('b')) return leaf({State::Kind::boundary});
    if (take('B')) return leaf({State::Kind::noBoundary});
    Set set;
    escape(set);
    return setOf(std::move(set));
  }

  Node group(int depth) {
    if (take('?') && !take(':')) return fail("lookaround and named groups are not supported");
    Node inner = alternatives(depth + 1);
    if (!take(')')) return fail("a group without an end");
    return inner;
  }

  // What follows a backslash. Returns the single character, if it is one.
  std::optional<char32_t> escape(Set& set) {
    if (!more()) return fail("a backslash at the end"), std::nullopt;
    const char32_t c = text_[at_++];
    const auto add = [&](std::vector<BoundedRegex::Range> ranges, bool negated) -> std::optional<char32_t> {
      if (negated) ranges = complement(std::move(ranges));
      set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
      return std::nullopt;
    };
    switch (c) {
      case 'd':
      case 'D': return add({{'0', '9'}}, c == 'D');
      case 'w':
      case 'W': return add({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, c == 'W');
      case 's':
      case 'S':
        return add({{9, 13},
                    {32, 32},
                    {0xA0, 0xA0},
                    {0x1680, 0x1680},
                    {0x2000, 0x200A},
                    {0x2028, 0x2029},
                    {0x202F, 0x202F},
                    {0x205F, 0x205F},
                    {0x3000, 0x3000},
                    {0xFEFF, 0xFEFF}},
                   c == 'S');
      default: break;
    }
    const auto single = oneCharacter(c);
    if (single) set.ranges.emplace_back(*single, *single);
    return single;
  }

  std::optional<char32_t> oneCharacter(char32_t c) {
    switch (c) {
      case 't': return U'\t';
      case 'n': return U'\n';
      case 'r': return U'\r';
      case 'f': return U'\f';
      case 'v': return U'\v';
      case '0': return U'\0';
      case 'x': return hex(2);
      case 'u': return take('{') ? hexInBraces() : hex(4);
      case 'c':
        if (more() && ((text_[at_] | 32) >= 'a') && ((text_[at_] | 32) <= 'z')) return text_[at_++] & 31;
        break;
      default:
        if (!isWordCharacter(c)) return c;
    }
    return fail("an escape that is not supported"), std::nullopt;
  }

  std::optional<char32_t> hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      if (!more() || hexDigit(text_[at_]) < 0) return fail("a malformed escape"), std::nullopt;
      value = value << 4 | static_cast<char32_t>(hexDigit(text_[at_]));
    }
    return value;
  }

  std::optional<char32_t> hexInBraces() {
    char32_t value = 0;
    for (; more() && !is('}') && value <= kLast; ++at_) {
      if (hexDigit(text_[at_]) < 0) return fail("a malformed escape"), std::nullopt;
      value = value << 4 | static_cast<char32_t>(hexDigit(text_[at_]));
    }
    if (!take('}') || value > kLast) return fail("a malformed escape"), std::nullopt;
    return value;
  }

  static std::vector<BoundedRegex::Range> complement(std::vector<BoundedRegex::Range> sorted) {
    std::vector<BoundedRegex::Range> out;
    char32_t from = 0;
    for (const auto& [first, last] : sorted) {
      if (first > from) out.emplace_back(from, first - 1);
      from = last + 1;
    }
    if (from <= kLast) out.emplace_back(from, kLast);
    return out;
  }

  Set characters() {
    Set set;
    set.negated = take('^');
    while (more() && !is(']')) {
      const auto first = classAtom(set);
      if (!is('-') || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') continue;
      ++at_;
      const auto last = classAtom(set);
      if (!first || !last || *last < *first) return fail("a range of characters that is none"), set;
      set.ranges.emplace_back(*first, *last);
    }
    if (!take(']')) fail("a set of characters without an end");
    return set;
  }

  std::optional<char32_t> classAtom(Set& set) {
    const char32_t c = text_[at_++];
    if (c == '\\') return take('b') ? (set.ranges.emplace_back(8, 8), 8) : escape(set);
    set.ranges.emplace_back(c, c);
    return c;
  }

  // --- states

  std::uint32_t add(State state) {
    if (out_.states_.size() >= BoundedRegex::kMaxStates) return fail("it has too many states"), 0;
    out_.states_.push_back(state);
    return static_cast<std::uint32_t>(out_.states_.size() - 1);
  }

  std::uint32_t emit(const Node& node, std::uint32_t next) {
    if (++emitted_ > 4 * BoundedRegex::kMaxStates) fail("it repeats too much");
    if (!problem_.empty()) return next;
    switch (node.kind) {
      case Node::Kind::empty: return next;
      case Node::Kind::leaf: {
        State state = node.leaf;
        state.next = next;
        return add(state);
      }
      case Node::Kind::sequence:
        for (std::size_t i = node.parts.size(); i-- > 0;) next = emit(node.parts[i], next);
        return next;
      case Node::Kind::choice: {
        std::uint32_t chosen = emit(node.parts.back(), next);
        for (std::size_t i = node.parts.size() - 1; i-- > 0;)
          chosen = add({State::Kind::split, emit(node.parts[i], next), chosen});
        return chosen;
      }
      case Node::Kind::repeat: return emitRepeat(node, next);
    }
    return next;
  }

  std::uint32_t emitRepeat(const Node& node, std::uint32_t next) {
    const Node& part = node.parts.front();
    std::uint32_t at = next;
    if (node.most == kAnyNumber) {
      at = add({State::Kind::split, kNowhere, next});
      const std::uint32_t loop = emit(part, at);
      if (problem_.empty()) out_.states_[at].next = loop;
    } else {
      for (std::size_t i = node.least; i < node.most && problem_.empty(); ++i)
        at = add({State::Kind::split, emit(part, at), next});
    }
    for (std::size_t i = 0; i < node.least && problem_.empty(); ++i) at = emit(part, at);
    return at;
  }

  const std::u32string text_;
  std::size_t at_ = 0;
  std::string problem_;
  std::size_t emitted_ = 0;  // parts, with repetitions: also those that need no state
  BoundedRegex out_;
};

Result<BoundedRegex> BoundedRegex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return invalid(concat("the pattern is not one that can be checked: more than ", kMaxPatternBytes, " bytes"));
  return RegexParser(pattern).parse();
}

// All states that the text may be in, one character after the other.
std::optional<bool> BoundedRegex::search(std::string_view text, std::uint64_t& steps) const {
  const std::u32string characters = codePointsOf(text);
  std::vector<std::uint32_t> now, then, pending;
  std::vector<std::size_t> seenAt(states_.size(), ~std::size_t{0});
  bool matched = false;
  const auto enter = [&](std::vector<std::uint32_t>& into, std::uint32_t first, std::size_t place) {
    const bool wordBefore = place > 0 && isWordCharacter(characters[place - 1]);
    const bool wordAfter = place < characters.size() && isWordCharacter(characters[place]);
    pending.assign(1, first);
    while (!pending.empty()) {
      const std::uint32_t at = pending.back();
      pending.pop_back();
      if (seenAt[at] == place) continue;
      seenAt[at] = place;
      steps -= std::min<std::uint64_t>(steps, 1);
      const State& state = states_[at];
      switch (state.kind) {
        case State::Kind::match: matched = true; break;
        case State::Kind::set: into.push_back(at); break;
        case State::Kind::split: pending.push_back(state.other), pending.push_back(state.next); break;
        case State::Kind::begin:
          if (place == 0) pending.push_back(state.next);
          break;
        case State::Kind::end:
          if (place == characters.size()) pending.push_back(state.next);
          break;
        case State::Kind::boundary:
        case State::Kind::noBoundary:
          if ((wordBefore != wordAfter) == (state.kind == State::Kind::boundary)) pending.push_back(state.next);
          break;
      }
    }
  };
  for (std::size_t place = 0;; ++place) {
    enter(now, start_, place);
    if (matched) return true;
    if (steps == 0) return std::nullopt;
    if (place == characters.size()) return false;
    then.clear();
    for (const std::uint32_t at : now)
      if (sets_[states_[at].set].has(characters[place])) enter(then, states_[at].next, place + 1);
    if (matched) return true;
    now.swap(then);
  }
}

}  // namespace witan
