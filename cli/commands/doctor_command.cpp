// `witan doctor` and `witan support-bundle`.
#include "base/json_codec.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/support_bundle.h"
#include "program/progress.h"

namespace witan::node {

namespace {

struct DoctorArguments : LiveArguments {
  std::string to, log;
  bool quick = false;
};

std::string words(const std::vector<DoctorCheck>& checks) {
  std::vector<std::vector<std::string>> rows;
  for (const DoctorCheck& check : checks)
    rows.push_back(
        {std::string(enumName(check.level)), check.name, check.what + (check.todo.empty() ? "" : "; " + check.todo)});
  return columns(rows);
}

Result<int> doctor(const DoctorArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  const std::vector<DoctorCheck> checks = [&] {
    const Progress progress("checking");
    return examine(dir, !a.quick, SystemClock().now());
  }();
  const CheckLevel level = worst(checks);
  if (a.json)
    putWords(concat("{\"checks\":", toJson(checks), ",\"level\":\"", enumName(level), "\"}\n"));
  else
    putWords(words(checks));
  return level == CheckLevel::fail ? kExitFailed : kExitOk;
}

Result<int> bundle(const DoctorArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(names, writeSupportBundle({dir, a.to, a.log, SystemClock().now()}));
  json::array list;
  for (const std::string& name : names) list.emplace_back(name);
  return print(json::object{{"to", a.to}, {"files", std::move(list)}}, a.json, [&](const json::value&) {
    return concat("wrote ", a.to, ": ", names.size(), " files, without keys, tokens and records\n");
  });
}

}  // namespace

void addDoctorCommands(Command& app) {
  const auto [examined, how] =
      addVerb<DoctorArguments>(app, "doctor", "Look at everything that tends to go wrong, running or not",
                               "witan doctor --dir /var/lib/witan", doctor);
  examined->flag("--quick", how->quick, "Without reading everything: no ledger is verified, no table searched");
  const auto [bundled, into] =
      addVerb<DoctorArguments>(app, "support-bundle", "What a helper elsewhere needs to know, without any secret",
                               "witan support-bundle --to bundle.tar.gz --log /var/log/witan.log", bundle);
  bundled->option("--to", into->to, "A new file")->required()->typeName("FILE");
  bundled->option("--log", into->log, "A log whose end goes in")->typeName("FILE");
}

}  // namespace witan::node
