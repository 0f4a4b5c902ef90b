#include "node/commands/cli.h"
#include "node/process.h"

int main(int argc, char** argv) {
  witan::node::prepareProcess();
  return witan::node::finishOutput(witan::node::runCli(argc, argv));
}
