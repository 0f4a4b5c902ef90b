// witan-lab: the program that `witan conformance` and `witan ontology` start.
#include "lab/commands/lab_commands.h"
#include "program/process.h"
#include "program/standard_commands.h"

int main(int argc, char** argv) {
  using namespace witan::node;
  prepareProcess();
  Command app("witan-lab", "Witan's laboratory: ontologies and conformance");
  app.versionFlag(std::string("witan-lab ") + WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan ontology derive domains/udt/udt.ttl");
  int exitCode = kExitOk;
  addConformanceCommand(app, exitCode);
  addOntologyCommand(app, exitCode);
  addStandardCommands(app, exitCode);
  return finishOutput(parseAndReport(app, argc, argv, exitCode));
}
