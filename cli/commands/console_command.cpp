// `witan console`: a link with which a browser is signed in at the web console of a running node.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

struct ConsoleArguments : LiveArguments {
  std::string role;
  bool noOpen = false;
};

// By the desktop's own means, if there is a desktop. Other users of the machine can read the arguments of a process,
// and the code in the link signs anyone in for two minutes: the browser gets the name of a file that only its owner can
// read.
Status openBrowser(const std::filesystem::path& dir, const std::string& link) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return okStatus();
  const std::string file = (dir / "console-link.html").string();
  WITAN_DO(replaceFile(file,
                       "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
                       "<title>Witan console</title><meta http-equiv=\"refresh\" content=\"0; url=" +
                           link + "\"><a href=\"" + link + "\">Open the console</a>\n",
                       0600));
  const pid_t child = ::fork();
  if (child != 0) return okStatus();
  ::setsid();
  if (::freopen("/dev/null", "w", stdout) == nullptr || ::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
  ::execlp("xdg-open", "xdg-open", file.c_str(), static_cast<char*>(nullptr));
  ::_exit(1);
}

Result<int> console(const ControlClient& client, const ConsoleArguments& a) {
  json::object request;
  if (!a.role.empty()) request["role"] = a.role;
  WITAN_TRY(made, client.post("/v1/console/code", request));
  const std::string link = shown(made, "address") + "#code=" + shown(made, "code");
  json::value answer{{"link", link}, {"role", made.at("role")}, {"expires", made.at("expires")}};
  if (!a.noOpen && !a.json) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    WITAN_DO(openBrowser(dir, link));
  }
  return print(answer, a.json, [](const json::value& one) {
    return shown(one, "link") + "\nfor one sign-in as " + shown(one, "role") + ", until " + shown(one, "expires") +
           "\n";
  });
}

}  // namespace

void addConsoleCommand(Command& app) {
  const auto [command, arguments] =
      addLiveVerb<ConsoleArguments>(app, "console", "Print and open a one-time link to the web console of this node",
                                    "witan console --role counselor", console);
  command->option("--role", arguments->role, "Role of the session; default: admin")
      ->oneOf({"observer", "operator", "counselor", "admin"});
  command->flag("--no-open", arguments->noOpen, "Print the link and open no browser");
}

}  // namespace witan::node
