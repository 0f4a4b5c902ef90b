#include "rdf/turtle.h"

#include <serd/serd.h>

#include "base/quote.h"
#include "base/utf8.h"

namespace witan::ontology {

namespace {

constexpr std::size_t kLookBack = 8 << 10;

// May it continue a prefixed name? Bytes of characters beyond ASCII may.
bool inName(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') || u >= 0x80 || c == '_' ||
         c == '-' || c == ':' || c == '%' || c == '\\';
}

// Counts [ and ( outside of comments, IRIs and strings, as far as the text is Turtle; serd stops where it is not.
class Nesting {
 public:
  void take(char c) {
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

  std::size_t depth() const { return depth_; }

 private:
  enum class In : std::uint8_t { text, comment, iri, string, longString };

  void takeText(char c) {
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

  void takeString(char c) {
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

  In in_ = In::text;
  char quote_ = 0;
  std::size_t quotes_ = 0;  // in a row, where they may open or close a long string
  bool escaped_ = false;
  bool opening_ = false;  // the quotes counted are those that open
  std::size_t depth_ = 0;
};

// The bytes of a Turtle text on their way to serd, one at a time: how far it has read, how deep brackets are nested,
// and where a token stands. Borrows the text.
class TurtleSource {
 public:
  TurtleSource(std::string_view text, std::size_t maxDepth) : text_(text), maxDepth_(maxDepth), lines_{0} {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') lines_.push_back(i + 1);
  }

  // The next byte; nothing at the end, and nothing more when brackets are nested too deep.
  std::optional<char> next() {
    if (taken_ == text_.size() || tooDeep()) return std::nullopt;
    const char c = text_[taken_++];
    nesting_.take(c);
    return c;
  }

  bool tooDeep() const { return nesting_.depth() > maxDepth_; }
  // Bytes handed out. The last one may be one that serd only looked at.
  std::size_t taken() const { return taken_; }

  // O(log lines + length of the line)
  Place placeOf(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto line = std::ranges::upper_bound(lines_, offset) - 1;
    const std::string_view before = text_.substr(*line, offset - *line);
    const auto characters =
        std::ranges::count_if(before, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    return {static_cast<std::uint32_t>(line - lines_.begin()) + 1, static_cast<std::uint32_t>(characters) + 1};
  }

  // Where `token` stands last before `end`, whole; looks back a few KiB.
  std::optional<std::size_t> findLast(std::string_view token, std::size_t end) const {
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

 private:
  std::string_view text_;
  std::size_t maxDepth_;
  std::size_t taken_ = 0;
  Nesting nesting_;
  std::vector<std::size_t> lines_;  // where each begins
};

std::string_view textOf(const SerdNode* node) {
  return {reinterpret_cast<const char*>(node->buf), node->n_bytes};  // NOLINT: serd's bytes are our chars
}

bool hasScheme(const SerdNode* uri) { return serd_uri_string_has_scheme(uri->buf); }

struct FreeEnv {
  void operator()(SerdEnv* env) const { serd_env_free(env); }
};
struct FreeReader {
  void operator()(SerdReader* reader) const { serd_reader_free(reader); }
};

// One reading: what serd's callbacks write into. The graph in it is scratch until the end.
class Reading {
 public:
  Reading(std::string_view text, const TurtleLimits& limits, Diagnostics& out)
      : limits_(limits), out_(out), source_(text, limits.depth), env_(serd_env_new(nullptr)) {}

  std::optional<Graph> run() {
    std::unique_ptr<SerdReader, FreeReader> reader(
        serd_reader_new(SERD_TURTLE, this, nullptr, onBase, onPrefix, onStatement, nullptr));
    serd_reader_set_strict(reader.get(), true);
    serd_reader_set_error_sink(reader.get(), onError, this);
    const SerdStatus status = serd_reader_read_source(
        reader.get(), onRead, [](void*) { return 0; }, this, nullptr, 1);
    if (source_.tooDeep())
      stop(source_.placeOf(source_.taken() - 1), concat("brackets nested more than ", limits_.depth, " deep"));
    if (status > SERD_FAILURE && !stopped_)
      stop(source_.placeOf(source_.taken()),
           concat("syntax: ", reinterpret_cast<const char*>(serd_strerror(status))));  // NOLINT
    if (out_.hasErrors()) return std::nullopt;
    const auto key = [](const Triple& t) { return std::tie(t.subject, t.predicate, t.object); };
    std::ranges::stable_sort(graph_.triples, [&](const Triple& a, const Triple& b) { return key(a) < key(b); });
    graph_.triples.erase(std::unique(graph_.triples.begin(), graph_.triples.end(),
                                     [&](const Triple& a, const Triple& b) { return key(a) == key(b); }),
                         graph_.triples.end());
    return std::move(graph_);
  }

 private:
  static std::size_t onRead(void* into, std::size_t, std::size_t, void* self) {
    const std::optional<char> c = static_cast<Reading*>(self)->source_.next();
    if (!c) return 0;
    *static_cast<char*>(into) = *c;
    return 1;
  }

  static SerdStatus onBase(void* self, const SerdNode* uri) {
    Reading& r = *static_cast<Reading*>(self);
    const Place at = r.source_.placeOf(r.source_.findLast(textOf(uri), r.source_.taken()).value_or(r.source_.taken()));
    r.hasBase_ = r.hasBase_ || hasScheme(uri);
    if (!r.hasBase_ || serd_env_set_base_uri(r.env_.get(), uri) != SERD_SUCCESS)
      return r.stop(at, "base " + inQuotes(textOf(uri)) + " is relative to nothing");
    return SERD_SUCCESS;
  }

  static SerdStatus onPrefix(void* self, const SerdNode* name, const SerdNode* uri) {
    Reading& r = *static_cast<Reading*>(self);
    const Place at = r.source_.placeOf(r.source_.findLast(textOf(uri), r.source_.taken()).value_or(r.source_.taken()));
    if (textOf(uri).size() > r.limits_.termBytes)
      return r.stop(at, concat("an IRI of more than ", r.limits_.termBytes, " bytes"));
    if ((!r.hasBase_ && !hasScheme(uri)) || serd_env_set_prefix(r.env_.get(), name, uri) != SERD_SUCCESS)
      return r.stop(at, "prefix " + inQuotes(textOf(name)) + ": " + inQuotes(textOf(uri)) +
                            " is relative, and no @base says to what");
    return SERD_SUCCESS;
  }

  static SerdStatus onStatement(void* self, SerdStatementFlags, const SerdNode*, const SerdNode* s, const SerdNode* p,
                                const SerdNode* o, const SerdNode* datatype, const SerdNode* language) {
    return static_cast<Reading*>(self)->add(s, p, o, datatype, language);
  }

  static SerdStatus onError(void* self, const SerdError* error) {
    Reading& r = *static_cast<Reading*>(self);
    if (r.stopped_ || r.source_.tooDeep()) return SERD_SUCCESS;
    char words[256];
    std::vsnprintf(words, sizeof words, error->fmt, *error->args);
    std::string message = words;
    while (!message.empty() && message.back() == '\n') message.pop_back();
    for (char& c : message)
      if (c < ' ' || c > '~') c = '?';
    const std::size_t taken = r.source_.taken();
    r.stop(r.source_.placeOf(taken == 0 ? 0 : taken - 1), "syntax: " + message);
    return SERD_SUCCESS;
  }

  SerdStatus stop(Place at, std::string message) {
    if (!stopped_) out_.error(at, std::move(message));
    stopped_ = true;
    return SERD_ERR_UNKNOWN;
  }

  SerdStatus add(const SerdNode* s, const SerdNode* p, const SerdNode* o, const SerdNode* datatype,
                 const SerdNode* language) {
    if (stopped_) return SERD_ERR_UNKNOWN;
    std::size_t start = source_.taken();
    const Place at = placeOf(o, start, &start);
    if (graph_.triples.size() >= limits_.triples) return stop(at, concat("more than ", limits_.triples, " statements"));
    if (const std::string subject = concat(std::string(1, static_cast<char>('0' + s->type)), textOf(s));
        subject != subject_) {
      subject_ = subject;
      subjectAt_ = placeOf(s, start, nullptr);
    }
    const auto subject = intern(s, subjectAt_);
    const auto predicate = intern(p, placeOf(p, start, nullptr));
    const auto object = intern(o, at, datatype, language);
    if (stopped_) return SERD_ERR_UNKNOWN;
    // An undeclared prefix was told of and makes the whole reading fail; the rest is read for the rest of the errors.
    if (subject && predicate && object) graph_.triples.push_back({*subject, *predicate, *object, subjectAt_, at});
    return SERD_SUCCESS;
  }

  // Where a node stands, looking back from `end`; blank nodes without a label and escaped text: where reading is.
  Place placeOf(const SerdNode* node, std::size_t end, std::size_t* start) const {
    std::string token(textOf(node));
    if (node->type == SERD_BLANK) token = "_:" + token;
    const std::optional<std::size_t> at = source_.findLast(token, end);
    // Just before an IRI stands its <, before a string its quote.
    const bool wrapped = node->type == SERD_URI || node->type == SERD_LITERAL;
    const std::size_t offset = at ? (wrapped && *at > 0 ? *at - 1 : *at) : (end > 0 ? end - 1 : 0);
    if (start != nullptr) *start = offset;
    return source_.placeOf(offset);
  }

  // False: told of.
  bool expand(const SerdNode* node, Place at, std::string& iri) {
    SerdNode whole = serd_env_expand_node(env_.get(), node);
    if (whole.buf == nullptr) {
      const std::string_view curie = textOf(node);
      const std::string prefix(curie.substr(0, curie.find(':')));
      if (undeclared_.insert(prefix).second) out_.error(at, "prefix " + inQuotes(prefix) + " is not declared");
      return false;
    }
    iri = textOf(&whole);
    serd_node_free(&whole);
    if (serd_uri_string_has_scheme(reinterpret_cast<const std::uint8_t*>(iri.c_str()))) return true;  // NOLINT
    out_.error(at, "IRI " + inQuotes(iri) + " is relative, and no @base says to what");
    return false;
  }

  std::optional<std::uint32_t> intern(const SerdNode* node, Place at, const SerdNode* datatype = nullptr,
                                      const SerdNode* language = nullptr) {
    Term term;
    if (node->n_bytes > limits_.termBytes) {
      stop(at, concat("a term of more than ", limits_.termBytes, " bytes"));
      return std::nullopt;
    }
    if (node->type == SERD_LITERAL) {
      term.kind = Term::Kind::literal;
      term.text = textOf(node);
      if (language != nullptr && language->buf != nullptr) term.language = textOf(language);
      if (datatype != nullptr && datatype->buf != nullptr && !expand(datatype, at, term.datatype)) return std::nullopt;
    } else if (node->type == SERD_BLANK) {
      term.kind = Term::Kind::blank;
      term.text = textOf(node);
    } else if (!expand(node, at, term.text)) {
      return std::nullopt;
    }
    const std::size_t size = term.text.size() + term.datatype.size() + term.language.size();
    const auto [found, isNew] = ids_.try_emplace(term, static_cast<std::uint32_t>(graph_.terms.size()));
    if (!isNew) return found->second;
    bytes_ += size;
    if (bytes_ > limits_.graphBytes) {
      stop(at, concat("terms of more than ", limits_.graphBytes, " bytes together"));
      return std::nullopt;
    }
    graph_.terms.push_back(std::move(term));
    return found->second;
  }

  const TurtleLimits& limits_;
  Diagnostics& out_;
  TurtleSource source_;
  std::unique_ptr<SerdEnv, FreeEnv> env_;
  Graph graph_;
  std::map<Term, std::uint32_t> ids_;
  std::size_t bytes_ = 0;
  std::set<std::string, std::less<>> undeclared_;  // prefixes told of
  std::string subject_;                            // of the last statement, as serd wrote it
  Place subjectAt_;
  bool hasBase_ = false;
  bool stopped_ = false;  // an error of ours ended it: serd's words after that are not news
};

// Where the first byte stands that is no UTF-8, or that Turtle can't hold: serd takes a NUL for the end.
std::optional<std::size_t> firstBadByte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == 0 || !isUtf8(text.substr(i, length))) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Graph> readTurtle(std::string_view text, const TurtleLimits& limits, Diagnostics& out) {
  if (text.size() > limits.bytes) {
    out.error({}, concat("more than ", limits.bytes, " bytes"));
    return std::nullopt;
  }
  if (const auto bad = firstBadByte(text)) {
    out.error(TurtleSource(text, 0).placeOf(*bad), text[*bad] == 0 ? "a NUL byte" : "not UTF-8");
    return std::nullopt;
  }
  return Reading(text, limits, out).run();
}

}  // namespace witan::ontology
