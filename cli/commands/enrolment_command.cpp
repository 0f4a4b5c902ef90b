// `witan device invite|invitations|uninvite|pending|approve|deny|accept-key|revoke|roles|roster` on a running node: who
// belongs to the cluster.
#include <charconv>

#include "base/quote.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/cluster/roster.h"
#include "node/enrolment/enrolment_service.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

struct EnrolArguments : LiveArguments {
  std::string device, reason, ttl = "15m";
  std::vector<std::string> roles, scopes, addresses;
  std::optional<std::string> site;
  std::uint64_t uses = 1;
  bool deny = false, all = false;
};

json::array listOf(const std::vector<std::string>& items) {
  json::array list;
  for (const std::string& item : items) list.emplace_back(item);
  return list;
}

constexpr std::int64_t kMostSeconds = kMaxInviteTtlMicros / 1'000'000;

// 90s, 15m, 2h, 1d.
Result<std::int64_t> secondsOf(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::int64_t seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86'400 : 0;
  if (failure == std::errc{} && seconds > 0 && number > 0 && number <= kMostSeconds / seconds) return number * seconds;
  return invalid(inQuotes(text) + " is no duration of a second to 30 days", "as 90s, 15m, 2h, 1d");
}

std::string wordsOf(const json::value& row, const char* member) {
  std::string words;
  for (const json::value& word : rowsOf(row, member)) words += concat(words.empty() ? "" : " ", word.as_string());
  return words;
}

// With --json they are in the answer.
void putWarnings(const json::value& answer, bool json) {
  if (json) return;
  for (const json::value& warning : rowsOf(answer, "warnings"))
    putErr(concat("witan: warning: ", warning.as_string(), "\n"));
}

Result<int> invite(const ControlClient& client, const EnrolArguments& a) {
  WITAN_TRY(seconds, secondsOf(a.ttl));
  json::object body{{"ttlSeconds", seconds}, {"uses", a.uses}};
  if (!a.roles.empty()) body["roles"] = listOf(a.roles);
  if (!a.scopes.empty()) body["scopes"] = listOf(a.scopes);
  if (!a.addresses.empty()) body["addresses"] = listOf(a.addresses);
  WITAN_TRY(answer, client.post("/v1/devices/invite", body));
  putWarnings(answer, a.json);
  if (!a.json)
    putErr("good until " + shown(answer, "expires") + ", " + shown(answer, "uses") +
           " use(s); on the new device: witan join TOKEN\n");
  return print(answer, a.json, [](const json::value& made) { return shown(made, "token") + "\n"; });
}

std::string invitationWords(const json::value& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& one : rowsOf(answer, "invitations"))
    rows.push_back({shown(one, "invitation"), "until " + shown(one, "expires"), shown(one, "uses") + " use(s) left",
                    wordsOf(one, "roles"), wordsOf(one, "devices")});
  return rows.empty() ? "no invitation is open\n" : columns(rows);
}

Result<int> uninvite(const ControlClient& client, const EnrolArguments& a) {
  if (a.all != a.device.empty())
    return invalid("give the id of an invitation, or --all", "see: witan device invitations");
  WITAN_TRY(answer, client.post("/v1/devices/uninvite", {{"invitation", a.all ? "all" : a.device}}));
  return print(answer, a.json, [](const json::value& done) { return shown(done, "ended") + " invitation(s) ended\n"; });
}

std::string pendingWords(const json::value& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& device : rowsOf(answer, "pending"))
    rows.push_back({shown(device, "name"), shown(device, "device"), "from " + shown(device, "from"),
                    "since " + shown(device, "since"), shown(device, "fingerprint")});
  for (const json::value& asked : rowsOf(answer, "keys"))
    rows.push_back({shown(asked, "name"), shown(asked, "device"), "asks for another key",
                    "since " + shown(asked, "since"), shown(asked, "fingerprint")});
  return rows.empty() ? "nobody waits to be approved\n" : columns(rows);
}

std::string rosterWords(const json::value& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& device : rowsOf(answer, "devices")) {
    std::string state = shown(device, "state");
    if (isTrue(device, "this"))
      state += ", this device";
    else if (isTrue(device, "connected"))
      state += ", connected";
    rows.push_back({shown(device, "name"), shown(device, "device"), state, wordsOf(device, "roles"),
                    shown(device, "reason") == "-" ? "" : shown(device, "reason")});
  }
  return columns(rows);
}

}  // namespace

