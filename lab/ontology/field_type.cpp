#include "lab/ontology/field_type.h"

#include "base/quote.h"
#include "base/string_util.h"

namespace witan::ontology {

namespace {

constexpr std::size_t kMaxDepth = 8;

bool isWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text) {}

  Result<FieldType> whole() {
    WITAN_TRY(type, read(0));
    if (peek() != 0) return expected("the end");
    return std::move(type);
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  Error expected(const std::string& what) const {
    return invalid(concat("type ", inQuotes(text_), ": expected ", what, " at character ", at_ + 1));
  }
  std::string word() {
    peek();
    const std::size_t from = at_;
    while (at_ < text_.size() && isWordChar(text_[at_])) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  Result<FieldType> read(std::size_t depth) {
    if (depth > kMaxDepth) return expected("a type nested less deep");
    FieldType type;
    type.word = word();
    if (type.word.empty()) return expected("a type");
    if (type.word == "enum") {
      type.kind = FieldType::Kind::enumeration;
      return members(std::move(type), depth, false);
    }
    if (type.word == "tuple" || type.word == "record") {
      type.kind = type.word == "tuple" ? FieldType::Kind::tuple : FieldType::Kind::record;
      return members(std::move(type), depth, true);
    }
    if (type.word != "list" && type.word != "map" && type.word != "optional") return type;
    type.kind = type.word == "list"  ? FieldType::Kind::list
                : type.word == "map" ? FieldType::Kind::map
                                     : FieldType::Kind::optional;
    if (!take('<')) return expected("<");
    if (type.kind == FieldType::Kind::map) {
      if (const std::string key = word(); key != "string" && key != "text") return expected("string (a map's key)");
      if (!take(',')) return expected("a comma");
    }
    WITAN_TRY(part, read(depth + 1));
    if (part.kind == FieldType::Kind::map) return expected("no map in a " + type.word);
    type.parts.push_back(std::move(part));
    if (!take('>')) return expected(">");
    return type;
  }

  Result<FieldType> members(FieldType type, std::size_t depth, bool typed) {
    if (!take('(')) return expected("(");
    do {
      type.names.push_back(word());
      if (type.names.back().empty()) return expected("a name");
      if (!typed) continue;
      if (!take(':')) return expected("a colon");
      WITAN_TRY(part, read(depth + 1));
      if (part.kind == FieldType::Kind::map) return expected("no map in a " + type.word);
      type.parts.push_back(std::move(part));
    } while (take(','));
    if (!take(')')) return expected(")");
    return type;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<FieldType> parseFieldType(std::string_view text) { return TypeReader(text).whole(); }

std::string asDeclared(const FieldType& type) {
  switch (type.kind) {
    case FieldType::Kind::word: return type.word == "string" ? "text" : type.word;
    case FieldType::Kind::enumeration: return "enum(" + joined(type.names) + ")";
    case FieldType::Kind::list: return "list of " + asDeclared(type.parts[0]);
    case FieldType::Kind::optional: return asDeclared(type.parts[0]) + " or null";
    case FieldType::Kind::map: return "map<text, " + asDeclared(type.parts[0]) + ">";
    case FieldType::Kind::tuple: return "(" + joined(type.names) + ")";
    case FieldType::Kind::record: return "{" + joined(type.names) + "}";
  }
  return {};
}

}  // namespace witan::ontology
