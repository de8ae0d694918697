#!/usr/bin/env -S node --max-semi-space-size=64 --
import module from "node:module";

module.enableCompileCache?.();
const { main } = await import("../dist/src/cli/process.js");
await main();
