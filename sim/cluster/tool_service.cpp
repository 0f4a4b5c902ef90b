#include "sim/cluster/tool_service.h"

#include <array>

#include "agents/host/agent_host.h"
#include "sim/cluster/cluster.h"

namespace witan::sim {

namespace {
constexpr Micros kToolMean = 200'000;   // until a tool answers
constexpr Micros kLate = 90 * kSecond;  // later than anybody waits
constexpr std::uint64_t kStubborn = 3;  // a call that was tried so often goes through, unless nothing ever does

std::uint64_t numberOf(const std::string& text) {
  const Hash hash = sha256(text);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | hash[i];
  return number;
}
}  // namespace

std::string ToolService::nameOf(const agents::ToolCall& call) {
  return call.operation ? call.operation->hex() : call.run.hex() + "/" + call.span;
}

void ToolService::call(Seat& at, agents::ToolCall call) {
  const std::uint32_t device = at.index();
  const std::string name = nameOf(call);
  const std::uint64_t times = ++c_.history().agents.toolCalls[name];
  const std::uint64_t chance = numberOf(concat(c_.plan().options.seed, name, times, at.name()));
  ToolAnswer answer{device, at.device->life(), std::move(call), ToolSays::done, {}};
  const bool mail = answer.call.operation.has_value();
  if (mail) c_.probe("mail goes out");
  const std::uint64_t percent = chance % 100;
  const bool poison = mail && numberOf(name) % 20 == 0;  // it never works
  Micros after = static_cast<Micros>(chance >> 8) % (2 * kToolMean);
  if (at.toolsDown > 0 || poison)
    answer.says = percent < 70 ? ToolSays::unreachable : ToolSays::nothing;
  else if (times <= kStubborn)
    answer.says = percent < 70   ? ToolSays::done
                  : percent < 80 ? ToolSays::refused
                  : percent < 90 ? ToolSays::unreachable
                                 : ToolSays::nothing;
  if (times <= kStubborn && percent >= 60 && percent < 65) after += kLate;
  c_.probe(concat("tool: ", enumName(answer.says)));
  c_.trace(device, "agents", "calls " + answer.call.tool, name);
  // The model, which answers differently each time.
  const bool sums = answer.call.tool == kSumTool;
  if (sums)
    answer.content = simSummary(answer.call.arguments), answer.tokens = 10;
  else if (!mail)
    answer.content = std::array{"brief", "long", "strange"}[(chance >> 40) % 3];
  if (!mail && !sums && (chance >> 50) % 16 == 0) answer.content = kForgedAnswer, c_.probe("answer that is refused");
  // Mostly as estimated; sometimes more; now and then more than the run has.
  if (!mail && !sums) answer.tokens = (chance >> 44) % 16 == 0 ? 10 * kClerkTokens : (chance >> 44) % 4 == 0 ? 30 : 10;
  if (answer.says == ToolSays::nothing) return;
  answers_.push_back(std::move(answer));
  c_.agenda().add(c_.agenda().now() + after, StepKind::tool, device, answers_.size() - 1);
}

void ToolService::arrived(std::uint64_t number) {
  const ToolAnswer& answer = answers_[number];
  Seat& at = c_.seat(answer.device);
  if (!at.running() || at.device->life() != answer.life) return;  // whoever asked is gone
  c_.put(answer.device, {.kind = Arrival::Kind::tool, .event = number});
}

void ToolService::hand(Seat& at, const ToolAnswer& answer) {
  agents::AgentHost* host = at.replica().agents();
  const Now now = at.device->now(c_.agenda().now());
  const bool done = answer.says == ToolSays::done;
  if (!answer.call.operation) {
    agents::episode::Observation seen;
    seen.ok = done;
    seen.tokens = answer.tokens;
    if (done)
      seen.content = answer.content;
    else
      seen.error = "the model is not there";
    const Status heard = host->observed(answer.call.run, answer.call.span, std::move(seen));
    if (!heard.ok()) c_.trace(at.index(), "agents", "answer refused", heard.error().message);
    return;
  }
  const OperationId& operation = *answer.call.operation;
  if (done)
    host->answered(operation, {replication::OperationOutcome::applied, R"({"sent":true})"}, now);
  else if (answer.says == ToolSays::refused)
    host->failed(operation, invalid("no such address"), now);
  else if (answer.call.tool == kOnceTool)  // it may have got there
    host->doubted(operation, unavailable("the server is gone"), now);
  else
    host->failed(operation, unavailable("the server is not there"), now);
}

}  // namespace witan::sim
