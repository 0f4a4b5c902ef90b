// NAME.agent.toml: an agent as data: what wakes it, what it may do, and who thinks for it: a model or a program, which
// are tools outside like all others (docs/tools.md), a program that the node keeps (`program`), or one that comes to
// the node (`served`). Its version is the digest of the file, which stands in each of its transcripts, so a run is
// replayed by the file that made it or not at all.
//
// Values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "base/json_validator.h"

namespace witan::agents {

inline constexpr std::size_t kMaxAgentFileBytes = 64 * 1024;  // as much as may be published

// A ledger that wakes it: LedgerSpec without an id.
struct FileLedger {
  std::string domain, field, value;
  WITAN_MEMBERS(FileLedger, domain, field, value)
  static constexpr std::size_t required = 1;
};

// A tool that it may use: a capability, and what its mind is told of it.
struct FileTool {
  std::string name;
  std::string what;
  bool action = false;               // it changes something; else it is a look
  std::string parameters = "{}";     // JSON Schema of its arguments, as text
  std::int64_t uses = 100;           // in one run
  std::vector<std::string> targets;  // prefixes of the ids that it may touch
  std::vector<std::string> locales;
  bool execute = false;                               // it may be used although it executes code
  Omittable<std::int64_t> perHour = {}, perDay = {};  // uses on all devices; more wait for the next hour
  WITAN_MEMBERS(FileTool, name, what, action, parameters, uses, targets, locales, execute, perHour, perDay)
  static constexpr std::size_t required = 1;
};

// What it may emit where a graph wakes it (docs/graphs.md): a type of the graph, and what its mind is told of it.
struct FileOutput {
  std::string type;
  std::string what;
  std::string body = "{}";  // JSON Schema, as text
  WITAN_MEMBERS(FileOutput, type, what, body)
  static constexpr std::size_t required = 1;
};

struct AgentFile {
  std::string id;
  std::string what;
  std::string mind;                      // the look that thinks: "triage.step", "llm.chat"; of its own program ID.step
  std::string form = "program";          // program, model
  std::string prompt;                    // of a model
  std::vector<std::string> program;      // of its own: the command
  bool served = false;                   // its program comes to the node
  std::vector<std::string> environment;  // of its own program, as a tool's
  bool network = true;
  std::int64_t memoryMb = 0;
  std::int64_t timeoutMs = 120'000;  // of its own program, for each question
  std::string role;                  // DOMAIN.ROLE: the only one that it proposes under; empty: it proposes nothing
  std::string category = "agents";
  std::vector<std::string> entries;   // types of journal entries that wake it
  Authors authors = Authors::anyone;  // of those entries
  std::vector<FileLedger> ledgers;
  std::int64_t everyMs = 0;  // a timer; 0: none
  std::vector<FileTool> tools;
  std::vector<FileOutput> emits;  // with one, graphs wake it
  Budget budget;
  std::int64_t rounds = 8;         // of thinking in one run
  std::int64_t maxTokens = 1'024;  // of a model's answer
  std::vector<std::string> locale;
  bool remembers = false;
  std::string summaries;  // the look of a model that sums its memory up; empty: the first words of each message stay
  bool learns = false;    // it keeps facts and goals, and names goals instead of tools (AgentSpec::learns)
  std::int64_t enough = 100;  // satisfaction from which on it looks no more
  WITAN_MEMBERS(AgentFile, id, what, mind, form, prompt, program, served, environment, network, memoryMb, timeoutMs,
                role, category, entries, authors, ledgers, everyMs, tools, emits, budget, rounds, maxTokens, locale,
                remembers, summaries, learns, enough)
  static constexpr std::size_t required = 2;

  bool ownProgram() const { return served || !program.empty(); }
};

// Errors: invalid, naming the file and what is wrong.
Result<AgentFile> readAgentFile(std::string_view text, const std::string& name);

// Of the file's bytes: the agent's version.
std::string agentFileVersion(std::string_view text);

}  // namespace witan::agents
