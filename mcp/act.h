// Act: one call of a client against a node, step by step: requests of the control API until there is an outcome.
//
//   Act act(catalogue, seals, call);
//   for (Step step = act.begin(nowMs);;) {
//     if (auto* outcome = std::get_if<Outcome>(&step)) return *outcome;
//     step = act.answered(carryOut(std::get<ApiRequest>(step)), nowMs);
//   }
//
// A proposal that escalates asks the client's counselor, if the authority names one and the client can show a form; the
// counselor's answer comes back with the same call. Catalogue and seals outlive it.
#pragma once

#include <variant>

#include "mcp/catalogue.h"
#include "mcp/seals.h"

namespace witan::mcp {

using Step = std::variant<ApiRequest, Outcome>;

class Act {
 public:
  Act(const Catalogue& catalogue, Seals& seals, Call call)
      : catalogue_(catalogue), seals_(seals), call_(std::move(call)) {}

  Step begin(std::int64_t nowMs);
  Step answered(const Result<json::value>& answer, std::int64_t nowMs);

 private:
  enum class Waiting { answer, queue, preview, decision };

  Step read();
  Step decide(std::int64_t nowMs);
  Step escalated(const json::value& queue);
  Outcome previewed(const Result<json::value>& preview, std::int64_t nowMs);
  Outcome ask(json::object pending, std::int64_t nowMs);
  bool maySettle(const json::value& answer) const;
  std::string binding() const;

  const Catalogue& catalogue_;
  Seals& seals_;
  const Call call_;
  const Tool* tool_ = nullptr;
  ApiRequest request_;
  json::value answer_;    // of the proposal
  json::object pending_;  // of the queue: what is to be decided
  Waiting waiting_ = Waiting::answer;
};

}  // namespace witan::mcp
