import { GymError } from "../errors.ts";
import type { SandboxErrorCode } from "./error-codes.ts";

/** Anything that goes wrong with a sandbox; error-codes.ts says what to do about each code. */
export class SandboxError extends GymError {
  constructor(code: SandboxErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** A sandbox block of the config, or a setting of a provider, is wrong. */
export class SandboxConfigError extends SandboxError {
  constructor(message: string) {
    super("SANDBOX_CONFIG", message);
  }
}

/** What a sandbox is asked to be does not fit. */
export class SandboxSpecError extends SandboxError {
  constructor(message: string) {
    super("SANDBOX_SPEC", message);
  }
}

/** The provider, or the program it drives, is not here. */
export class SandboxUnavailableError extends SandboxError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("SANDBOX_PROVIDER_UNAVAILABLE", message, options);
  }
}

/** The provider could not create a sandbox. */
export class SandboxCreateError extends SandboxError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("SANDBOX_CREATE", message, options);
  }
}

/** A new sandbox did not pass its readiness probe. */
export class SandboxNotReadyError extends SandboxError {
  constructor(message: string) {
    super("SANDBOX_NOT_READY", message);
  }
}

/** A sandbox was used before its start or after its stop. */
export class SandboxStateError extends SandboxError {
  constructor(message: string) {
    super("SANDBOX_STATE", message);
  }
}

/** The provider lacks an optional ability. */
export class SandboxUnsupportedError extends SandboxError {
  constructor(message: string) {
    super("SANDBOX_UNSUPPORTED", message);
  }
}

/** A file could not be copied into or out of a sandbox. */
export class SandboxTransferError extends SandboxError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("SANDBOX_TRANSFER", message, options);
  }
}

/** Any other failure of a provider. */
export class SandboxOperationError extends SandboxError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("SANDBOX_OPERATION", message, options);
  }
}
