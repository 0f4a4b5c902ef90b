#include "lab/commands/lab_commands.h"

#include "program/standard_commands.h"

namespace witan::node {

int runLaboratory(int argc, char** argv) {
  Command app("witan-lab", "Witan's laboratory: ontologies and conformance");
  app.versionFlag(std::string("witan-lab ") + WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan ontology derive domains/udt/udt.ttl");
  int exitCode = kExitOk;
  addConformanceCommand(app, exitCode);
  addOntologyCommand(app, exitCode);
  addStandardCommands(app, exitCode);
  return parseAndReport(app, argc, argv, exitCode);
}

}  // namespace witan::node
