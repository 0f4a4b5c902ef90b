// `witan admin key|propose|sign|apply|list`: what several admins do together (node/cluster/admin_acts.h).
#include <filesystem>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/sealed_key.h"
#include "base/seams.h"
#include "cli/client/secret_input.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_follows.h"
#include "node/enrolment/enrolment_service.h"
#include "program/durable_file.h"
#include "program/json_file.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kActLifeMicros = 7LL * 24 * 3600 * 1'000'000;
constexpr std::size_t kActFileMax = 1 << 20;
constexpr const char* kActs =
    "admins, signer, revoke, revokePerson, takeover, rekey, rekeyPerson, withdraw or withdrawPerson";

struct AdminArguments : LiveArguments {
  std::string kind, subject, file, out = "act.json", key, reason;
  std::vector<std::string> admins, roles;
  std::uint64_t approvals = 1;
};

// As it goes from one admin to the next.
struct ProposedAct {
  std::string cluster;
  AdminAct act;
  WITAN_MEMBERS(ProposedAct, cluster, act)
};

Result<RosterStore> rostersOf(const fs::path& dir) {
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  return RosterStore::open(dir, admin);
}

Result<ProposedAct> readAct(const std::string& file) {
  WITAN_TRY(parsed, readJsonFile(file, {.bytes = kActFileMax, .depth = 8}));
  ProposedAct proposed;
  WITAN_DO(readJson(parsed, proposed, file));
  return proposed;
}

std::string inWords(const AdminAct& act) {
  std::string text = concat("act ", act.number, ": ", enumName(act.kind), act.subject.empty() ? "" : " ", act.subject);
  if (act.kind == ActKind::admins) {
    text += concat(" ", act.approvals, " of");
    for (const AdminKey& admin : act.admins) text += " " + admin.name;
    for (const std::string& settled : act.settled) text += ", as before: " + settled;
  }
  if (!act.reason.empty()) text += " (" + oneLine(act.reason) + ")";
  return text;
}

Result<int> makeKey(const AdminArguments& a) {
  WITAN_TRY(there, readSmallFile(a.file, kMaxSealedKey));
  if (there) return conflict("there is a file " + a.file, "give another one");
  WITAN_TRY(passphrase, readPassphrase("the key", true));
  SystemRandom random;
  const SigningKey key = SigningKey::generate(random);
  WITAN_TRY(sealed, sealKey(key, passphrase));
  WITAN_DO(replaceFile(a.file, sealed, 0600));
  return print(json::object{{"file", a.file}, {"key", toHex(key.publicKey())}}, a.json, [](const json::value& made) {
    return concat("the key ", shown(made, "key"), "\nis in ", shown(made, "file"), ": keep it and its passphrase\n");
  });
}

Result<std::vector<AdminKey>> adminsOf(const std::vector<std::string>& given) {
  std::vector<AdminKey> admins;
  for (const std::string& one : given) {
    const std::size_t at = one.find('=');
    if (at == std::string::npos)
      return invalid(inQuotes(one) + " is no admin", "give --admin NAME=KEY, the key in hex");
    admins.push_back({one.substr(0, at), one.substr(at + 1)});
  }
  return admins;
}

// Where the cluster's admin decides who belongs to it, of a directory that a node may have open.
Result<EnrolmentService> enrolmentOf(const fs::path& dir, RosterStore& rosters, std::optional<SigningKey> admin) {
  WITAN_TRY(secret, readClusterSecret(dir));
  WITAN_TRY(cluster, readClusterFile(dir));
  return EnrolmentService::open(dir, rosters, std::move(secret), static_cast<std::uint32_t>(cluster.partitions),
                                std::move(admin));
}

