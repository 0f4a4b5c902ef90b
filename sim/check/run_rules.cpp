#include "sim/check/run_rules.h"

#include <set>
#include "agents/wake/wake_checks.h"
#include "base/json.h"

namespace witan::sim {

void RunRules::stands(std::uint32_t device, const std::function<bool(const RunKey&)>& isThere) {
  Known& known = devices_[device];
  std::erase_if(known.running, [&](const RunKey& run) { return !isThere(run) && known.ended.insert(run).second; });
}

bool RunRules::isNew(std::uint32_t device, const RunKey& run) const {
  const auto known = devices_.find(device);
  return known == devices_.end() || !known->second.running.contains(run);
}

std::string RunRules::begins(const Start& start) {
  Known& known = devices_[start.device];
  known.running.insert(start.run);
  std::set<std::uint32_t>& by = startedBy_[start.run];
  by.insert(start.device);
  const std::string name = start.agent + "'s run " + start.run.hex().substr(0, 16);
  const std::string begins = start.deviceName + " begins " + name;
  if (known.ended.contains(start.run)) return begins + ", which has ended there";
  if (start.paused) return begins + " although the agent is paused";
  if (by.size() > 1 && start.undisturbed) return name + " was begun by several devices that see each other";
  return {};
}

std::size_t RunRules::startedBy(const RunKey& run) const {
  const auto by = startedBy_.find(run);
  return by == startedBy_.end() ? 0 : by->second.size();
}

void RunRules::stopped(std::uint32_t device, bool diskToo) {
  Known& known = devices_[device];
  known.running.clear();
  if (diskToo) known.ended.clear();
}

RunKey runOfTurn(std::string_view agent, std::string_view session, std::string_view turn) {
  return {sha256(concat("v1|run|user|", agent, "|", session, "|", turn))};
}

RunKey runOfEntry(std::string_view agent, std::string_view subscription, const ChangeUnit& change) {
  const Hash unit =
      sha256(concat("v1|local|", change.hostId, "|", change.counter, "|", change.payloadType, "|", change.payloadId));
  const Hash key = sha256("v1|" + toHex(unit));
  return {sha256(concat("v1|run|subscription|", agent, "|", subscription, "|", toHex(key)))};
}

RunKey runOfFact(std::string_view agent, std::string_view subscription, const agents::LedgerFact& fact) {
  const std::string name = canonicalJson(json::array{fact.domain, fact.entity, fact.field, fact.key, fact.value});
  return runOfEntry(agent, subscription, {ChangeOrigin::local, "ledger", 0, "ledgerFact", toHex(sha256(name))});
}

std::string checkAtRest(std::span<const agents::KnownRun> runs, std::span<const ExpectedRun> expected) {
  if (const auto found = agents::runsWithoutEnd(runs); !found.empty()) return found.front();
  std::set<RunKey> ended;
  for (const agents::KnownRun& run : runs)
    if (run.view.run && replication::isTerminal(run.view.run->body.status)) ended.insert(run.key);
  for (const ExpectedRun& one : expected)
    if (!ended.contains(one.run)) return one.what + ": run " + one.run.hex().substr(0, 16) + " has no end";
  return {};
}

namespace {

// The object under this name; null: none.
const json::object* objectIn(const json::value& value, std::string_view name) {
  const json::object* object = value.if_object();
  const json::value* member = object == nullptr ? nullptr : object->if_contains(name);
  return member == nullptr ? nullptr : member->if_object();
}

json::value parsed(const std::string& text) {
  auto value = parseJson(text.empty() ? "null" : text, {.bytes = kernel::kRecordTextMax, .depth = 64});
  return value.ok() ? *std::move(value) : json::value();
}

}  // namespace

std::vector<agents::LedgerFact> factsOf(const PartitionLog& log, const agents::LedgerSpec& spec) {
  std::vector<agents::LedgerFact> facts;
  std::set<std::pair<std::string, std::string>> known;
  const auto collect = [&](const std::string& entity, const json::object* fields) {
    const json::value* column = fields == nullptr ? nullptr : fields->if_contains(spec.field);
    if (column == nullptr || !column->is_object()) return;
    for (const auto& [key, value] : column->get_object())
      if (value.is_string() && value.get_string() == spec.value && known.emplace(entity, key).second)
        facts.push_back({spec.domain, entity, spec.field, std::string(key), spec.value});
  };
  for (const LedgerLine& line : log.lines) {
    const json::value began = parsed(line.entry.genesis), written = parsed(line.entry.writes);
    collect(line.entry.entity, objectIn(began, "state"));
    collect(line.entry.entity, written.if_object());
  }
  return facts;
}

}  // namespace witan::sim
