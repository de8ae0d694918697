#!/usr/bin/env -S node --max-semi-space-size=32 --
import module from "node:module";

module.enableCompileCache?.();
const { mainLegacy } = await import("../dist/src/cli/process.js");
await mainLegacy();
