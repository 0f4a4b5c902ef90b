#include "cli/commands/cli.h"
#include "program/process.h"

int main(int argc, char** argv) {
  witan::node::prepareProcess();
  return witan::node::finishOutput(witan::node::runCli(argc, argv));
}
