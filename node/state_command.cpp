// `witan state merge`: the antichain and the view of an agent's snapshots, from files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "node/cli.h"
#include "node/snapshot_reader.h"
#include "replication/agent_state_json.h"
#include "replication/agent_view.h"

namespace witan::node {

using namespace replication;

namespace {

struct Merged {
  std::string agentId;
  std::vector<Version> antichain;
  AgentView view;
};

std::string toJsonText(const Merged& merged) {
  std::string out = "{\"antichain\":[";
  for (const Version& version : merged.antichain) {
    out += out.back() == '[' ? "{\"counter\":" : ",{\"counter\":";
    out += std::to_string(version.dot.counter) + ",\"host\":";
    appendJsonString(out, version.dot.host);
    out += '}';
  }
  return out + "],\"view\":" + viewJson(merged.agentId, merged.view) + "}";
}

std::string toWords(const VectorClock& clock) {
  std::string out;
  for (const auto& [host, counter] : clock.entries())
    out += (out.empty() ? "" : " ") + host + ":" + std::to_string(counter);
  return out.empty() ? "-" : out;
}

std::string toWords(const std::optional<std::uint64_t>& number) { return number ? std::to_string(*number) : "none"; }

std::string toWords(const Slot& slot) {
  if (slot.version == 0) return slot.value + " (never written)";
  return slot.value + " (version " + std::to_string(slot.version) + " by " + slot.host + ")";
}

std::string row(std::string name, const std::string& text) {
  name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
  return "  " + name + text + "\n";
}

std::string toPeople(const Merged& merged) {
  const AgentState& s = merged.view.state;
  VectorClock dots;
  for (const Version& version : merged.antichain) dots.raise(version.dot.host, version.dot.counter);
  std::string out = merged.agentId + ": " + toString(s.lifecycle) + ", " + std::to_string(s.consecutiveFailureCount) +
                    " failures in a row\n";
  out += row(merged.antichain.size() == 1 ? "snapshot" : "concurrent", toWords(dots));
  out += row("clock", toWords(merged.view.vc));
  out += row("next wake at", toWords(s.schedule.nextWakeAt));
  out += row("sleep until", std::to_string(s.schedule.sleepUntil));
  out += row("fired through", std::to_string(s.schedule.firedThrough));
  out += row("head message", s.pointers.recentHeadMessageId.value_or("none"));
  out += row("latest summary", s.pointers.latestSummaryMessageId.value_or("none"));
  for (std::size_t i = 0; i < kSlots; ++i) out += row(toString(static_cast<SlotName>(i)), toWords(s.slots[i]));
  return out + row("processed", toWords(s.processedCounterByHost));
}

struct MergeArguments {
  std::vector<std::string> files;
  bool json = false;
};

Result<int> merge(const MergeArguments& arguments) {
  if (std::count(arguments.files.begin(), arguments.files.end(), "-") > 1)
    return invalid("- is given twice (standard input can be read once)", "give it once");
  SnapshotReader reader([&](const Error& error) { reportError(error, arguments.json); });
  for (const std::string& file : arguments.files) WITAN_DO(reader.readFile(file));
  const int exitCode = reader.refused() > 0 ? kExitSomeRefused : kExitOk;
  Merged merged;
  WITAN_TRY(agentId, reader.agentId());
  merged.agentId = agentId;
  WITAN_TRY(antichain, maximal(std::move(reader).takeVersions()));
  merged.antichain = std::move(antichain);
  WITAN_TRY(view, viewOf(merged.antichain, nullptr));
  WITAN_CHECK(view.has_value(), "a snapshot from a file is no tombstone");
  merged.view = *std::move(view);
  std::fputs(arguments.json ? (toJsonText(merged) + "\n").c_str() : toPeople(merged).c_str(), stdout);
  return exitCode;
}

void addMerge(CLI::App& state, int& exitCode) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = state.add_subcommand("merge", "Merge an agent's snapshots: the maximal ones and what they show");
  command->add_option("FILE", arguments->files, "Files of JSON Lines, one snapshot a line; - for standard input")
      ->required();
  command->add_flag("--json", arguments->json, R"(Print {"antichain":[...],"view":{...}})");
  command->footer("Example: witan state merge laptop.jsonl phone.jsonl --json");
  command->callback([arguments, &exitCode] {
    const Result<int> code = merge(*arguments);
    exitCode = code.ok() ? *code : reportError(code.error(), arguments->json);
  });
}

}  // namespace

void addStateCommand(CLI::App& app, int& exitCode) {
  CLI::App* state = app.add_subcommand("state", "The replicated state of agents");
  state->require_subcommand(1);
  state->footer("Example: witan state merge laptop.jsonl phone.jsonl --json");
  addMerge(*state, exitCode);
}

}  // namespace witan::node
