#include "node/cli.h"

int main(int argc, char** argv) { return witan::node::runCli(argc, argv); }
