// `witan agent serve`: a program on stdin and stdout as the mind of an agent of a running node (docs/tools.md).
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "base/quote.h"
#include "base/utf8.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "net/child_process.h"
#include "node/tools/program_answer.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

struct ServeArguments : LiveArguments {
  std::string agent;
  std::vector<std::string> program;
};

constexpr std::size_t kMostLine = 1 << 20;
constexpr std::int64_t kMostThoughtMs = 240'000;  // the node waits no longer

// Who answers: a line for a line.
class Mind {
 public:
  virtual ~Mind() = default;
  virtual Result<json::value> answer(const std::string& name, const std::string& question) = 0;
};

Result<json::value> answerIn(std::string_view line) {
  auto answer = parseJson(line, {.bytes = kMostLine, .depth = 40});
  if (!answer.ok()) return invalid("the answer is no JSON: " + answer.error().message, "an object in one line");
  return answer;
}

// The program that has started this one.
class ParentMind final : public Mind {
 public:
  Result<json::value> answer(const std::string& name, const std::string& question) override {
    putOut(question + "\n");
    std::cout.flush();
    for (std::string line; std::getline(std::cin, line);) {
      WITAN_TRY(answer, answerIn(line));
      if (isAnswerTo(name, answer)) return answer;
    }
    return unavailable("no answer on stdin: it has ended");
  }
};

class ChildMind final : public Mind {
 public:
  static Result<std::unique_ptr<Mind>> start(const std::vector<std::string>& command) {
    auto mind = std::make_unique<ChildMind>();
    std::vector<std::string> environment;
    for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
    net::ChildEvents events{.out = [m = mind.get()](std::string_view bytes) { m->took(bytes); },
                            .err = [](std::string_view bytes) { putErr(bytes); },
                            .ended = [m = mind.get()](const std::string& how) { m->ended_ = how; }};
    WITAN_SET(mind->child_,
              net::ChildProcess::start(mind->loop_, {.command = command, .environment = std::move(environment)},
                                       std::move(events)));
    return std::unique_ptr<Mind>(std::move(mind));
  }

  Result<json::value> answer(const std::string& name, const std::string& question) override {
    answers_.clear();
    name_ = name;
    if (const Status sent = child_->send(question + "\n"); !sent.ok()) return sent.error();
    if (!loop_.runUntil([&] { return !answers_.empty() || !ended_.empty(); }, kMostThoughtMs))
      return unavailable("the program does not answer");
    if (answers_.empty()) return unavailable("the program has ended: " + ended_);
    return std::move(answers_.front());
  }

 private:
  // As of an agent's own program: what begins with no brace is for people.
  void took(std::string_view bytes) {
    while (const auto line = lines_.next(bytes)) {
      if (line->overlong)
        ended_ = "a line of more than 1 MiB";
      else if (line->text.starts_with('{')) {
        auto answer = answerIn(line->text);
        if (!answer.ok() || isAnswerTo(name_, *answer)) answers_.push_back(std::move(answer));
      } else if (!line->text.empty())
        putErr(std::string(line->text) + "\n");
    }
  }

  net::Loop loop_;
  LineCutter lines_{kMostLine};
  std::vector<Result<json::value>> answers_;
  std::string name_, ended_;
  std::unique_ptr<net::ChildProcess> child_;
};

Status answerOne(const ControlClient& client, const ServeArguments& a, Mind& mind, std::string_view event) {
  WITAN_TRY(told, parseJson(event, {.bytes = 4 * kMostLine, .depth = 60}));
  json::object asked = told.at("asked").as_object();
  asked[kQuestionMember] = told.at("question");
  WITAN_TRY(answer, mind.answer(std::string(told.at("question").as_string()), canonicalJson(asked)));
  WITAN_TRY(taken, client.post("/v1/agent/answer",
                               {{"agent", a.agent}, {"answer", std::move(answer)}, {"question", told.at("question")}}));
  (void)taken;
  return okStatus();
}

// A node that goes is waited for; a program that goes ends it.
Result<int> serve(const ServeArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  std::unique_ptr<Mind> mind = std::make_unique<ParentMind>();
  if (!a.program.empty()) WITAN_SET(mind, ChildMind::start(a.program));
  Status over = okStatus();
  for (bool was = false; over.ok();) {
    auto client = ControlClient::open(dir);
    Status ended = client.ok() ? okStatus() : Status(client.error());
    if (client.ok())
      ended = client->events("/v1/agent/serve?agent=" + net::percentEncoded(a.agent), [&](std::string_view event) {
        was = true;
        over = answerOne(*client, a, *mind, event);
        if (!over.ok() && over.error().code == ErrorCode::unavailable && !runningNode(dir)) over = okStatus();
        return over.ok();
      });
    was = was || ended.ok();
    if (over.ok() && !ended.ok() && (!was || ended.error().code != ErrorCode::unavailable)) return ended.error();
    if (over.ok()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  return over.error();
}

}  // namespace

void addAgentServeCommand(Command& noun) {
  const auto [command, a] = addVerb<ServeArguments>(
      noun, "serve", "Let a program think for an agent of a running node, as JSON Lines", "", serve);
  command->option("AGENT", a->agent, "Which: its file says served = true")->required();
  command->option("PROGRAM", a->program,
                  "A program and its arguments, after --: it reads a question a line, and writes an answer a line; "
                  "default: stdin and stdout of this command");
  command->footer(
      "It ends when the program does, and waits for a node that is gone.\n"
      "Example: witan agent serve clerk -- sh clerk.sh");
}

}  // namespace witan::node
