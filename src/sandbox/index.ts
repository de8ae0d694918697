/**
 * Sandboxes: isolated environments for untrusted code, on this machine, in containers or in a service.
 *
 * @module
 */

export { shellQuote } from "../base/door.ts";
export {
  checkProvider,
  createSandboxProvider,
} from "./create-provider.ts";
export { SandboxError, SandboxUnavailableError, SandboxUnsupportedError } from "./errors.ts";
export { openSandbox, providerOf, type SandboxServer, sandboxConfig } from "./open-sandbox.ts";
export type {
  ExecOptions,
  PtySession,
  PtySpec,
  SandboxDescriptor,
  SandboxEndpoint,
  SandboxExecResult,
  SandboxProvider,
  SandboxStatus,
} from "./provider.ts";
export { type ResolvedSandboxProvider, resolveSandboxProvider } from "./resolve-provider.ts";
export { Sandbox, type SandboxOptions } from "./sandbox.ts";
export { LONGEST_SCRIPT_ARGUMENT } from "./shell-command.ts";
export type { SandboxSpec, SandboxSpecInput } from "./spec.ts";
