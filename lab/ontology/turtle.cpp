#include "lab/ontology/turtle.h"

#include <serd/serd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "base/quote.h"
#include "base/utf8.h"
#include "lab/ontology/turtle_source.h"

namespace witan::ontology {

namespace {

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

  std::optional<Graph> run();

 private:
  static std::size_t onRead(void* into, std::size_t, std::size_t, void* self);
  static SerdStatus onBase(void* self, const SerdNode* uri);
  static SerdStatus onPrefix(void* self, const SerdNode* name, const SerdNode* uri);
  static SerdStatus onStatement(void* self, SerdStatementFlags, const SerdNode*, const SerdNode* s, const SerdNode* p,
                                const SerdNode* o, const SerdNode* datatype, const SerdNode* language);
  static SerdStatus onError(void* self, const SerdError* error);

  SerdStatus stop(Place at, std::string message);
  SerdStatus add(const SerdNode* s, const SerdNode* p, const SerdNode* o, const SerdNode* datatype,
                 const SerdNode* language);
  Place placeOf(const SerdNode* node, std::size_t end, std::size_t* start) const;
  bool expand(const SerdNode* node, Place at, std::string& iri);
  std::optional<std::uint32_t> intern(const SerdNode* node, Place at, const SerdNode* datatype = nullptr,
                                      const SerdNode* language = nullptr);

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

std::size_t Reading::onRead(void* into, std::size_t, std::size_t, void* self) {
  const std::optional<char> c = static_cast<Reading*>(self)->source_.next();
  if (!c) return 0;
  *static_cast<char*>(into) = *c;
  return 1;
}

SerdStatus Reading::stop(Place at, std::string message) {
  if (!stopped_) out_.error(at, std::move(message));
  stopped_ = true;
  return SERD_ERR_UNKNOWN;
}

SerdStatus Reading::onError(void* self, const SerdError* error) {
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

SerdStatus Reading::onBase(void* self, const SerdNode* uri) {
  Reading& r = *static_cast<Reading*>(self);
  const Place at = r.source_.placeOf(r.source_.findLast(textOf(uri), r.source_.taken()).value_or(r.source_.taken()));
  r.hasBase_ = r.hasBase_ || hasScheme(uri);
  if (!r.hasBase_ || serd_env_set_base_uri(r.env_.get(), uri) != SERD_SUCCESS)
    return r.stop(at, "base " + inQuotes(textOf(uri)) + " is relative to nothing");
  return SERD_SUCCESS;
}

SerdStatus Reading::onPrefix(void* self, const SerdNode* name, const SerdNode* uri) {
  Reading& r = *static_cast<Reading*>(self);
  const Place at = r.source_.placeOf(r.source_.findLast(textOf(uri), r.source_.taken()).value_or(r.source_.taken()));
  if (textOf(uri).size() > r.limits_.termBytes)
    return r.stop(at, "an IRI of more than " + std::to_string(r.limits_.termBytes) + " bytes");
  if ((!r.hasBase_ && !hasScheme(uri)) || serd_env_set_prefix(r.env_.get(), name, uri) != SERD_SUCCESS)
    return r.stop(at, "prefix " + inQuotes(textOf(name)) + ": " + inQuotes(textOf(uri)) +
                          " is relative, and no @base says to what");
  return SERD_SUCCESS;
}

SerdStatus Reading::onStatement(void* self, SerdStatementFlags, const SerdNode*, const SerdNode* s, const SerdNode* p,
                                const SerdNode* o, const SerdNode* datatype, const SerdNode* language) {
  return static_cast<Reading*>(self)->add(s, p, o, datatype, language);
}

// Where a node stands, looking back from `end`; blank nodes without a label and escaped text: where reading is.
Place Reading::placeOf(const SerdNode* node, std::size_t end, std::size_t* start) const {
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
bool Reading::expand(const SerdNode* node, Place at, std::string& iri) {
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

std::optional<std::uint32_t> Reading::intern(const SerdNode* node, Place at, const SerdNode* datatype,
                                             const SerdNode* language) {
  Term term;
  if (node->n_bytes > limits_.termBytes) {
    stop(at, "a term of more than " + std::to_string(limits_.termBytes) + " bytes");
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
    stop(at, "terms of more than " + std::to_string(limits_.graphBytes) + " bytes together");
    return std::nullopt;
  }
  graph_.terms.push_back(std::move(term));
  return found->second;
}

SerdStatus Reading::add(const SerdNode* s, const SerdNode* p, const SerdNode* o, const SerdNode* datatype,
                        const SerdNode* language) {
  if (stopped_) return SERD_ERR_UNKNOWN;
  std::size_t start = source_.taken();
  const Place at = placeOf(o, start, &start);
  if (graph_.triples.size() >= limits_.triples)
    return stop(at, "more than " + std::to_string(limits_.triples) + " statements");
  if (const std::string subject = std::string(1, static_cast<char>('0' + s->type)) + std::string(textOf(s));
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

std::optional<Graph> Reading::run() {
  std::unique_ptr<SerdReader, FreeReader> reader(
      serd_reader_new(SERD_TURTLE, this, nullptr, onBase, onPrefix, onStatement, nullptr));
  serd_reader_set_strict(reader.get(), true);
  serd_reader_set_error_sink(reader.get(), onError, this);
  const SerdStatus status = serd_reader_read_source(
      reader.get(), onRead, [](void*) { return 0; }, this, nullptr, 1);
  if (source_.tooDeep())
    stop(source_.placeOf(source_.taken() - 1), "brackets nested more than " + std::to_string(limits_.depth) + " deep");
  if (status > SERD_FAILURE && !stopped_)
    stop(source_.placeOf(source_.taken()),
         std::string("syntax: ") + reinterpret_cast<const char*>(serd_strerror(status)));  // NOLINT
  if (out_.hasErrors()) return std::nullopt;
  const auto key = [](const Triple& t) { return std::tie(t.subject, t.predicate, t.object); };
  std::stable_sort(graph_.triples.begin(), graph_.triples.end(),
                   [&](const Triple& a, const Triple& b) { return key(a) < key(b); });
  graph_.triples.erase(std::unique(graph_.triples.begin(), graph_.triples.end(),
                                   [&](const Triple& a, const Triple& b) { return key(a) == key(b); }),
                       graph_.triples.end());
  return std::move(graph_);
}

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

std::string Graph::show(std::uint32_t id) const {
  const Term& t = terms[id];
  if (t.kind == Term::Kind::literal) return inQuotes(t.text);
  return t.kind == Term::Kind::blank ? "_:" + t.text : "<" + std::string(clip(t.text, 200)) + ">";
}

std::optional<Graph> readTurtle(std::string_view text, const TurtleLimits& limits, Diagnostics& out) {
  if (text.size() > limits.bytes) {
    out.error({}, "more than " + std::to_string(limits.bytes) + " bytes");
    return std::nullopt;
  }
  if (const auto bad = firstBadByte(text)) {
    out.error(TurtleSource(text, 0).placeOf(*bad), text[*bad] == 0 ? "a NUL byte" : "not UTF-8");
    return std::nullopt;
  }
  return Reading(text, limits, out).run();
}

}  // namespace witan::ontology
