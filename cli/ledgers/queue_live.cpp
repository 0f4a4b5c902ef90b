#include "cli/ledgers/queue_live.h"

#include "base/quote.h"

namespace witan::node {

namespace {

std::string idOf(const json::value& pending) { return shown(pending, "partition") + "/" + shown(pending, "seq"); }

std::string line(const json::value& p) {
  return idOf(p) + "  " + shown(p, "at") + "  " + shown(p, "entity") + "  " + shown(p, "role") + "  " +
         shown(p, "invariant") + ": " + shown(p, "message") + "\n";
}

Result<json::value> find(const ControlClient& client, const std::string& which) {
  WITAN_TRY(answer, client.get("/v1/queue"));
  const json::value* found = nullptr;
  for (const json::value& pending : rowsOf(answer, "queue")) {
    const bool fits = which == idOf(pending) || which == shown(pending, "entity") ||
                      (which.size() >= 8 && shown(pending, "digest").starts_with(which));
    if (!fits) continue;
    if (found != nullptr) return Error{ErrorCode::conflict, inQuotes(which) + " fits several", "see: witan queue list"};
    found = &pending;
  }
  if (found == nullptr)
    return Error{ErrorCode::notFound, "nothing is pending under " + inQuotes(which), "see: witan queue list"};
  return *found;
}

std::string details(const json::value& p) {
  std::string text = "entry     " + idOf(p) + "  (" + shown(p, "entity") + ", frozen since " + shown(p, "at") + ")\n" +
                     "proposed  by role " + shown(p, "role") +
                     (shown(p, "agent") == "-" ? "" : ", agent " + shown(p, "agent")) + ": " + shown(p, "action") +
                     "\n" + "asks for  " + shown(p, "invariant") + ": " + shown(p, "message") + "\n";
  for (const json::value& finding : rowsOf(p, "findings"))
    if (shown(finding, "invariant") != shown(p, "invariant"))
      text += "also      " + shown(finding, "result") + " " + shown(finding, "invariant") + ": " +
              shown(finding, "message") + "\n";
  std::string who;
  for (const json::value& counselor : rowsOf(p, "counselors"))
    who += (who.empty() ? "" : ", ") + std::string(counselor.as_string());
  return text + "state     " + shown(p, "state") + "\ndigest    " + shown(p, "digest") + "\ncounselor " +
         (who.empty() ? std::string("none is authorised") : who) + "\napprove   witan queue approve " + idOf(p) +
         " --counselor NAME --digest " + shown(p, "digest") + " --edit '{...}' --reason '...'\n";
}

}  // namespace

Result<int> liveQueue(const ControlClient& client, bool json) {
  WITAN_TRY(answer, client.get("/v1/queue"));
  std::string text;
  for (const json::value& pending : rowsOf(answer, "queue"))
    text += json ? canonicalJson(pending) + "\n" : line(pending);
  if (text.empty() && !json) text = "nothing waits for a counselor\n";
  json ? putOut(text) : putWords(text);
  return kExitOk;
}

Result<int> livePending(const ControlClient& client, const std::string& which, bool json) {
  WITAN_TRY(pending, find(client, which));
  return print(pending, json, details);
}

Result<int> liveDecide(const ControlClient& client, const std::string& which, const LiveDecision& d, bool commit,
                       bool json) {
  WITAN_TRY(pending, find(client, which));
  WITAN_TRY(edit, parseJson(d.edit));
  json::object body{{"domain", shown(pending, "domain")},
                    {"entity", shown(pending, "entity")},
                    {"counselor", d.counselor},
                    {"decision", commit ? "commit" : "reject"},
                    {"digest", d.digest.empty() ? shown(pending, "digest") : d.digest},
                    {"reason", d.reason}};
  if (commit) body["base"] = d.base, body["edit"] = edit;
  if (!d.operationId.empty()) body["operationId"] = d.operationId;
  WITAN_TRY(answer, client.post("/v1/queue/decide", body));
  if (shown(answer, "outcome") == "refused")
    return Error{ErrorCode::conflict, "refused: " + shown(answer, "message"), "see: witan queue show " + which};
  return print(answer, json, [](const json::value& a) {
    std::string text = shown(a, "outcome");
    if (a.get_object().contains("safe")) text += isTrue(a, "safe") ? ", safe" : ", UNSAFE";
    if (shown(a, "ledgerSeq") != "-") text += ", entry " + shown(a, "ledgerSeq");
    return text + (shown(a, "message") == "-" ? "" : ": " + shown(a, "message")) + "\n";
  });
}

}  // namespace witan::node
