// The minds of agents whose program is their own: one that the node starts and keeps, and one that comes to the node.
#include <algorithm>
#include <optional>

#include "agents/data/data_agent.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "net/child_process.h"
#include "node/tools/program_answer.h"
#include "node/tools/served_port.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

using Kind = ToolAnswer::Kind;

constexpr std::size_t kMostProgramLine = 1 << 20, kMostLastWords = 512;
constexpr std::size_t kMostWords = 4 << 20;    // beside its answers, for one question
constexpr std::size_t kMostAnswered = 10'000;  // questions of which it is known how often they were answered
constexpr std::int64_t kFirstRestMs = 100, kLastRestMs = 10'000;
constexpr unsigned kMostStarts = 3;  // for one question

// A question is a line on stdin, its answer the next line on stdout that begins with a brace; other lines are for the
// log. What it is asked changes nothing, so a program that ends is asked again when it has been started anew.
class ProgramPort final : public ToolPort {
 public:
  explicit ProgramPort(PortSetup setup) : setup_(std::move(setup)) {}
  ~ProgramPort() override { setup_.loop.cancel(timer_); }

  void call(std::uint64_t key, ToolRequest request, Done done) override {
    if (done_) return done({Kind::notDone, nullptr, "the program thinks about something else"});
    key_ = key, done_ = std::move(done), starts_ = 0;
    name_ = std::to_string(++asked_);
    request.arguments[kQuestionMember] = name_;
    question_ = canonicalJson(request.arguments) + "\n";
    ask();
  }

  void cancel(std::uint64_t key) override {
    if (!done_ || key != key_) return;
    done_ = nullptr;
    child_.reset();  // its answer would be taken for one to the next question
  }

 private:
  void ask() {
    const std::int64_t wait = child_ ? 0 : notBeforeMs_ - net::Loop::nowMs();
    if (wait > 0) {
      setup_.loop.cancel(timer_);
      timer_ = setup_.loop.after(wait, [this] {
        if (done_) ask();
      });
      return;
    }
    if (!child_ && !start()) return;
    if (const Status sent = child_->send(question_); !sent.ok()) over(sent.error().message);
  }

  bool start() {
    lines_.emplace(kMostProgramLine), errors_.clear(), words_ = 0;
    ++starts_;
    net::ChildEvents events{
        .out = [this](std::string_view bytes) { took(bytes); },
        .err =
            [this](std::string_view bytes) {
              errors_ += bytes;
              errors_.erase(0, errors_.size() - std::min(errors_.size(), kMostLastWords));
              heard(bytes);
            },
        .ended = [this](const std::string& how) { over("the program has ended: " + how); },
    };
    auto child = net::ChildProcess::start(setup_.loop,
                                          {.command = setup_.config.command,
                                           .environment = environmentOf(setup_),
                                           .network = setup_.config.network,
                                           .memoryBytes = static_cast<std::uint64_t>(setup_.config.memoryMb) << 20},
                                          std::move(events));
    if (!child.ok()) return finish({Kind::notDone, nullptr, child.error().message}), false;
    child_ = *std::move(child);
    return true;
  }

  void took(std::string_view bytes) {
    while (const auto line = lines_->next(bytes)) {
      if (line->overlong) return over("the program writes a line of more than 1 MiB");
      if (line->text.empty()) continue;
      if (line->text.front() != '{') {
        if (!heard(line->text)) return;
        continue;
      }
      auto answer = parseJson(line->text, {.bytes = kMostProgramLine, .depth = 40});
      if (answer.ok() && !isAnswerTo(done_ ? name_ : "", *answer)) {
        if (!heard("its answer to another question is passed over")) return;
        continue;
      }
      if (!done_) return over("the program answers what it was not asked");
      pauseMs_ = 0, words_ = 0;
      const Status good = answer.ok() ? checkResult(setup_.config, *answer) : Status(answer.error());
      if (!good.ok()) setup_.say(concat("its answer cannot be used: ", good.error().message));
      // What is no answer is asked for again, and the program is told why.
      finish({Kind::done, good.ok() ? *std::move(answer) : json::value{{agents::kUnusable, good.error().message}}, ""});
    }
    if (lines_->passedOver() > kMostProgramLine) over("the program writes a line of more than 1 MiB");
  }

