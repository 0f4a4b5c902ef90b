#include "rules/domain/rule_sample.h"

#include "rules/domain/value_json.h"

namespace witan::rules {

namespace {

class Sampler {
 public:
  Sampler(const RuleDomain& domain, const RuleState& state, Random& random, Time at)
      : domain_(domain), state_(state), random_(random), at_(at) {}

  void value(std::string& out, const Type& type) {
    if (type.nullable && random_.below(2) == 0) {
      out += "null";
      return;
    }
    switch (type.kind) {
      case Type::Kind::boolean: out += random_.below(2) == 0 ? "false" : "true"; return;
      case Type::Kind::integer: appendInteger(out, number()); return;
      case Type::Kind::uinteger: appendInteger(out, random_.below(100)); return;
      case Type::Kind::real: appendJsonNumber(out, static_cast<double>(random_.below(101)) / 10); return;
      case Type::Kind::date: quoted(out, formatDate(day())); return;
      case Type::Kind::timestamp: quoted(out, formatTime(Time{day().days * kMicrosPerDay})); return;
      case Type::Kind::duration: quoted(out, std::to_string(random_.below(100)) + "h"); return;
      case Type::Kind::list: {
        out += '[';
        for (std::uint64_t i = 0, n = random_.below(3); i < n; ++i) {
          if (i > 0) out += ',';
          value(out, *type.params[0]);
        }
        out += ']';
        return;
      }
      case Type::Kind::record: {
        out += type.tuple ? '[' : '{';
        for (std::size_t i = 0; i < type.params.size(); ++i) {
          if (i > 0) out += ',';
          if (!type.tuple) quoted(out, type.words[i]), out += ':';
          value(out, *type.params[i]);
        }
        out += type.tuple ? ']' : '}';
        return;
      }
      case Type::Kind::map: out += "{}"; return;
      default: quoted(out, type.words.empty() ? text() : type.words[random_.below(type.words.size())]);
    }
  }

  // A key of the state, or a new one.
  std::string key() {
    if (!state_.tables.empty() && random_.below(4) != 0)
      if (const RuleTable& table = state_.tables[random_.below(state_.tables.size())];
          table.size() > 0 && table.size() < 64)
        return table.key(static_cast<kernel::Slot>(random_.below(table.size())));
    return "K" + std::to_string(1 + random_.below(8));
  }

 private:
  static void quoted(std::string& out, std::string_view text) { appendJsonString(out, text); }

  std::string text() {
    if (!domain_.literals.empty() && random_.below(4) == 0)
      return domain_.literals[random_.below(domain_.literals.size())];
    if (random_.below(4) == 0) return random_.below(4) == 0 ? "" : "a text for the record";
    return key();
  }
  std::int64_t number() {
    if (domain_.numbers.empty() || random_.below(3) == 0) return static_cast<std::int64_t>(random_.below(12)) - 1;
    const std::int64_t known = domain_.numbers[random_.below(domain_.numbers.size())];
    if (random_.below(2) == 0) return known / static_cast<std::int64_t>(1 + random_.below(4));
    return known > INT64_MIN + 2 && known < INT64_MAX - 2 ? known + static_cast<std::int64_t>(random_.below(3)) - 1
                                                          : known;
  }
  Date day() {
    return Date{static_cast<std::int32_t>(dateOf(at_).days + static_cast<std::int32_t>(random_.below(20)) - 15)};
  }

  const RuleDomain& domain_;
  const RuleState& state_;
  Random& random_;
  Time at_;
};

}  // namespace

std::string sampleAction(const RuleDomain& domain, const RuleState& state, Random& random, Time at) {
  Sampler sampler(domain, state, random, at);
  const RuleProcess& process = domain.processes[random.below(domain.processes.size())];
  std::string out = "{\"type\":";
  appendJsonString(out, process.name);
  for (const RuleArgument& argument : process.arguments) {
    if (argument.byDefault.present() && random.below(2) == 0) continue;
    out += ',';
    appendJsonString(out, argument.name);
    out += ':';
    sampler.value(out, *argument.type);
  }
  return out + "}";
}

// A field that no role writes is the human's: it is filled for a row that the state has.
std::string sampleRuleEdit(const RuleDomain& domain, const RuleState& state, std::string_view, Random& random,
                           Time at) {
  kernel::FieldMask written = 0;
  for (const kernel::RoleInfo& role : domain.signature.roles) written |= role.writes;
  Sampler sampler(domain, state, random, at);
  std::string out = "{";
  for (std::size_t i = 0; i < domain.layout.fields.size(); ++i) {
    const FieldDecl& field = domain.layout.fields[i];
    const bool humans = field.human || (written >> i & 1) == 0;
    if (!humans || !field.isColumn || field.isLog || state.tables[field.table].size() == 0) continue;
    const RuleTable& table = state.tables[field.table];
    out += out.size() > 1 ? "," : "";
    appendJsonString(out, field.name);
    out += ":{";
    appendJsonString(out, table.key(static_cast<kernel::Slot>(random.below(table.size()))));
    out += ':';
    if (!field.human) sampler.value(out, *field.type);
    for (std::size_t said = 2; field.human && said < field.type->params.size(); ++said) {
      out += said == 2 ? '[' : ',';
      sampler.value(out, *field.type->params[said]);
    }
    if (field.human) out += field.type->params.size() == 2 ? "[]}" : "]}";
    if (!field.human) out += '}';
  }
  return out + "}";
}

}  // namespace witan::rules
