/**
 * Sandboxes: isolated environments for untrusted code, on this machine, in containers or in a service.
 *
 * @module
 */
export { type AttributionOptions, attribution } from "./attribution.ts";
export {
  checkProvider,
  checkProviders,
  createSandboxProvider,
  type ProviderCheck,
} from "./create-provider.ts";
export {
  SandboxConfigError,
  SandboxCreateError,
  SandboxError,
  SandboxNotReadyError,
  SandboxOperationError,
  SandboxSpecError,
  SandboxStateError,
  SandboxTransferError,
  SandboxUnavailableError,
  SandboxUnsupportedError,
} from "./errors.ts";
export { openSandbox, providerOf, type SandboxServer, sandboxConfig } from "./open-sandbox.ts";
export type * from "./provider.ts";
export { DEFAULT_EXEC_TIMEOUT_SECONDS, RUNTIME_RETURN_CODE } from "./provider.ts";
export { type ResolvedSandboxProvider, resolveSandboxProvider } from "./resolve-provider.ts";
export { shellQuote } from "./safe-text.ts";
export { Sandbox, type SandboxOptions } from "./sandbox.ts";
export { LONGEST_SCRIPT_ARGUMENT } from "./shell-command.ts";
export { parseSandboxSpec, SandboxResources, SandboxSpec, type SandboxSpecInput } from "./spec.ts";