  // False: it has written too much, and was ended.
  bool heard(std::string_view words) {
    words_ += words.size() + 1;
    if (words_ > kMostWords) return over("the program writes more than 4 MiB that is no answer"), false;
    return setup_.say(clip(words, kMostLastWords)), true;
  }

  void over(const std::string& why) {
    child_.reset();
    pauseMs_ = std::clamp(pauseMs_ * 2, kFirstRestMs, kLastRestMs);
    notBeforeMs_ = net::Loop::nowMs() + pauseMs_;
    if (!done_) return setup_.say(why);
    if (starts_ < kMostStarts) return ask();
    const std::size_t last = errors_.find_last_not_of("\r\n");
    const std::string words = last == errors_.npos || !isUtf8(errors_) ? "" : ": " + errors_.substr(0, last + 1);
    finish({Kind::failed, nullptr, why + words});
  }

  void finish(ToolAnswer answer) {
    const Done done = std::exchange(done_, nullptr);
    done(std::move(answer));
  }

  const PortSetup setup_;
  std::unique_ptr<net::ChildProcess> child_;
  std::optional<LineCutter> lines_;  // of the program that runs
  std::string question_, name_, errors_;
  std::size_t words_ = 0;
  std::uint64_t key_ = 0, asked_ = 0;
  Done done_;
  unsigned starts_ = 0;
  std::int64_t pauseMs_ = 0, notBeforeMs_ = 0;
  net::Loop::TimerId timer_ = 0;
};

}  // namespace

std::unique_ptr<ToolPort> programPort(PortSetup setup) { return std::make_unique<ProgramPort>(std::move(setup)); }

void ServedPort::call(std::uint64_t key, ToolRequest request, Done done) {
  std::string id = callDigest(request.operation, request.arguments).substr(0, 32);
  if (const auto before = answered_.find(id); before != answered_.end()) id += concat("-", before->second);
  Question& question = questions_[id];
  question.asked = std::move(request.arguments);
  question.waiting.emplace(key, std::move(done));
  if (question.program == 0) hand(id, question);
}

void ServedPort::cancel(std::uint64_t key) {
  for (auto at = questions_.begin(); at != questions_.end();) {
    at->second.waiting.erase(key);
    at = at->second.waiting.empty() ? questions_.erase(at) : std::next(at);
  }
}

// To the program that has the fewest.
void ServedPort::hand(const std::string& id, Question& question) {
  const auto busy = [&](const auto& program) {
    return std::ranges::count_if(questions_, [&](const auto& one) { return one.second.program == program.first; });
  };
  const auto free = std::ranges::min_element(programs_, {}, busy);
  question.program = free == programs_.end() ? 0 : free->first;
  if (question.program != 0) free->second(id, question.asked);
}

std::uint64_t ServedPort::attach(Ask ask) {
  programs_.emplace(next_, std::move(ask));
  for (auto& [id, question] : questions_)
    if (question.program == 0) hand(id, question);
  return next_++;
}

void ServedPort::detach(std::uint64_t program) {
  programs_.erase(program);
  for (auto& [id, question] : questions_)
    if (question.program == program) hand(id, question);
}

Result<bool> ServedPort::answer(std::string_view question, json::value answer) {
  const auto found = questions_.find(question);
  if (found == questions_.end()) return false;
  if (const Status good = checkResult(config_, answer); !good.ok())
    return invalid("answer: " + good.error().message, "the question still waits: answer it in fewer words");
  const auto node = questions_.extract(found);
  if (answered_.size() >= kMostAnswered) answered_.clear();
  ++answered_[node.key().substr(0, node.key().find('-'))];
  for (const auto& [key, done] : node.mapped().waiting) done({Kind::done, answer, ""});
  return true;
}

}  // namespace witan::node
