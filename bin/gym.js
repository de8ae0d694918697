#!/bin/sh
":" //; exec node --max-semi-space-size=32 -- "$0" "$@"
// The shell reads the line above and starts Node with a larger young heap: rollouts in flight fit into it.
// Node 20 takes an `--env-file` anywhere before `--` for its own.
import module from "node:module";

module.enableCompileCache?.();
const { main } = await import("../dist/src/cli/process.js");
await main();
