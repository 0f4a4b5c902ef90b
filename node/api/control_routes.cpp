#include "node/api/control_routes.h"

namespace witan::node {

using namespace control;
using Form = ParameterForm;

const std::vector<ControlRoute>& controlRoutes() {
  constexpr auto observer = ControlRole::observer, operator_ = ControlRole::operator_;
  constexpr auto counselor = ControlRole::counselor, admin = ControlRole::admin;
  static const std::vector<ControlRoute> routes{
      {"GET", "/livez", {}, "Whether the process works; 503 after its store has failed", {}, livez},
      {"GET", "/readyz", {}, "Whether it serves", {{"verbose", "each check with its state"}}, readyz},
      {"GET", "/metrics", observer, "Prometheus text format", {}, metrics},
      {"GET", "/v1/openapi.json", observer, "This document", {}, openApiDocument},
      {"GET", "/v1/status", observer, "The node in one object", {}, status},
      {"GET",
       "/v1/incidents",
       observer,
       "What an operator should know: surplus, forks, restores, quarantines",
       {},
       incidents},
      {"POST",
       "/v1/log",
       operator_,
       "Changes the log level",
       {{"level", "debug, info, warn or error", Form::filled, true}},
       logLevel},
      {"GET", "/v1/devices", observer, "The roster", {}, devices},
      {"GET", "/v1/devices/pending", observer, "Devices that wait to be approved", {}, pendingDevices},
      {"POST",
       "/v1/devices/invite",
       admin,
       "A token with which a device may join",
       {{"roles", "list of roles; none: ledger and *", Form::list},
        {"scopes", "list of scopes; none: all", Form::list},
        {"ttlSeconds", "how long it is good for; 900", Form::number},
        {"uses", "how often; 1", Form::number},
        {"addresses", "where the device shall find this one; default: where it listens", Form::list}},
       invite},
      {"POST",
       "/v1/devices/approve",
       admin,
       "Makes a pending device a member",
       {{"device", "its id or name", Form::filled, true},
        {"roles", "list of roles; none: ledger and *", Form::list},
        {"scopes", "list; none: all", Form::list}},
       approve},
      {"POST",
       "/v1/devices/deny",
       admin,
       "Turns a pending device away for good",
       {{"device", "its id or name", Form::filled, true}},
       deny},
      {"POST",
       "/v1/devices/revoke",
       admin,
       "Takes a member out, at once and everywhere",
       {{"device", "its id or name", Form::filled, true}, {"reason", "for the roster"}},
       revoke},
      {"POST",
       "/v1/devices/roles",
       admin,
       "Gives a member other roles",
       {{"device", "its id or name", Form::filled, true},
        {"roles", "list of roles; [] takes all away", Form::list, true}},
       setRoles},
      {"POST", "/v1/devices/rotate-key", admin, "Gives this device a new key; its id stays", {}, rotateKey},
      {"GET", "/v1/peers", observer, "Links to the other members", {}, peers},
      {"POST",
       "/v1/peers/cut",
       operator_,
       "Drops the link and keeps it down, for drills",
       {{"device", "id or name", Form::filled, true}},
       cutPeer},
      {"POST",
       "/v1/peers/heal",
       operator_,
       "Lets the link come back",
       {{"device", "id or name", Form::filled, true}},
       healPeer},
      {"GET", "/v1/partitions", observer, "Who decides for what", {{"domain", "of this domain only"}}, partitions},
      {"POST",
       "/v1/partitions/move",
       operator_,
       "Hands a partition over to another device",
       {{"partition", "DOMAIN/NUMBER", Form::filled, true},
        {"device", "id or name", Form::filled, true},
        {"reason", "for the ledger"}},
       movePartition},
      {"POST",
       "/v1/partitions/seize",
       operator_,
       "Takes a partition over without its owner",
       {{"partition", "DOMAIN/NUMBER", Form::filled, true}, {"reason", "for the ledger"}},
       seizePartition},
      {"POST",
       "/v1/propose",
       operator_,
       "Proposes an action; answers when the decision is durable",
       {{"domain", "which", Form::filled, true},
        {"entity", "of which", Form::filled, true},
        {"role", "in which role", Form::filled, true},
        {"action", "{\"type\":...}", Form::object, true},
        {"operationId", "the same again is answered, not done again; default: derived", Form::filled},
        {"waitMs", "how long to wait for the answer; 10000", Form::number}},
       propose},
      {"POST",
       "/v1/entities",
       operator_,
       "Begins an entity",
       {{"domain", "which", Form::filled, true},
        {"entity", "its id", Form::filled, true},
        {"init", "its first fields; the others take their defaults", Form::object},
        {"operationId", "as for proposals", Form::filled},
        {"waitMs", "how long to wait; 10000", Form::number}},
       begin},
      {"GET", "/v1/queue", observer, "What waits for a counselor", {{"domain", "of this domain only"}}, queue},
      {"POST",
       "/v1/queue/decide",
       counselor,
       "A counselor's decision on exactly what was shown",
       {{"domain", "which", Form::filled, true},
        {"entity", "of which", Form::filled, true},
        {"counselor", "who decides", Form::filled, true},
        {"decision", "commit or reject", Form::filled, true},
        {"digest", "of what was shown: the decision is of exactly that", Form::filled, true},
        {"base", "candidate or current"},
        {"edit", "{\"field\":value}", Form::object},
        {"reason", "for the ledger"},
        {"operationId", "default: derived from the digest", Form::filled},
        {"waitMs", "how long to wait; 10000", Form::number}},
       decide},
      {"GET", "/v1/outbox", observer, "Requests of this device that wait for an answer", {}, outbox},
      {"POST",
       "/v1/feed",
       operator_,
       "A journal entry, or something said to an agent (docs/agents.md, Feeds)",
       {{"at", "when it happened (RFC 3339), the time that a journal entry bears; default: now"},
        {"id", "of the entry"},
        {"type", "of the entry"},
        {"payload", "of the entry", Form::any},
        {"agent", "whom it is said to"},
        {"session", "of the talk"},
        {"turn", "of the talk"},
        {"text", "what is said"}},
       feed},
      {"GET",
       "/v1/ledger",
       observer,
       "Entries of this device's copies, newest last",
       {{"domain", "of this domain only"},
        {"partition", "of this one only"},
        {"entity", "of this one only"},
        {"after", "the oldest after this number, of one partition; without it the newest"},
        {"limit", "how many; 20, at most 10000"}},
       ledger},
      {"GET",
       "/v1/ledger/stream",
       observer,
       "New entries as server-sent events",
       {{"domain", "of this domain only"}, {"entity", "of this one only"}},
       ledgerStream},
      {"GET",
       "/v1/ledger/verify",
       observer,
       "Checks every ledger kept here",
       {{"replay", "true: decides every entry again"}},
       ledgerVerify},
      {"GET",
       "/v1/slice",
       observer,
       "What a role sees of an entity",
       {{"domain", "which", Form::filled, true},
        {"entity", "of which", Form::filled, true},
        {"role", "which; none: everything, if this device keeps the ledger"}},
       slice},
      {"POST",
       "/v1/backup",
       operator_,
       "Copies the node's data to a new folder of its machine, while it works",
       {{"to", "absolute path of a folder that does not exist yet, or is empty", Form::filled, true},
        {"keys", "true: the secrets too, for an admin", Form::yes}},
       backup},
      {"POST",
       "/v1/command",
       observer,
       "Carries out a command line on the running node; its role depends on the command",
       {{"argv", "list of words, without the program's name", Form::list, true}},
       command},
  };
  return routes;
}

json::object openApi() {
  json::object paths;
  for (const ControlRoute& route : controlRoutes()) {
    json::object operation{{"summary", route.what},
                           {"operationId", std::string(route.handle == nullptr ? "" : route.path).substr(1)}};
    const bool get = *route.method == 'G';
    json::array parameters;
    json::object members;
    json::array needed;
    for (const ControlParameter& one : route.parameters) {
      if (get) {
        parameters.push_back({{"name", one.name},
                              {"in", "query"},
                              {"required", one.needed},
                              {"description", one.meaning},
                              {"schema", {{"type", "string"}}}});
        continue;
      }
      json::object& member = (members[one.name] = json::object{{"description", one.meaning}}).get_object();
      if (const char* type = wordOf(one.form); *type != 0) member["type"] = type;
      if (one.form == Form::filled) member["minLength"] = 1;
      if (one.needed) needed.emplace_back(one.name);
    }
    if (get) operation["parameters"] = parameters;
    if (!get)
      operation["requestBody"] = {{"required", !needed.empty()},
                                  {"content",
                                   {{"application/json",
                                     {{"schema",
                                       {{"type", "object"},
                                        {"additionalProperties", false},
                                        {"required", needed},
                                        {"properties", members}}}}}}}};
    operation["responses"] = {
        {"200", {{"description", "done"}}},
        {"default",
         {{"description", "an error"},
          {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}}}};
    operation["security"] =
        route.role ? json::array{json::object{{"bearer", json::array{wordOf(*route.role)}}}} : json::array{};
    if (!paths.contains(route.path)) paths[route.path] = json::object{};
    paths[route.path].as_object()[get ? "get" : "post"] = std::move(operation);
  }
  const json::object text{{"type", "string"}};
  const json::object error{
      {"type", "object"},
      {"properties",
       {{"error", {{"type", "object"}, {"properties", {{"code", text}, {"message", text}, {"hint", text}}}}}}}};
  return {
      {"openapi", "3.1.0"},
      {"info", {{"title", "Witan node"}, {"version", WITAN_VERSION}}},
      {"paths", paths},
      {"components",
       {{"schemas", {{"Error", error}}}, {"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace witan::node
