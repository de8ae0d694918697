#!/usr/bin/env -S node --
import module from "node:module";

module.enableCompileCache?.();
const { mainLegacy } = await import("../dist/src/cli/process.js");
await mainLegacy();