// Who or what the act is about.
Status nameSubject(const fs::path& dir, RosterStore& rosters, const AdminArguments& a, AdminAct& act) {
  const Roster& roster = rosters.current();
  act.subject = a.subject;
  if (act.kind == ActKind::admins) {
    act.subject.clear();
    act.approvals = a.approvals;
    if (act.number == 1) act.settled = actsNeededBy(roster);
    WITAN_SET(act.admins, adminsOf(a.admins));
    return okStatus();
  }
  if (act.kind == ActKind::signer) {
    WITAN_TRY(key,
              hasKey(dir, KeyName::nextAdmin) ? readKey(dir, KeyName::nextAdmin) : createKey(dir, KeyName::nextAdmin));
    act.subject = toHex(key.publicKey());
    return okStatus();
  }
  if (a.subject.empty()) return invalid("who is meant is missing", "witan admin propose revoke DEVICE");
  if (act.kind == ActKind::rekeyPerson) {
    const std::size_t at = a.subject.find('=');
    if (at == std::string::npos) return invalid("give NAME=KEY, the key in hex", "witan admin key FILE makes one");
    act.subject = rekeyText(a.subject.substr(0, at), a.subject.substr(at + 1));
  }
  if (act.kind == ActKind::withdrawPerson) act.subject = withdrawText(a.subject, a.roles);
  if (act.kind == ActKind::revokePerson || act.kind == ActKind::rekeyPerson || act.kind == ActKind::withdrawPerson)
    return okStatus();
  WITAN_TRY(device, roster.lookUp(a.subject));
  act.subject = act.kind == ActKind::withdraw ? withdrawText(device->device, a.roles) : device->device;
  if (act.kind != ActKind::rekey) return okStatus();
  WITAN_TRY(service, enrolmentOf(dir, rosters, std::nullopt));
  for (const AskedKey& asked : service.askedKeys())
    if (asked.device == device->device) {
      act.subject = rekeyText(asked.device, asked.key);
      return okStatus();
    }
  WITAN_TRY(own, readKey(dir, KeyName::device));
  const bool itself = roster.byKey(own.publicKey()) == device || hadKey(roster, own.publicKey()) == device;
  if (hasKey(dir, KeyName::nextDevice) && itself) {
    WITAN_TRY(next, readKey(dir, KeyName::nextDevice));
    act.subject = rekeyText(device->device, toHex(next.publicKey()));
    return okStatus();
  }
  return notFound(device->name + " asks for no other key", "see: witan device pending");
}

Result<int> propose(const AdminArguments& a) {
  const auto kind = parseEnum<ActKind>(a.kind);
  if (!kind) return invalid(inQuotes(a.kind) + " is no act", kActs);
  WITAN_DO(checkReason(a.reason));
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(rosters, rostersOf(dir));
  ProposedAct proposed{rosters.current().cluster, {}};
  AdminAct& act = proposed.act;
  act.kind = *kind, act.number = rosters.admins().acts + 1, act.reason = a.reason;
  act.expires = Time{SystemClock().now().micros + kActLifeMicros};
  WITAN_DO(nameSubject(dir, rosters, a, act));
  WITAN_DO(rosters.admins().mayFollow(act));
  WITAN_DO(replaceFile(a.out, toJson(proposed) + "\n", 0644));
  return print(json::object{{"file", a.out}, {"act", inWords(act)}}, a.json, [](const json::value& told) {
    return concat(shown(told, "act"), "\nis in ", shown(told, "file"), ": each admin signs it with witan admin sign\n");
  });
}

Result<SigningKey> adminsKey(const AdminArguments& a) {
  if (a.key.empty()) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    return readKey(dir, KeyName::admin);
  }
  WITAN_TRY(pem, readSmallFile(a.key, kMaxSealedKey));
  if (!pem) return notFound("no file " + a.key, "witan admin key makes one");
  WITAN_TRY(passphrase, readPassphrase("the key", false));
  return openSealedKey(*pem, passphrase);
}

// The admins of the act's cluster. None: no directory of this cluster is here, only the file.
Result<std::optional<AdminState>> adminsHere(const AdminArguments& a, const std::string& cluster) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  std::error_code ec;
  if (!fs::exists(dir / "cluster.json", ec)) return std::optional<AdminState>();
  WITAN_TRY(rosters, rostersOf(dir));
  return rosters.current().cluster == cluster ? std::optional(rosters.admins()) : std::nullopt;
}

// "signatures": those that count; "others": keys whose signatures do not. Without the admins nobody can tell them
// apart.
json::object signaturesOf(const ProposedAct& proposed, const std::optional<AdminState>& admins) {
  const auto counting = admins ? admins->approvers(proposed.cluster, proposed.act) : std::set<std::string>();
  json::array others;
  for (const ActApproval& one : proposed.act.approved)
    if (admins && !counting.contains(one.key)) others.emplace_back(one.key);
  json::object told{{"act", inWords(proposed.act)},
                    {"checked", admins.has_value()},
                    {"signatures", admins ? counting.size() : proposed.act.approved.size()},
                    {"others", std::move(others)}};
  if (admins) told["needed"] = admins->needed();
  return told;
}

Result<int> sign(const AdminArguments& a) {
  WITAN_TRY(proposed, readAct(a.file));
  putErr("witan: you sign " + inWords(proposed.act) + ", in cluster " + oneLine(proposed.cluster) + "\n");
  WITAN_DO(checkAct(proposed.act));
  if (proposed.act.expires <= SystemClock().now()) return conflict("the act has expired", "propose it again");
  WITAN_TRY(admins, adminsHere(a, proposed.cluster));
  WITAN_TRY(key, adminsKey(a));
  if (admins && !admins->counts(toHex(key.publicKey())))
    return Error{ErrorCode::unauthorised,
                 concat("the key ", toHex(key.publicKey()),
                        " is no admin's of this cluster, so its signature would not "
                        "count"),
                 "see: witan admin list; give an admin's key with --key FILE"};
  approveAct(proposed.cluster, proposed.act, key);
  WITAN_DO(replaceFile(a.file, toJson(proposed) + "\n", 0644));
  if (!admins)
    putErr(
        "witan: no directory of this cluster is here, so which of the signatures are of admins is checked where the "
        "act is applied\n");
  return print(signaturesOf(proposed, admins), a.json, [](const json::value& told) {
    std::string text =
        concat(shown(told, "act"), ": ", shown(told, "signatures"),
               isTrue(told, "checked") ? concat(" of ", shown(told, "needed"), " admins") : "", " signed it\n");
    for (const json::value& other : rowsOf(told, "others"))
      text += concat("this signature does not count, its key is no admin's or it does not hold: ",
                     std::string(other.as_string()), "\n");
    return text;
  });
}

