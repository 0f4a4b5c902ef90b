// `witan id ...`: prints the identities of base/identity.h from components on the command line, so that scripts and
// people can check what a device derived.
//
// Called once while the command line is declared. `app` and `exitCode` must outlive the parse; the chosen subcommand
// prints from its callback and sets exitCode to 0, or to 2 when a component is refused.
#pragma once

namespace CLI {
class App;
}

namespace witan::node {

void addIdCommand(CLI::App& app, int& exitCode);

}  // namespace witan::node