void addEnrolmentCommands(Command& device) {
  const auto verb = [&](const char* name, const char* what, const char* example, auto work) {
    return addLiveVerb<EnrolArguments>(device, name, what, example, work);
  };
  const auto lists = [](Command* command, EnrolArguments& a) {
    return command
        ->option("--role", a.roles, "DOMAIN.ROLE, * (every role), ledger, takeover, or copy alone; may be repeated")
        ->oneWordEach()
        ->check(readBy([](const std::string& role) {
          return checkDeviceRoles({&role, 1});
        }));
  };
  const auto scopes = [](Command* command, EnrolArguments& a) {
    command
        ->option("--scope", a.scopes,
                 "Journals that it may have; may be repeated; default: all with ledger, * or copy, else none")
        ->oneWordEach()
        ->check(idText("the scope"));
  };
  const auto [inviting, invited] = verb("invite", "Print a token with which a new device may join",
                                        "witan device invite --role udt.LabOrder --ttl 15m", invite);
  lists(inviting, *invited)->required(), scopes(inviting, *invited);
  inviting->option("--ttl", invited->ttl, "How long it is good for: 15m, 2h, 1d")
      ->showDefault()
      ->check(readBy(secondsOf));
  inviting->option("--uses", invited->uses, "How many devices may use it")
      ->showDefault()
      ->check(wholeNumber(1, kMaxRosterDevices));
  inviting->option("--address", invited->addresses, "Where the device shall find this one; default: where it listens")
      ->oneWordEach()
      ->check(readBy(checkAddress));
  verb("invitations", "Invitations that are open, by id", "witan device invitations",
       [](const ControlClient& client, const EnrolArguments& a) -> Result<int> {
         WITAN_TRY(answer, client.get("/v1/devices/invitations"));
         return print(answer, a.json, invitationWords);
       });
  const auto [ending, ended] = verb("uninvite", "End an invitation, so that no further device joins by it",
                                    "witan device uninvite --all", uninvite);
  ending->option("ID", ended->device, "Of device invitations");
  ending->flag("--all", ended->all, "Every one that is open");
  verb("pending", "Devices that wait to be approved", "witan device pending",
       [](const ControlClient& client, const EnrolArguments& a) -> Result<int> {
         WITAN_TRY(answer, client.get("/v1/devices/pending"));
         return print(answer, a.json, pendingWords);
       });
  verb("roster",
       "Who belongs to the cluster, with roles and links, by the admin's signed roster (whose records are waited for: "
       "device list)",
       "witan device roster", [](const ControlClient& client, const EnrolArguments& a) -> Result<int> {
         WITAN_TRY(answer, client.get("/v1/devices"));
         return print(answer, a.json, rosterWords);
       });
  verb("rotate-key",
       "Give this device a new key; its id stays. Back it up with keys then: one from before has the old key",
       "witan device rotate-key", [](const ControlClient& client, const EnrolArguments& a) -> Result<int> {
         WITAN_TRY(answer, client.post("/v1/devices/rotate-key", {}));
         return print(answer, a.json, [](const json::value& done) {
           return isTrue(done, "pending")
                      ? concat("asked for; where the cluster was begun: witan device accept-key ",
                               shown(done, "device"), "\nfingerprint  ", shown(done, "fingerprint"),
                               "\nonce it counts, make a backup with keys: the others do not let in a device with the "
                               "key before\n")
                      : std::string(
                            "the new key counts\n"
                            "make a backup with keys now: the others do not let in a device with the key before\n");
         });
       });
  const auto [accepting, accepted] =
      verb("accept-key", "Give a member the key for which it asked", "witan device accept-key phone",
           [](const ControlClient& client, const EnrolArguments& a) -> Result<int> {
             WITAN_TRY(answer, client.post("/v1/devices/accept-key", {{"device", a.device}, {"deny", a.deny}}));
             return print(answer, a.json, [&](const json::value& done) {
               return concat(isTrue(done, "accepted") ? "accepted" : "denied", " for ", a.device, ": fingerprint ",
                             shown(done, "fingerprint"), "\n");
             });
           });
  accepting->option("DEVICE", accepted->device, "Its name or id")->required();
  accepting->flag("--deny", accepted->deny, "Forget that it asked");
  const auto one = [&](const char* name, const char* what, const char* example) {
    const auto [command, a] =
        verb(name, what, example, [name](const ControlClient& client, const EnrolArguments& args) -> Result<int> {
          json::object body{{"device", args.device}};
          if (!args.roles.empty()) body["roles"] = listOf(args.roles);
          if (!args.scopes.empty()) body["scopes"] = listOf(args.scopes);
          if (!args.reason.empty()) body["reason"] = args.reason;
          if (args.site) body["site"] = *args.site;
          WITAN_TRY(answer, client.post(concat("/v1/devices/", name), body));
          putWarnings(answer, args.json);
          return print(answer, args.json, [&](const json::value& done) {
            const auto also = [&](const char* member, const char* words) {
              return done.get_object().contains(member) ? words + shown(done, member) : "";
            };
            return concat(name, " ", args.device, also("version", ": roster "), also("device", "\nid           "),
                          also("fingerprint", "\nfingerprint  "), "\n");
          });
        });
    command->option("DEVICE", a->device, "Its name or id")->required();
    return std::pair(command, a);
  };
  const auto [approving, approved] =
      one("approve", "Make a pending device a member", "witan device approve phone --role budget.A");
  lists(approving, *approved)->required(), scopes(approving, *approved);
  one("deny", "Turn a pending device away for good", "witan device deny phone");
  const auto [revoking, revoked] =
      one("revoke", "Take a member out, at once and everywhere", "witan device revoke phone --reason stolen");
  revoking->option("--reason", revoked->reason, "For the roster");
  const auto [changing, changed] =
      one("roles", "Give a member these roles instead of those it has", "witan device roles lab --role udt.LabOrder");
  lists(changing, *changed)->required();
  const auto [placing, placed] =
      one("site", "Say where a member stands: copies are kept at different sites", "witan device site lab berlin");
  placing->option("SITE", placed->site, "Devices of one site may fail together; '': not said")->required();
}

}  // namespace witan::node
