// The minds of agents whose program is their own: one that the node starts and keeps, and one that comes to the node.
#include <algorithm>
#include <optional>

#include "base/quote.h"
#include "base/utf8.h"
#include "net/child_process.h"
#include "node/tools/served_port.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

using Kind = ToolAnswer::Kind;

constexpr std::size_t kMostProgramLine = 1 << 20, kMostLastWords = 512;
constexpr std::int64_t kFirstRestMs = 100, kLastRestMs = 10'000;
constexpr unsigned kMostStarts = 3;  // for one question

ToolAnswer answerIn(std::string_view line) {
  auto value = parseJson(line, {.bytes = kMostProgramLine, .depth = 40});
  if (!value.ok()) return {Kind::done, json::value(concat("no JSON: ", value.error().message)), ""};
  return {Kind::done, *std::move(value), ""};
}

// A question is a line on stdin, its answer the next line on stdout that begins with a brace; other lines are for the
// log. What it is asked changes nothing, so a program that ends is asked again when it has been started anew.
class ProgramPort final : public ToolPort {
 public:
  explicit ProgramPort(PortSetup setup) : setup_(std::move(setup)) {}
  ~ProgramPort() override { setup_.loop.cancel(timer_); }

  void call(std::uint64_t key, ToolRequest request, Done done) override {
    if (done_) return done({Kind::notDone, nullptr, "the program thinks about something else"});
    key_ = key, done_ = std::move(done), starts_ = 0;
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
    lines_.emplace(kMostProgramLine), errors_.clear();
    ++starts_;
    net::ChildEvents events{
        .out = [this](std::string_view bytes) { took(bytes); },
        .err =
            [this](std::string_view bytes) {
              setup_.say(clip(bytes, kMostLastWords));
              errors_ += bytes;
              errors_.erase(0, errors_.size() - std::min(errors_.size(), kMostLastWords));
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
        setup_.say(clip(line->text, kMostLastWords));
        continue;
      }
      if (!done_) return over("the program answers what it was not asked");
      pauseMs_ = 0;
      finish(answerIn(line->text));
    }
    if (lines_->passedOver() > kMostProgramLine) over("the program writes a line of more than 1 MiB");
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
  std::string question_, errors_;
  std::uint64_t key_ = 0;
  Done done_;
  unsigned starts_ = 0;
  std::int64_t pauseMs_ = 0, notBeforeMs_ = 0;
  net::Loop::TimerId timer_ = 0;
};

}  // namespace

std::unique_ptr<ToolPort> programPort(PortSetup setup) { return std::make_unique<ProgramPort>(std::move(setup)); }

void ServedPort::call(std::uint64_t key, ToolRequest request, Done done) {
  const std::string id = callDigest(request.operation, request.arguments).substr(0, 32);
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

bool ServedPort::answer(std::string_view question, ToolAnswer answer) {
  const auto found = questions_.find(question);
  if (found == questions_.end()) return false;
  const auto node = questions_.extract(found);
  for (const auto& [key, done] : node.mapped().waiting) done(answer);
  return true;
}

}  // namespace witan::node
