// ServedPort: the way to the mind of an agent whose program comes to this node and asks for questions (docs/tools.md,
// Programs). A question waits for a program, goes to one of those that are here, and, if that one leaves without an
// answer, to another. Its id derives from what is asked, so that an answer still counts after this node began anew, and
// from how often that was answered, so that one that comes late is none to the same question asked again.
//
// Belongs to the loop's thread. Calls nobody when it is destroyed.
#pragma once

#include <map>

#include "node/tools/tool_port.h"

namespace witan::node {

class ServedPort final : public ToolPort {
 public:
  using Ask = std::function<void(const std::string& question, const json::object& asked)>;

  explicit ServedPort(const ToolConfig& config) : config_(config) {}

  void call(std::uint64_t key, ToolRequest request, Done done) override;
  void cancel(std::uint64_t key) override;

  // A program is here: `ask` gets each of its questions, the first perhaps at once. Returned: for detach().
  std::uint64_t attach(Ask ask);
  void detach(std::uint64_t program);
  bool attended() const { return !programs_.empty(); }
  // False: nobody waits for it any more. Errors: it is larger than an answer may be; the question still waits.
  Result<bool> answer(std::string_view question, json::value answer);

 private:
  struct Question {
    json::object asked;
    std::map<std::uint64_t, Done> waiting;
    std::uint64_t program = 0;  // that it went to; 0: none
  };

  void hand(const std::string& id, Question& question);

  const ToolConfig& config_;
  std::map<std::string, Question, std::less<>> questions_;
  std::map<std::string, std::uint64_t, std::less<>> answered_;  // by digest of what was asked: how often
  std::map<std::uint64_t, Ask> programs_;
  std::uint64_t next_ = 1;
};

}  // namespace witan::node
