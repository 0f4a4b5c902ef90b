// The TOML form of agents/policy/policy.h.
#include <toml++/toml.h>

#include <map>

#include "agents/policy/policy.h"
#include "base/quote.h"
#include "base/toml_text.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

// requireHuman -> require-human
std::string tomlName(std::string_view member) {
  std::string out;
  for (const char c : member) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital) out += '-';
    out += static_cast<char>(capital ? c - 'A' + 'a' : c);
  }
  return out;
}

// A table of TOML into a reflected struct, noting where each thing stood.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  template <Reflected T>
  Status table(const toml::table& from, T& into, const std::string& place) {
    places_[place] = from.source();
    WITAN_DO(noOther<T>(from, place));
    Status status = okStatus();
    forEachMember<T>([&](auto member, auto index) {
      if (!status.ok()) return;
      const std::string key = tomlName(member.name);
      const auto item = from.find(key);
      const std::string inside = place.empty() ? std::string(member.name) : concat(place, ".", member.name);
      if (item == from.end()) {
        if (index < requiredMembers<T>())
          status = wrong(from.source(), "\"" + key + "\" is missing" + (place.empty() ? "" : " in " + place));
        return;
      }
      places_[inside] = item->first.source();
      status = value(item->second, into.*member.pointer, inside);
    });
    return status;
  }

  Error wrong(const toml::source_region& where, std::string message, std::string hint = {}) const {
    return invalid(concat(name_, ":", where.begin.line, ":", where.begin.column, ": ", std::move(message)),
                   std::move(hint));
  }

  // The error of a problem in the finished policy, at the nearest place that is known.
  Error wrong(const PolicyProblem& problem) const {
    std::string place = problem.place;
    while (!places_.contains(place)) {
      const std::size_t cut = place.find_last_of(".[");
      place = cut == std::string::npos ? "" : place.substr(0, cut);
    }
    return wrong(places_.at(place), problem.place + ": " + problem.message, problem.hint);
  }

 private:
  template <Reflected T>
  Status noOther(const toml::table& from, const std::string& place) const {
    std::vector<std::string> known;
    forEachMember<T>([&](auto member, auto) { known.push_back(tomlName(member.name)); });
    for (const auto& [key, node] : from)
      if (std::ranges::find(known, key.str()) == known.end())
        return wrong(key.source(), "unknown key " + inQuotes(key.str()) + (place.empty() ? "" : " in " + place),
                     didYouMean(key.str(), known));
    return okStatus();
  }

  Error expected(const toml::node& node, const std::string& place, const std::string& what) const {
    return wrong(node.source(), place + ": expected " + what);
  }

  Status value(const toml::node& node, std::string& into, const std::string& place) {
    if (!node.is_string()) return expected(node, place, "a text");
    into = node.as_string()->get();
    return okStatus();
  }
  Status value(const toml::node& node, bool& into, const std::string& place) {
    if (!node.is_boolean()) return expected(node, place, "true or false");
    into = node.as_boolean()->get();
    return okStatus();
  }
  Status value(const toml::node& node, std::uint64_t& into, const std::string& place) {
    if (!node.is_integer() || node.as_integer()->get() < 0)
      return expected(node, place, "a whole number, not negative");
    into = static_cast<std::uint64_t>(node.as_integer()->get());
    return okStatus();
  }
  template <NamedEnum E>
  Status value(const toml::node& node, E& into, const std::string& place) {
    const auto word = node.is_string() ? parseEnum<E>(node.as_string()->get()) : std::nullopt;
    if (!word) return expected(node, place, "one of " + JsonCodec<E>::words());
    into = *word;
    return okStatus();
  }
  template <Reflected T>
  Status value(const toml::node& node, T& into, const std::string& place) {
    if (!node.is_table()) return expected(node, place, "a table");
    return table(*node.as_table(), into, place);
  }
  template <class T>
  Status value(const toml::node& node, Omittable<T>& into, const std::string& place) {
    return value(node, into.emplace(), place);
  }
  template <class T>
  Status value(const toml::node& node, std::vector<T>& into, const std::string& place) {
    if (!node.is_array())
      return expected(node, place, Reflected<T> ? "tables, as in [[" + tomlName(place) + "]]" : "a list");
    const toml::array& list = *node.as_array();
    if (list.size() > kMaxGrants) return expected(node, place, concat("at most ", kMaxGrants, " elements"));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string inside = concat(place, "[", i, "]");
      places_[inside] = list[i].source();
      WITAN_DO(value(list[i], into.emplace_back(), inside));
    }
    return okStatus();
  }

  const std::string& name_;
  std::map<std::string, toml::source_region> places_;
};

}  // namespace

Result<Policy> parsePolicyToml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxPolicyBytes) return invalid(name + ": a policy of more than 1 MiB");
  if (!isUtf8(text)) return invalid(name + ": not UTF-8");  // the parser takes any bytes within a string
  WITAN_DO(checkTomlKeys(text, name));
  Reader reader(name);
  try {
    Policy policy;
    WITAN_DO(reader.table(toml::parse(text), policy, {}));
    if (const PolicyProblem problem = findProblem(policy); !problem.message.empty()) return reader.wrong(problem);
    return policy;
  } catch (const toml::parse_error& e) {
    return reader.wrong(e.source(), std::string(e.description()));
  }
}

}  // namespace witan::agents
