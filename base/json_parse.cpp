// Reading JSON: Boost's parser with a handler of our own, which sees what Boost's own would swallow (duplicate keys,
// inexact doubles).
#include <boost/container/small_vector.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <memory>
#include <unordered_set>

#include "base/json.h"
#include "base/quote.h"

namespace witan {
namespace {

using boost::json::error_code;
using boost::json::string_view;

std::string_view view(string_view text) { return {text.data(), text.size()}; }

// The keys of the objects that are open. A handful is compared one by one; more go into a set, so that a hostile text
// costs O(bytes) too.
class OpenKeys {
 public:
  void open() { levels_.push_back({keys_.size(), nullptr}); }
  void close() {
    keys_.resize(levels_.back().first);
    levels_.pop_back();
  }
  // False when the innermost object has the key already.
  bool add(std::string_view key) {
    Level& level = levels_.back();
    if (level.many != nullptr) return level.many->emplace(key).second;
    for (std::size_t i = level.first; i < keys_.size(); ++i) {
      if (keys_[i] == key) return false;
    }
    keys_.emplace_back(key);
    if (keys_.size() - level.first > kFew)
      level.many = std::make_unique<Set>(keys_.begin() + static_cast<std::ptrdiff_t>(level.first), keys_.end());
    return true;
  }

 private:
  using Set = std::unordered_set<std::string>;
  struct Level {
    std::size_t first;  // index of its first key in keys_
    std::unique_ptr<Set> many;
  };
  static constexpr std::size_t kFew = 16;

  boost::container::small_vector<std::string, 16> keys_;
  boost::container::small_vector<Level, 8> levels_;
};

// Builds the value as Boost's own handler does, on a value_stack. The names and signatures are Boost's
// (boost/json/basic_parser.hpp).
class Handler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  Handler(unsigned char* buffer, std::size_t size) : stack_({}, buffer, size) { stack_.reset(); }

  json::value release() { return stack_.release(); }
  const std::string& problem() const { return problem_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t count, error_code&) { return stack_.push_array(count), true; }
  bool on_object_begin(error_code&) { return keys_.open(), true; }
  bool on_object_end(std::size_t count, error_code&) {
    keys_.close();
    stack_.push_object(count);
    return true;
  }

  bool on_key_part(string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    stack_.push_chars(part);
    return true;
  }
  bool on_key(string_view last, std::size_t, error_code& ec) {
    bool fresh = false;
    if (key_.empty()) {
      fresh = keys_.add(view(last));
    } else {
      key_.append(last.data(), last.size());
      fresh = keys_.add(key_);
    }
    if (!fresh)
      return refuse("the key " + inQuotes(key_.empty() ? view(last) : key_) + " occurs twice in one object", ec);
    key_.clear();
    stack_.push_key(last);
    return true;
  }

  bool on_string_part(string_view part, std::size_t, error_code&) { return stack_.push_chars(part), true; }
  bool on_string(string_view last, std::size_t, error_code&) { return stack_.push_string(last), true; }

  bool on_number_part(string_view part, error_code&) { return number_.append(part.data(), part.size()), true; }
  bool on_int64(std::int64_t value, string_view, error_code&) {
    number_.clear();
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, string_view, error_code&) {
    number_.clear();
    stack_.push_uint64(value);
    return true;
  }
  // Boost 1.81 computes doubles with rounding errors in the last place; std::from_chars gives the nearest.
  bool on_double(double, string_view last, error_code& ec) {
    number_.append(last.data(), last.size());
    double value = 0;
    const char* end = number_.data() + number_.size();
    const auto [stop, failure] = std::from_chars(number_.data(), end, value);
    if (failure != std::errc{} || stop != end) return refuse("the number is out of the range of a double", ec);
    number_.clear();
    stack_.push_double(value);
    return true;
  }

  bool on_bool(bool value, error_code&) { return stack_.push_bool(value), true; }
  bool on_null(error_code&) { return stack_.push_null(), true; }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  bool refuse(std::string problem, error_code& ec) {
    problem_ = std::move(problem);
    ec = boost::json::error::syntax;
    return false;
  }

  json::value_stack stack_;
  OpenKeys keys_;
  std::string key_;     // what came of a key in parts
  std::string number_;  // the literal of a number
  std::string problem_;
};

std::string describe(const Handler& handler, error_code ec, std::string_view text, std::size_t at, JsonLimits limits) {
  if (!handler.problem().empty()) return handler.problem();
  if (ec == boost::json::error::incomplete) return "the text ends too early";
  if (ec == boost::json::error::extra_data) return "there is text after the value";
  if (ec == boost::json::error::too_deep) return concat("nested deeper than ", limits.depth);
  if (ec == boost::json::error::syntax && at < text.size()) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    return (ascii ? "unexpected " : "invalid UTF-8 or unexpected ") + inQuotes(text.substr(at, 1));
  }
  return ec.message();
}

constexpr std::size_t kShown = 40;  // digits of a number that is refused

template <class T>
bool reads(std::string_view token) {
  T value{};
  const auto [end, failure] = std::from_chars(token.data(), token.data() + token.size(), value);
  return failure == std::errc{} && end == token.data() + token.size();
}

bool losesDigits(std::string_view token) {
  if (token.find_first_of(".eE") != std::string_view::npos) return false;
  if (reads<std::int64_t>(token) || reads<std::uint64_t>(token)) return false;
  double nearest = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), nearest).ec != std::errc{}) return true;
  std::string again;
  appendJsonNumber(again, nearest);
  return again != token;
}

}  // namespace

Result<json::value> parseJson(std::string_view text, JsonLimits limits) {
  if (text.size() > limits.bytes)
    return invalid(concat("JSON of ", text.size(), " bytes is larger than the limit of ", limits.bytes));
  unsigned char buffer[4096];  // holds small documents while they are built
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  boost::json::basic_parser<Handler> parser(options, buffer, sizeof buffer);
  error_code ec;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) ec = boost::json::error::extra_data;
  if (ec) return invalid(concat("JSON at byte ", used, ": ", describe(parser.handler(), ec, text, used, limits)));
  return parser.handler().release();
}

Status checkIntegersKept(std::string_view text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '-' || (c >= '0' && c <= '9'))) {
      const std::string_view token = text.substr(at, text.find_first_not_of("+-.eE0123456789", at) - at);
      if (losesDigits(token))
        return invalid(concat("byte ", at, ": the number ", token.substr(0, kShown), token.size() > kShown ? "..." : "",
                              " exceeds 64 bits and would lose digits"),
                       "write it as a text, in quotes");
      at += token.size() - 1;
    }
  }
  return okStatus();
}

}  // namespace witan
