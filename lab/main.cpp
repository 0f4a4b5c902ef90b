// witan-lab: what `witan conformance` and `witan ontology` start.
#include "lab/commands/lab_commands.h"
#include "program/process.h"

int main(int argc, char** argv) {
  using namespace witan::node;
  prepareProcess(argc, argv);
  return finishOutput(runLaboratory(argc, argv));
}
