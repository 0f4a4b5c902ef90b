// witan-sim: what `witan sim` starts.
#include "program/process.h"
#include "sim/commands/sim_command.h"

int main(int argc, char** argv) {
  using namespace witan::node;
  prepareProcess();
  return finishOutput(runSimulator(argc, argv));
}
