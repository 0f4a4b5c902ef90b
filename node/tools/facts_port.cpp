// What a device knows, as a tool of agents: triples from a Turtle file, and the vectors of things, compared one by one.
// All of it is read when agents start, and stays as it is. An answer is bounded, and the same for the same question.
#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "node/tools/tool_port.h"
#include "program/durable_file.h"
#include "program/line_reader.h"
#include "rdf/turtle.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostVectorLine = 256 * 1024, kMostNumbers = 2'000'000, kMostDimensions = 4'096;
constexpr std::int64_t kMostMatches = 1'000, kMostNearest = 100;

// Of a thing: its direction, of length 1.
struct Direction {
  std::string id;
  std::vector<float> numbers;
};

// Errors: invalid; not numbers, another count than `wanted` (0: any), or all of them 0.
Result<std::vector<float>> directionOf(const json::value* value, std::size_t wanted) {
  if (value == nullptr || !value->is_array() || value->get_array().empty() ||
      value->get_array().size() > kMostDimensions || (wanted > 0 && value->get_array().size() != wanted))
    return invalid(wanted > 0 ? concat("a vector here has ", wanted, " numbers") : std::string("there is no vector"));
  std::vector<double> exact;
  double square = 0;
  for (const json::value& number : value->get_array()) {
    if (!number.is_number()) return invalid("a vector has something else than numbers");
    exact.push_back(number.to_number<double>());
    square += exact.back() * exact.back();
  }
  if (!std::isfinite(square) || square == 0) return invalid("a vector has no direction");
  std::vector<float> numbers;
  for (const double one : exact) numbers.push_back(static_cast<float>(one / std::sqrt(square)));
  return numbers;
}

Result<std::vector<Direction>> readVectors(const std::string& file) {
  std::vector<Direction> all;
  std::size_t count = 0;
  WITAN_DO(forEachLine(file, kMostVectorLine, [&](const InputLine& line) -> Status {
    const auto wrong = [&](const std::string& what) {
      return invalid(concat(file, ":", line.number, ": ", what), "a line is {\"id\": \"...\", \"vector\": [...]}");
    };
    const auto value = parseJson(line.text, {.bytes = kMostVectorLine, .depth = 4});
    const json::object* row = value.ok() ? value->if_object() : nullptr;
    const json::value* id = row == nullptr ? nullptr : row->if_contains("id");
    if (id == nullptr || !id->is_string()) return wrong("no id of a thing");
    auto numbers = directionOf(row->if_contains("vector"), all.empty() ? 0 : all.front().numbers.size());
    if (!numbers.ok()) return wrong(numbers.error().message);
    count += numbers->size();
    if (count > kMostNumbers) return wrong(concat("more than ", kMostNumbers, " numbers in all"));
    all.push_back({std::string(id->get_string()), *std::move(numbers)});
    return okStatus();
  }));
  std::ranges::sort(all, {}, &Direction::id);
  const auto twice = std::ranges::adjacent_find(all, {}, &Direction::id);
  if (twice != all.end()) return invalid(concat(file, ": two vectors of ", inQuotes(twice->id)));
  return all;
}

// An IRI is its text; other terms are told apart from it.
json::value termJson(const ontology::Term& term) {
  if (term.kind == ontology::Term::Kind::iri) return json::value(term.text);
  if (term.kind == ontology::Term::Kind::blank) return json::object{{"blank", term.text}};
  json::object literal{{"value", term.text}};
  if (!term.datatype.empty()) literal["datatype"] = term.datatype;
  if (!term.language.empty()) literal["language"] = term.language;
  return literal;
}

class FactsPort final : public ToolPort {
 public:
  FactsPort(ontology::Graph graph, std::vector<Direction> vectors)
      : graph_(std::move(graph)), vectors_(std::move(vectors)) {
    for (std::uint32_t id = 0; id < graph_.terms.size(); ++id)
      terms_.emplace(canonicalJson(termJson(graph_.terms[id])), id);
  }

  void call(std::uint64_t, ToolRequest request, Done done) override {
    auto answer = request.operation == "match" ? match(request.arguments) : nearest(request.arguments);
    if (answer.ok())
      done({ToolAnswer::Kind::done, json::value(*std::move(answer)), ""});
    else
      done({ToolAnswer::Kind::failed, nullptr, answer.error().message});
  }
  void cancel(std::uint64_t) override {}

  void list(Listed listed) override {
    const std::string triples = concat("triples by subject, predicate and object, of ", graph_.triples.size());
    const std::string things = concat("the things next to one, of ", vectors_.size());
    listed(ToolListing{"facts",
                       "",
                       {{"match", triples, "", true, true},
                        {"nearest", things, vectors_.empty() ? "there are no vectors" : "", true, true}}});
  }

 private:
  using Wanted = std::optional<std::uint32_t>;

