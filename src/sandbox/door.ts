/** Sandboxes for the other rooms. */

export {
  checkProviders,
  createSandboxProvider,
  type FoundSandbox,
  findSandboxes,
} from "./create-provider.ts";
export { type ProcessOutcome, runProcess } from "./processes/run-process.ts";
export type { SandboxProvider } from "./provider.ts";
export { Sandbox } from "./sandbox.ts";
