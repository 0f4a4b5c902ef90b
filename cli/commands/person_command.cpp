// `witan person add|list|revoke`: the people who answer as counselors, by keys of their own.
#include <filesystem>

#include "base/bytes.h"
#include "base/sealed_key.h"
#include "base/seams.h"
#include "base/string_util.h"
#include "cli/client/secret_input.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "program/durable_file.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

struct PersonArguments : LiveArguments {
  std::string name, out, publicKey, reason;
  std::vector<std::string> roles;
};

// A new key in a file that only the passphrase opens. The public half in hex.
Result<std::string> newPersonKey(const std::string& file) {
  WITAN_TRY(there, readSmallFile(file, kMaxSealedKey));
  if (there) return conflict("there is a file " + file, "give another one with --out");
  WITAN_TRY(passphrase, readPassphrase("the key", true));
  SystemRandom random;
  const SigningKey key = SigningKey::generate(random);
  WITAN_TRY(sealed, sealKey(key, passphrase));
  WITAN_DO(replaceFile(file, sealed, 0600));
  return toHex(key.publicKey());
}

Result<int> personAdd(const ControlClient& client, const PersonArguments& a) {
  const std::string file = std::filesystem::absolute(a.out.empty() ? a.name + ".person.pem" : a.out).string();
  std::string key = a.publicKey;
  WITAN_TRY(node, client.get("/v1/status"));
  if (!isTrue(node, "admin"))
    return Error{ErrorCode::unauthorised, "this device does not hold the admin's key",
                 "do it where the cluster was begun"};
  if (key.empty()) WITAN_SET(key, newPersonKey(file));
  auto made = client.post("/v1/persons/add", {{"name", a.name}, {"key", key}, {"roles", json::value_from(a.roles)}});
  if (!made.ok()) {
    std::error_code ec;
    if (a.publicKey.empty()) std::filesystem::remove(file, ec);  // a key that nobody knows
    return made.error();
  }
  json::object answer = made->as_object();
  if (!a.json)
    for (const json::value& warning : rowsOf(*made, "warnings"))
      putErr(concat("witan: warning: ", warning.as_string(), "\n"));
  answer["key"] = key;
  if (a.publicKey.empty()) answer["file"] = file;
  return print(answer, a.json, [&](const json::value& told) {
    return concat(a.name, " answers by the key ", key, "\n",
                  told.as_object().contains("file") ? concat("the key is in ", file, ": keep it and its passphrase\n")
                                                    : std::string());
  });
}

Result<int> personList(const ControlClient& client, const PersonArguments& a) {
  WITAN_TRY(answer, client.get("/v1/persons"));
  return print(answer, a.json, [](const json::value& all) {
    std::vector<std::vector<std::string>> rows;
    for (const json::value& p : rowsOf(all, "persons"))
      rows.push_back({shown(p, "name"), shown(p, "state"), shown(p, "since"),
                      std::string(p.at("keys").as_array().back().as_string()),
                      joined(json::value_to<std::vector<std::string>>(p.at("roles")))});
    return rows.empty() ? std::string("none: answers of counselors need no signature\n") : columns(rows);
  });
}

Result<int> personRevoke(const ControlClient& client, const PersonArguments& a) {
  WITAN_TRY(answer, client.post("/v1/persons/revoke", {{"name", a.name}, {"reason", a.reason}}));
  return print(answer, a.json, [&](const json::value&) { return a.name + " answers no more\n"; });
}

}  // namespace

void addPersonCommand(Command& app) {
  Command* noun = app.noun("person", "People who answer as counselors, by keys of their own", "witan person list");
  const auto [adding, a] = addLiveVerb<PersonArguments>(
      *noun, "add", "Make a person's key and let its answers count, on the device with the admin's key",
      "witan person add dr.supervising --role udt.counselor", personAdd);
  adding->option("NAME", a->name, "Name of the counselor, as the domain has it")->required();
  adding->option("--role", a->roles, "DOMAIN.counselor, or graph.Person for questions of graphs; several are possible")
      ->required();
  adding->option("--out", a->out, "File for the key; default: NAME.person.pem");
  adding->option("--public", a->publicKey, "Public key in hex, of a key that the person has made: no file is written");
  addLiveVerb<PersonArguments>(*noun, "list", "All persons, with the keys in force", "witan person list", personList);
  const auto [revoking, r] = addLiveVerb<PersonArguments>(
      *noun, "revoke", "Let a person answer no more", "witan person revoke dr.supervising --reason left", personRevoke);
  revoking->option("NAME", r->name, "Name of the person")->required();
  revoking->option("--reason", r->reason, "Reason, for the roster");
}

}  // namespace witan::node
