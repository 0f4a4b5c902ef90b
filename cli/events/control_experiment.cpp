#include "cli/events/control_experiment.h"

#include <map>
#include <set>

#include "base/string_util.h"
#include "kernel/fingerprint.h"
#include "node/events/event_line.h"
#include "node/events/event_runner.h"

namespace witan::node {

using namespace kernel;

namespace {

class Control {
 public:
  explicit Control(const DomainModule& module) : module_(module), partition_(module) {}

  Result<ControlReport> run(std::string_view text) {
    WITAN_DO(read(text));
    for (std::size_t i = 0; i < lines_.size(); ++i) WITAN_DO(feed(i));
    report_.kernelViolations = brokenByKernel_.size();
    report_.naiveViolations = brokenByServices_.size();
    return std::move(report_);
  }

 private:
  struct Numbered {
    std::uint64_t number = 0;
    EventLine line;
  };

  Status read(std::string_view text) {
    for (std::uint64_t number = 1; !text.empty(); ++number) {
      const std::string_view one = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), one.size() + 1));
      if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      lines_.push_back({number, {}});
      if (Status parsed = parseEventLine(one, lines_.back().line); !parsed.ok())
        return invalid(concat("line ", number, ": ", parsed.error().message), parsed.error().hint);
    }
    return okStatus();
  }

  Status feed(std::size_t i) {
    const auto& [number, line] = lines_[i];
    const std::string id = concat("line-", number);
    if (line.kind == EventLine::Kind::init) {
      partition_.init(line.entity, line.init, line.at);
      WITAN_TRY(state, module_.create(line.init, line.at));
      services_.try_emplace(line.entity, module_, std::move(state));
    } else if (line.kind == EventLine::Kind::decision) {
      const Decision made = partition_.decide({.entity = line.entity,
                                               .counselor = line.counselor,
                                               .operationId = id,
                                               .commit = line.commit,
                                               .base = line.base,
                                               .edit = &line.edit,
                                               .reason = line.reason,
                                               .at = line.at});
      if (made.safe == false) brokenByKernel_.insert(line.entity);
    } else {
      WITAN_DO(propose(i, id));
    }
    return okStatus();
  }

  Status propose(std::size_t i, const std::string& id) {
    const auto& [number, line] = lines_[i];
    const auto service = services_.find(line.entity);
    if (service == services_.end()) return invalid(concat("line ", number, ": entity ", line.entity, " has not begun"));
    const auto action = module_.parseAction(line.action);
    if (!action) return invalid(concat("line ", number, ": ", action.error().message), action.error().hint);
    const ProcessInfo& process = module_.signature().processes[(*action)->process];
    if (process.role != line.role) return invalid(concat("line ", number, ": ", process.name, " is of ", process.role));
    ControlLine out{number, line.entity, concat(process.name, " of ", process.role), {}, {}, {}};
    const Decision made = partition_.propose(
        {.entity = line.entity, .role = line.role, .operationId = id, .action = action->get(), .at = line.at});
    out.kernel = outcomeText(made.outcome, made, true);
    bool asked = false;
    const auto person = [&](const EntityState&, const NaiveServices::Act&) {
      asked = true;
      return answerAfter(i);
    };
    const std::string heldBack = service->second.commitTogether({{line.role, action->get(), line.at}}, person).front();
    out.naive = heldBack.empty() ? asked ? "committed, a person was asked" : "committed" : "held back:" + heldBack;
    out.violated = service->second.violated();
    if (!out.violated.empty()) brokenByServices_.insert(line.entity);
    report_.lines.push_back(std::move(out));
    return okStatus();
  }

  // The edit of the entity's next decision; nothing if it is a no.
  json::object answerAfter(std::size_t i) const {
    for (std::size_t j = i + 1; j < lines_.size(); ++j)
      if (const EventLine& next = lines_[j].line;
          next.kind == EventLine::Kind::decision && next.entity == lines_[i].line.entity && next.commit)
        return next.edit;
    return {};
  }

  const DomainModule& module_;
  Partition partition_;
  std::map<std::string, NaiveServices> services_;
  std::vector<Numbered> lines_;
  ControlReport report_;
  std::set<std::string> brokenByKernel_, brokenByServices_;
};

}  // namespace

Result<ControlReport> controlExperiment(const DomainModule& module, std::string_view lines) {
  return Control(module).run(lines);
}

std::string controlText(const DomainModule& module, const ControlReport& report) {
  std::string out = concat(module.signature().domain, ": ", report.lines.size(),
                           " proposals through services and through the kernel\n");
  for (const ControlLine& one : report.lines)
    out += concat("  line ", one.number, "  ", one.entity, "  ", one.what, "\n    kernel    ", one.kernel,
                  "\n    services  ", one.naive, one.violated.empty() ? "" : "; broken: " + joined(one.violated), "\n");
  return out + concat("entities in which an invariant broke: kernel ", report.kernelViolations, ", services ",
                      report.naiveViolations, "\n");
}

json::object controlJson(const DomainModule& module, const ControlReport& report) {
  json::array lines;
  for (const ControlLine& one : report.lines)
    lines.push_back(json::object{{"line", one.number},
                                 {"entity", one.entity},
                                 {"proposal", one.what},
                                 {"kernel", one.kernel},
                                 {"services", one.naive},
                                 {"violated", json::array(one.violated.begin(), one.violated.end())}});
  return {{"domain", module.signature().domain},
          {"proposals", std::move(lines)},
          {"kernelViolations", report.kernelViolations},
          {"servicesViolations", report.naiveViolations}};
}

}  // namespace witan::node
