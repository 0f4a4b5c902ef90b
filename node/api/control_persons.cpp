// Persons: who answers as a counselor, by which key (node/cluster/roster.h).
#include <algorithm>

#include "base/quote.h"
#include "base/string_util.h"
#include "node/api/control_routes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"

namespace witan::node::api {

namespace {

constexpr std::size_t kShortIdDigits = 8;

WITAN_STRUCT(PersonRow, (std::string, name, "Name of the person, as domains list counselors"),
             (std::vector<std::string>, keys, "Public keys in hex; the last one is in force"),
             (DeviceState, state, "Whether the person may answer or was revoked"),
             (std::vector<std::string>, roles, "Roles of the person: DOMAIN.counselor, graph.Person"),
             (Time, since, "When the person was added"), (std::string, reason, "Reason of a revocation"))

WITAN_STRUCT(Persons, (std::string, cluster, "Id of the cluster"), (std::uint64_t, version, "Version of the roster"),
             (std::vector<PersonRow>, persons, "Persons, by name"))

WITAN_STRUCT(AddPersonRequest, (std::string, name, "Name of the person", 1),
             (std::string, key, "Public Ed25519 key in hex", 1),
             (std::vector<std::string>, roles, "Roles of the person: DOMAIN.counselor, graph.Person"))

WITAN_STRUCT(RevokePersonRequest, (std::string, name, "Name of the person", 1),
             (Omittable<std::string>, reason, "Reason, for the roster"))

WITAN_STRUCT(PersonsChanged, (std::string, name, "Name of the person"),
             (std::uint64_t, version, "Version of the new roster"),
             (std::vector<std::string>, warnings, "Roles that no domain has, names that look alike"))

Result<Persons> persons(const ApiContext& context, const Nothing&) {
  const Roster& roster = context.daemon.roster().current();
  Persons answer{roster.cluster, roster.version, {}};
  if (roster.persons)
    for (const RosterPerson& p : *roster.persons)
      answer.persons.push_back({p.name, p.keys, p.state, p.roles, p.since, p.reason});
  return answer;
}

Result<PersonsChanged> change(const ApiContext& context, const std::string& name,
                              const std::function<Status(Roster& roster)>& edit) {
  WITAN_DO(context.daemon.enrolment().change(edit));
  context.daemon.peers().rosterPublished();
  context.daemon.scheduleTick();
  return PersonsChanged{name, context.daemon.roster().current().version, {}};
}

// Neither an agent nor a device answers as a person.
Status checkIsPerson(Daemon& daemon, const std::string& name) {
  const auto known = daemon.roster().current().lookUp(name);
  if (known.ok() && ((*known)->name == name || name.size() >= kShortIdDigits))
    return invalid("name: " + inQuotes(name) + " is a device", "give a person's name");
  for (const agents::Agent* agent : daemon.agentFiles().all())
    if (agent->spec().id == name)
      return invalid("name: " + inQuotes(name) + " is an agent of this node", "give a person's name");
  return okStatus();
}

// The first person with a role of a domain closes it for unsigned answers; who is no counselor of it closes it for all.
void warnOfCounselors(Daemon& daemon, const AddPersonRequest& asked, std::vector<std::string>& warnings) {
  for (const std::string& role : asked.roles) {
    const std::size_t dot = role.rfind(".counselor");
    const kernel::DomainModule* module = dot == role.npos ? nullptr : daemon.replica().moduleOf(role.substr(0, dot));
    if (module == nullptr) continue;
    const std::vector<std::string>& names = module->signature().counselors;
    if (names.empty() || std::ranges::find(names, asked.name) != names.end()) continue;
    warnings.push_back(concat(inQuotes(asked.name), " is no counselor of ", role.substr(0, dot),
                              ", and its queue takes ", "signed answers alone from now on: add one that is (",
                              joined(names), "), or no answer counts there"));
  }
}

Result<PersonsChanged> addPerson(const ApiContext& context, const AddPersonRequest& request) {
  WITAN_TRY(key, publicKeyFromHex(request.key, "key"));
  WITAN_DO(checkIsPerson(context.daemon, request.name));
  WITAN_TRY(answer, change(context, request.name, [&](Roster& roster) {
              return addPerson(roster, request.name, key, request.roles, context.daemon.now().wall);
            }));
  answer.warnings =
      personWarnings(context.daemon.roster().current(), request.name, request.roles, [&](std::string_view domain) {
        const kernel::DomainModule* module = context.daemon.replica().moduleOf(domain);
        return module == nullptr ? nullptr : &module->signature();
      });
  warnOfCounselors(context.daemon, request, answer.warnings);
  return answer;
}

Result<PersonsChanged> revokePerson(const ApiContext& context, const RevokePersonRequest& request) {
  return change(context, request.name,
                [&](Roster& roster) { return revokePerson(roster, request.name, request.reason.value_or("")); });
}

}  // namespace

std::vector<ControlRoute> personRoutes() {
  using enum ControlRole;
  return {
      get("/v1/persons", "listPersons", "persons", observer, "The persons whose answers as counselors count", persons),
      post("/v1/persons/add", "addPerson", "persons", admin, "Lets a person answer as a counselor by a key", addPerson,
           {409, 500}),
      post("/v1/persons/revoke", "revokePerson", "persons", admin, "Lets a person answer no more", revokePerson,
           {404, 409, 500})};
}

}  // namespace witan::node::api
