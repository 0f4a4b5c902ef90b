#include "rules/attack/action_maker.h"

#include <algorithm>
#include <cctype>

namespace witan::rules {

namespace {

constexpr std::size_t kKnownMost = 400;  // of one kind

template <class T>
void keep(std::vector<T>& in, const T& one) {
  if (in.size() < kKnownMost && std::find(in.begin(), in.end(), one) == in.end()) in.push_back(one);
}

std::string textIn(const json::object& schema, const char* key) {
  const json::value* at = schema.if_contains(key);
  return at != nullptr && at->is_string() ? std::string(at->get_string()) : std::string();
}

}  // namespace

ActionMaker::ActionMaker(const kernel::DomainModule& module, Random& random) : random_(random) {
  for (const kernel::FieldInfo& field : module.signature().fields) {
    const std::size_t open = field.type.find("enum("), close = field.type.find(')', open);
    if (open == std::string::npos || close == std::string::npos) continue;
    std::string_view rest = std::string_view(field.type).substr(open + 5, close - open - 5);
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(", "));
      keep(words_, std::string(word));
      rest.remove_prefix(std::min(rest.size(), word.size() + 2));
    }
  }
}

void ActionMaker::learn(const json::object& action) {
  const json::value* type = action.if_contains("type");
  if (type == nullptr || !type->is_string()) return;
  const std::string process(type->get_string());
  keep(actions_[process], action);
  for (const auto& [name, value] : action)
    if (name != "type") learnValue(process + "." + std::string(name), value);
}

void ActionMaker::learnValue(const std::string& where, const json::value& value) {
  if (value.is_string()) keep(texts_[where], std::string(value.get_string()));
  if (value.is_int64()) keep(numbers_[where], value.get_int64());
  if (value.is_array())
    for (const json::value& one : value.get_array()) learnValue(where, one);
  if (value.is_object())
    for (const auto& [name, one] : value.get_object()) learnValue(where + "." + std::string(name), one);
}

void ActionMaker::readState(const json::object& state) {
  names_.clear();
  held_.clear();
  times_.clear();
  for (const auto& [field, value] : state) readValue(value);
}

void ActionMaker::readValue(const json::value& value) {
  if (value.is_int64()) keep(held_, value.get_int64());
  if (value.is_string()) {
    const std::string text(value.get_string());
    if (const auto time = parseTime(text); time.ok())
      keep(times_, *time);
    else
      keep(names_, text);
  }
  if (value.is_array())
    for (const json::value& one : value.get_array()) readValue(one);
  if (value.is_object())
    for (const auto& [key, one] : value.get_object()) {
      keep(names_, std::string(key));
      readValue(one);
    }
}

json::object ActionMaker::make(const kernel::ProcessInfo& process, const json::object& state, Time now) {
  readState(state);
  const json::object schema = parseJson(process.schema, kOwnJson).value().as_object();
  const json::object& properties = schema.at("properties").as_object();
  const json::array& required = schema.at("required").as_array();
  const auto known = actions_.find(process.name);
  const bool fromKnown = known != actions_.end() && !oneIn(3);
  json::object action{{"type", process.name}};
  if (fromKnown) action = anyOf(known->second);
  const std::size_t arguments = std::max<std::size_t>(properties.size(), 2) - 1;
  for (const auto& [name, property] : properties) {
    if (name == "type" || !property.is_object()) continue;
    const bool needed =
        std::any_of(required.begin(), required.end(), [&](const json::value& one) { return one == name; });
    // Of a known action one argument in the mean is another one.
    if (fromKnown ? !oneIn(arguments) : !needed && oneIn(3)) continue;
    if (fromKnown && !needed && oneIn(4))
      action.erase(name);
    else
      action[name] = value(concat(process.name, ".", std::string_view(name)), property.get_object(), now);
  }
  return action;
}

