// DataAgent: an agent as data at work: it reads what woke it, asks its mind (a model or a program, as a look), does
// what the mind says as far as the file permits, and reports.
//
// What a program is asked, and what it answers:
//
//   {"round", "wake": {...}, "entries": [...], "observations": [...]}
//   {"looks": [{"tool", "arguments"}]} | {"actions": [{"tool", "arguments", "targets"?}]} | {"answer": "..."}
//   | {"emits": [{"type", "body"}]}, where a graph woke it | {"failed": "..."}, and the run has failed
//
// A model gets the prompt, the same as messages, and the tools with their schemas; its tool calls become looks and
// actions. What it emits is a call of the tool emit.TYPE. An answer that breaks the form, a schema or the role is
// handed back to the mind, as often as there are rounds. A mind is never believed: tools, role and budget come from the
// file, and the episode checks each call again.
//
// Where its memory has grown too long and the file names a model for `summaries`, that model is asked for a summary,
// and for nothing else; what is none is handed back to it likewise.
//
// A question has room for 60 KiB. Facts that find none, those of the least confidence first, and then the oldest
// messages of its memory are left out of it; their numbers stand beside the rest (`leftOut`), in a thought of the run,
// and at its end. The agent keeps them.
//
// Pure and total, as agents/agent.h wants it.
#pragma once

#include <map>

#include "agents/data/agent_file.h"

namespace witan::agents {

// The one member of what stands for a mind's answer that cannot be used: why. Its mind is told.
inline constexpr std::string_view kUnusable = "unusable";

class DataAgent final : public Agent {
 public:
  // `version`: of the file. Errors: checkSpec.
  static Result<std::unique_ptr<DataAgent>> make(AgentFile file, std::string version);

  const AgentSpec& spec() const override { return spec_; }
  // DOMAIN.ROLE, or empty.
  const std::string& role() const { return file_.role; }
  Turn step(const json::value& sigma, const Input& input) const override;

 private:
  struct Wish {
    std::string call;  // a model's id of it
    std::string tool;
    json::object arguments;
    std::vector<std::string> targets;
    std::string goal = {};  // of a look without a tool
  };
  struct Learned {
    std::vector<Fact> facts;
    std::vector<GoalStep> goals;
  };

  DataAgent() = default;
  Turn onWake(const json::object& wake) const;
  Turn onObservations(json::object sigma, const json::array& seen) const;
  Turn onThought(json::object sigma, const json::object& thought) const;
  Turn onSummary(json::object sigma, const json::object& thought) const;
  Turn ask(json::object sigma) const;
  Turn again(json::object sigma, std::string_view why) const;
  Turn carryOut(json::object sigma, std::vector<Wish> wishes) const;
  json::object question(const json::object& sigma) const;
  // The question with as much of knowledge and memory as it has room for. Whether it fits.
  bool shorten(json::object sigma, json::object& asked, std::size_t& leftOut) const;
  static json::object foldQuestion(const json::object& sigma, std::int64_t maxTokens);
  Result<std::vector<Wish>> wishesOf(const json::object& thought) const;
  Status permitted(const Wish& wish) const;
  Result<Learned> learnedOf(const std::vector<Wish>& wishes, const json::object& thought) const;

  AgentFile file_;
  AgentSpec spec_;
  enum class Use { look, action, emit, learn };
  struct Known {
    Use use = Use::look;
    JsonValidator parameters;
  };
  std::map<std::string, Known, std::less<>> tools_;

  Use useOf(const Wish& wish) const { return wish.tool.empty() ? Use::look : tools_.find(wish.tool)->second.use; }
};

}  // namespace witan::agents