// On a directory that no node has open, so that a node never has another roster than its directory.
Result<int> apply(const AdminArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(proposed, readAct(a.file));
  WITAN_TRY(opened, ReplicaDir::open(dir));
  WITAN_TRY(rosters, rostersOf(dir));
  if (proposed.cluster != rosters.current().cluster) return conflict("the act is of another cluster");
  std::optional<SigningKey> admin;
  if (hasKey(dir, KeyName::admin)) WITAN_SET(admin, readKey(dir, KeyName::admin));
  WITAN_TRY(service, enrolmentOf(dir, rosters, std::move(admin)));
  WITAN_DO(service.apply(proposed.act, SystemClock().now()));
  WITAN_DO(opened->close());
  return print(json::object{{"act", inWords(proposed.act)}, {"roster", rosters.current().version}}, a.json,
               [](const json::value& told) {
                 return concat(shown(told, "act"), " is done, in roster ", shown(told, "roster"),
                               ": witan up tells the others\n");
               });
}

Result<int> list(const AdminArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(rosters, rostersOf(dir));
  const AdminState& state = rosters.admins();
  json::array acts, admins;
  for (const AdminAct& act : rosters.current().allActs()) acts.emplace_back(inWords(act));
  for (const AdminKey& admin : state.admins) admins.push_back(json::object{{"name", admin.name}, {"key", admin.key}});
  const json::object answer{
      {"signer", toHex(state.signer)}, {"approvals", state.approvals}, {"admins", admins}, {"acts", acts}};
  return print(answer, a.json, [](const json::value& all) {
    std::string text = concat("signs rosters  ", shown(all, "signer"), "\n");
    for (const json::value& admin : rowsOf(all, "admins"))
      text += concat("admin          ", shown(admin, "name"), "  ", shown(admin, "key"), "\n");
    text += all.at("admins").as_array().empty() ? std::string("it acts alone\n")
                                                : concat("an act takes   ", shown(all, "approvals"), " of them\n");
    for (const json::value& act : rowsOf(all, "acts")) text += std::string(act.as_string()) + "\n";
    return text;
  });
}

}  // namespace

void addAdminCommand(Command& app) {
  Command* noun = app.noun("admin", "What several admins do together, and a lost admin's key", "witan admin list");
  const auto [making, k] = addVerb<AdminArguments>(
      *noun, "key", "Make an admin's key, in a file that a passphrase opens", "witan admin key ann.admin.pem", makeKey);
  making->option("FILE", k->file, "File for the key")->required();
  const auto [proposing, p] =
      addVerb<AdminArguments>(*noun, "propose",
                              "Write an act into a file, for admins to sign: admins, signer, revoke, revokePerson, "
                              "takeover, rekey, rekeyPerson, withdraw, withdrawPerson",
                              "witan admin propose admins --admin ann=KEY --admin bob=KEY --approvals 2", propose);
  proposing->option("ACT", p->kind, kActs)->required();
  proposing->option("WHO", p->subject, "Device or person, where the act is about one; of rekeyPerson NAME=KEY");
  proposing->option("--admin", p->admins, "NAME=KEY of an admin from then on; several are possible")->oneWordEach();
  proposing->option("--role", p->roles, "A role that is withdrawn; several are possible")->oneWordEach();
  proposing->option("--approvals", p->approvals, "How many of them an act takes")->check(wholeNumber(1));
  proposing->option("--reason", p->reason, "Reason, for the roster");
  proposing->option("--out", p->out, "File for the act")->showDefault();
  const auto [signing, s] = addVerb<AdminArguments>(*noun, "sign", "Sign an act as an admin",
                                                    "witan admin sign act.json --key ann.admin.pem", sign);
  signing->option("FILE", s->file, "File of `witan admin propose`")->required();
  signing->option("--key", s->key, "File of the admin's key; default: admin.key of the directory");
  const auto [applying, d] =
      addVerb<AdminArguments>(*noun, "apply", "Do what enough admins have signed, while no node runs on the directory",
                              "witan admin apply act.json", apply);
  applying->option("FILE", d->file, "File of `witan admin sign`")->required();
  addVerb<AdminArguments>(*noun, "list", "Who the admins are, and what they did together", "witan admin list", list);
}

}  // namespace witan::node