  static Status onlyHas(const json::object& arguments, std::initializer_list<std::string_view> known) {
    for (const auto& member : arguments)
      if (std::ranges::find(known, std::string_view(member.key())) == known.end())
        return invalid("unknown argument " + inQuotes(member.key()));
    return okStatus();
  }

  static Result<std::size_t> atMost(const json::object& arguments, const char* name, std::int64_t otherwise,
                                    std::int64_t most) {
    const json::value* given = arguments.if_contains(name);
    if (given == nullptr) return static_cast<std::size_t>(otherwise);
    if (!given->is_int64() || given->get_int64() < 1 || given->get_int64() > most)
      return invalid(concat(name, " is not 1 to ", most));
    return static_cast<std::size_t>(given->get_int64());
  }

  Result<json::object> match(const json::object& arguments) const {
    WITAN_DO(onlyHas(arguments, {"subject", "predicate", "object", "limit"}));
    WITAN_TRY(limit, atMost(arguments, "limit", 100, kMostMatches));
    std::array<Wanted, 3> wanted;
    json::array found;
    bool more = false;
    constexpr std::array names{"subject", "predicate", "object"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const json::value* term = arguments.if_contains(names[i]);
      if (term == nullptr) continue;
      const auto known = terms_.find(canonicalJson(*term));
      if (known == terms_.end()) return json::object{{"more", false}, {"triples", std::move(found)}};
      wanted[i] = known->second;
    }
    const auto fits = [](const Wanted& one, std::uint32_t term) { return !one || *one == term; };
    const auto [begin, end] = wanted[0]
                                  ? std::ranges::equal_range(graph_.triples, *wanted[0], {}, &ontology::Triple::subject)
                                  : std::ranges::subrange(graph_.triples.begin(), graph_.triples.end());
    for (auto at = begin; at != end && !more; ++at) {
      if (!fits(wanted[1], at->predicate) || !fits(wanted[2], at->object)) continue;
      more = found.size() == limit;
      if (!more)
        found.push_back(json::array{termJson(graph_.term(at->subject)), termJson(graph_.term(at->predicate)),
                                    termJson(graph_.term(at->object))});
    }
    return json::object{{"more", more}, {"triples", std::move(found)}};
  }

  Result<json::object> nearest(const json::object& arguments) const {
    WITAN_DO(onlyHas(arguments, {"to", "vector", "count"}));
    WITAN_TRY(count, atMost(arguments, "count", 10, kMostNearest));
    if (vectors_.empty()) return invalid("there are no vectors");
    const json::value* to = arguments.if_contains("to");
    std::vector<float> aim;
    if (to == nullptr) {
      WITAN_SET(aim, directionOf(arguments.if_contains("vector"), vectors_.front().numbers.size()));
    } else {
      const std::string_view id = to->is_string() ? std::string_view(to->get_string()) : std::string_view();
      const auto at = std::ranges::lower_bound(vectors_, id, {}, &Direction::id);
      if (at == vectors_.end() || at->id != id) return invalid("there is no vector of " + inQuotes(id));
      aim = at->numbers;
    }
    std::vector<std::pair<double, std::size_t>> scored;  // the least first: minus the cosine
    for (std::size_t i = 0; i < vectors_.size(); ++i) {
      double cosine = 0;
      for (std::size_t n = 0; n < aim.size(); ++n) cosine += static_cast<double>(aim[n]) * vectors_[i].numbers[n];
      scored.emplace_back(-cosine, i);
    }
    const std::size_t most = std::min(count, scored.size());
    std::ranges::partial_sort(scored, scored.begin() + static_cast<std::ptrdiff_t>(most));
    json::array rows;
    for (std::size_t i = 0; i < most; ++i)
      rows.push_back(json::object{{"cosine", -scored[i].first}, {"id", vectors_[scored[i].second].id}});
    return json::object{{"nearest", std::move(rows)}};
  }

  const ontology::Graph graph_;
  const std::vector<Direction> vectors_;  // by id
  std::map<std::string, std::uint32_t, std::less<>> terms_;
};

}  // namespace

Result<std::unique_ptr<ToolPort>> factsPort(PortSetup setup) {
  const ontology::TurtleLimits limits;
  WITAN_TRY(text, readSmallFile(setup.config.file, limits.bytes));
  if (!text) return notFound("there is no file " + setup.config.file);
  ontology::Diagnostics found;
  auto graph = ontology::readTurtle(*text, limits, found);
  if (!graph) return found.asError(setup.config.file);
  std::vector<Direction> vectors;
  if (!setup.config.vectors.empty()) {
    WITAN_SET(vectors, readVectors(setup.config.vectors));
  }
  return std::unique_ptr<ToolPort>(std::make_unique<FactsPort>(*std::move(graph), std::move(vectors)));
}

}  // namespace witan::node