json::value ActionMaker::value(const std::string& where, const json::object& schema, Time now) {
  if (const json::value* any = schema.if_contains("anyOf");
      any != nullptr && any->is_array() && !any->get_array().empty()) {
    const json::array& branches = any->get_array();
    return value(where, branches[oneIn(4) ? branches.size() - 1 : 0].as_object(), now);
  }
  if (const json::value* words = schema.if_contains("enum"); words != nullptr && words->is_array())
    return words->get_array()[random_.below(words->get_array().size())];
  const std::string type = textIn(schema, "type"), format = textIn(schema, "format");
  if (format == "date") return json::value(formatDate(day(now)));
  if (format == "date-time") return json::value(formatTime(moment(now)));
  if (type == "string") return json::value(text(where));
  if (type == "integer") return number(where);
  if (type == "number")
    return oneIn(3) ? json::value(static_cast<double>(random_.below(110)) / 10) : json::value(number(where));
  if (type == "boolean") return oneIn(2);
  if (type == "array") {
    json::array out;
    const json::value* items = schema.if_contains("items");
    for (std::uint64_t n = random_.below(3); items != nullptr && items->is_object() && n > 0; --n)
      out.push_back(value(where, items->get_object(), now));
    return out;
  }
  json::object out;
  if (const json::value* members = schema.if_contains("properties"); members != nullptr && members->is_object())
    for (const auto& [name, member] : members->get_object())
      out[name] = value(concat(where, ".", std::string_view(name)), member.as_object(), now);
  return type == "object" ? json::value(std::move(out)) : json::value(nullptr);
}

// What was said there before, what the state holds, or what looks like it or like nothing.
std::string ActionMaker::text(const std::string& where) {
  const auto known = texts_.find(where);
  const std::uint64_t draw = random_.below(20);
  if (known != texts_.end() && draw < 9) return anyOf(known->second);
  if (!names_.empty() && draw < 15) return anyOf(names_);
  if (draw < 16) return concat("N", random_.below(4));
  if (draw < 17 && !words_.empty()) return anyOf(words_);
  if (known != texts_.end() && draw < 18) return disguised(anyOf(known->second));
  static const Texts kOdd{"", " ", "\xc2\xa0", "x", "human", "human.lead", "not this", "a text that says something"};
  return anyOf(kOdd);
}

std::string ActionMaker::disguised(std::string known) {
  switch (random_.below(4)) {
    case 0: return " " + known;
    case 1: return known + " ";
    case 2: std::ranges::transform(known, known.begin(), [](unsigned char c) { return std::tolower(c); }); return known;
    default:
      std::ranges::transform(known, known.begin(), [](unsigned char c) { return std::toupper(c); });
      return known;
  }
}

std::int64_t ActionMaker::number(const std::string& where) {
  static const std::vector<std::int64_t> kOdd{0,   1,  -1,  2,   -2,   7,     -7,      30,       -30,       89,
                                              -89, 90, -90, 365, 1000, -1000, 100'000, -100'000, 10'000'000};
  const auto known = numbers_.find(where);
  std::int64_t n = anyOf(kOdd);
  if (known != numbers_.end() && oneIn(2))
    n = anyOf(known->second);
  else if (!held_.empty() && oneIn(3))
    n = anyOf(held_);
  const bool small = n > -1'000'000'000'000 && n < 1'000'000'000'000;
  if (small && oneIn(3)) n = -n;
  if (small && oneIn(4)) n += static_cast<std::int64_t>(random_.below(3)) - 1;
  return n;
}

Time ActionMaker::moment(Time now) {
  static const std::vector<std::int64_t> kDays{0, 1, -1, 7, -7, 30, -30, 90, -90, 91, 400, -400};
  const Time near = !times_.empty() && oneIn(2) ? anyOf(times_) : now;
  return Time{near.micros + anyOf(kDays) * kMicrosPerDay};
}

Date ActionMaker::day(Time now) { return dateOf(moment(now)); }

}  // namespace witan::rules
