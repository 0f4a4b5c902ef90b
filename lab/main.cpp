// witan-lab: the program that `witan compare`, `witan conformance`, `witan ontology` and `witan domain prove` start.
#include "lab/commands/lab_commands.h"
#include "program/process.h"
#include "program/standard_commands.h"

int main(int argc, char** argv) {
  using namespace witan::node;
  prepareProcess();
  Command app("witan-lab", "Witan's laboratory: ontologies, conformance, comparison");
  app.versionFlag("witan-lab " WITAN_VERSION);
  app.requireCommand();
  app.footer("Example: witan ontology derive domains/udt/udt.ttl");
  addCompareCommand(app);
  addConformanceCommand(app);
  addOntologyCommand(app);
  addProveCommand(app);
  addStandardCommands(app);
  return finishOutput(parseAndReport(app, argc, argv));
}
