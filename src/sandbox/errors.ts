import { type CodesOf, type ErrorTable, GymError } from "../base/errors.ts";

/** Any failure of a sandbox. `docs/reference/errors.md` describes each code. */
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

/** The spec of a sandbox is invalid, or the provider cannot fulfil it. */
export class SandboxSpecError extends SandboxError {
  constructor(message: string) {
    super("SANDBOX_SPEC", message);
  }
}

/** The provider, or a program that it needs, is not available. */
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

/** The provider does not support an optional operation. */
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

/** Codes of sandboxes: their config, their creation and their use. */
export const sandboxErrorCodes = {
  SandboxConfigError: {
    SANDBOX_CONFIG: {
      when: "A sandbox block is missing, has no or several provider keys, or a setting of its provider is wrong.",
      fix: "Give the block exactly one provider key and correct the settings listed.",
    },
  },
  SandboxSpecError: {
    SANDBOX_SPEC: {
      when: "The spec of a sandbox is not valid: an unknown key, a bad port, an image the provider cannot run.",
      fix: "Correct the fields listed.",
    },
  },
  SandboxUnavailableError: {
    SANDBOX_PROVIDER_UNAVAILABLE: {
      when: "The provider is not part of this build, or the program it drives is missing or too old.",
      fix: "Install the program that the message names, or use another provider.",
    },
  },
  SandboxCreateError: {
    SANDBOX_CREATE: {
      when: "The provider could not create a sandbox.",
      fix: "Read the provider's message: the image cannot be pulled, a quota is exceeded, or a permission is missing.",
    },
  },
  SandboxNotReadyError: {
    SANDBOX_NOT_READY: {
      when: "A sandbox was created but did not pass its readiness probe; it was removed again.",
      fix: "Raise `ready_timeout_s` or `probe.deadline_s`, or look at the command and the output shown.",
    },
  },
  SandboxStateError: {
    SANDBOX_STATE: {
      when: "A sandbox was used before its start, after its stop, or started twice.",
      fix: "Call `start()` once before and `stop()` after its use.",
    },
  },
  SandboxUnsupportedError: {
    SANDBOX_UNSUPPORTED: {
      when: "The provider lacks an optional ability: endpoints, terminals, handing a sandbox to another process.",
      fix: "Use a provider that has it; docs/reference/sandbox.md has the table.",
    },
  },
  SandboxTransferError: {
    SANDBOX_TRANSFER: {
      when: "A file could not be copied into or out of a sandbox, or is larger than allowed.",
      fix: "Check that the path exists and can be written, and that there is room.",
    },
  },
  SandboxOperationError: {
    SANDBOX_OPERATION: {
      when: "Another operation of the provider failed, such as exposing a port or removing a sandbox, or the provider did not answer.",
      fix: "Read the provider's message; if a service answers 5xx, try again.",
    },
  },
} satisfies ErrorTable;

export type SandboxErrorCode = CodesOf<typeof sandboxErrorCodes>;
