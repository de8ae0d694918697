import { GymError } from "../errors.ts";
import type { ConfigErrorCode } from "./error-codes.ts";

/** A place in a source text; lines and columns count from 1. */
export interface Position {
  /** A file path, `env.yaml`'s path, or the command line word. */
  source: string;
  line: number;
  column: number;
}

export interface ConfigErrorOptions {
  code?: ConfigErrorCode;
  position?: Position | undefined;
  cause?: unknown;
}

/** `file:line:column`, the form editors and terminals can jump to. */
export function formatPosition(position: Position): string {
  return `${position.source}:${position.line}:${position.column}`;
}

/** ` (file:line:column)` to put behind a statement; nothing when the place is unknown. */
export function place(position: Position | undefined): string {
  return position === undefined ? "" : ` (${formatPosition(position)})`;
}

/** A mistake in what the user configured: files, `env.yaml` or the command line. */
export class ConfigError extends GymError {
  /** Where the mistake is written, when it is written somewhere. */
  readonly position: Position | undefined;

  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(
      options.code ?? "CONFIG_INVALID",
      message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.position = options.position;
  }
}

/** A `config_paths` entry or an input file does not exist under any search root. */
export class ConfigPathNotFoundError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_PATH_NOT_FOUND", ...options });
  }
}

/** `config_paths` is something else than a list of texts. */
export class MalformedConfigPathsError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_PATHS_MALFORMED", ...options });
  }
}

/** Mandatory values (`???`) that are missing. */
export class ConfigMissingValuesError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_MISSING_VALUES", ...options });
  }
}

/** A `${…}` that cannot be resolved. */
export class ConfigInterpolationError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_INTERPOLATION", ...options });
  }
}

/** The source of an inherit or copy directive does not exist. */
export class InheritPathNotFoundError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_INHERIT_PATH_NOT_FOUND", ...options });
  }
}

/** A server refers to an instance that is not configured. */
export class ServerRefNotFoundError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_SERVER_REF_NOT_FOUND", ...options });
  }
}

/** Blocks that look like servers but do not fit the schema. */
export class AlmostServerError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_ALMOST_SERVER", ...options });
  }
}

/** A command that runs servers found none in the config. */
export class NoServerInstancesError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_NO_SERVERS", ...options });
  }
}

/** An unknown or ambiguous catalog name, or a manifest that contradicts itself. */
export class RegistryError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_REGISTRY", ...options });
  }
}

/** An environment or benchmark that is not what its manifest says, or not ready to be published. */
export class WorkloadError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_WORKLOAD", ...options });
  }
}

/** A command line override that cannot be read or applied; commands print it on stderr. */
export class OverrideError extends ConfigError {
  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, { code: "CONFIG_OVERRIDE", ...options });
  }
}
