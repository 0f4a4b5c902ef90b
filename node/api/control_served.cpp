// Programs that are the minds of agents of this device: each takes its questions from a stream of events, and posts its
// answers (docs/tools.md). Nothing that a program says is done but as the agent's file permits.
#include "base/quote.h"
#include "node/api/control_routes.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(ServeRequest, (std::string, agent, "Id of the agent: its file says served = true", 1))

WITAN_STRUCT(ServedQuestion, (std::string, question, "Id of the question, for its answer"),
             (json::value, asked, "What an agent's program is asked: agent, round, wake, entries, observations"))

WITAN_STRUCT(ServedAnswer, (std::string, agent, "Id of the agent", 1), (std::string, question, "Id of the question", 1),
             (json::value, answer, "An object with looks, actions, emits, answer or failed", 1))

WITAN_STRUCT(AnswerTaken, (bool, taken, "Whether the question still waited; false: it was answered, or given up"))

Result<ServedPort*> portOf(Daemon& daemon, const std::string& agent) {
  if (daemon.stopping()) return unavailable("the node is stopping", "try again when it is back");
  ServedPort* port = daemon.tools() != nullptr ? daemon.tools()->served(agent) : nullptr;
  if (port == nullptr)
    return notFound("there is no agent " + inQuotes(agent) + " here whose program comes to the node",
                    "served = true in agents/ID.agent.toml, and [agents] run in witan.toml");
  return port;
}

void serve(const ApiContext& context, const ServeRequest& request) {
  Daemon& daemon = context.daemon;
  const auto port = portOf(daemon, request.agent);
  if (!port.ok()) return context.responder.refuse(port.error());
  const std::shared_ptr<net::HttpStream> stream = context.responder.reply->stream({});
  const std::uint64_t program = (*port)->attach([stream](const std::string& question, const json::object& asked) {
    stream->send("question", toJson(ServedQuestion{question, asked}), question);
  });
  stream->onGone([&daemon, agent = request.agent, program] {
    if (const auto gone = portOf(daemon, agent); gone.ok()) (*gone)->detach(program);
  });
  daemon.scheduleTick();  // wakes have waited for it
}

Result<AnswerTaken> answer(const ApiContext& context, const ServedAnswer& given) {
  WITAN_TRY(port, portOf(context.daemon, given.agent));
  WITAN_TRY(taken, port->answer(given.question, given.answer));
  return AnswerTaken{taken};
}

}  // namespace

std::vector<ControlRoute> servedRoutes() {
  using enum ControlRole;
  return {
      streamRoute<ServedQuestion>({"GET",
                                   "/v1/agent/serve",
                                   "serveAgent",
                                   "agents",
                                   operator_,
                                   "Questions to an agent's program as server-sent events, each a ServedQuestion; its "
                                   "wakes wait while no program is here",
                                   {404},
                                   "text/event-stream"},
                                  serve),
      post("/v1/agent/answer", "answerForAgent", "agents", operator_,
           "The program's answer to a question; the first one counts", answer, {400, 404})};
}

}  // namespace witan::node::api
