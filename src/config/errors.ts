import { type CodesOf, type ErrorTable, GymError } from "../base/errors.ts";

/** A position in a source text; lines and columns are one-based. */
export interface Position {
  /** A file path, `env.yaml`'s path, or the command line word. */
  source: string;
  line: number;
  column: number;
}

export interface ConfigErrorOptions {
  code?: ConfigErrorCode;
  position?: Position;
  cause?: unknown;
}

/** `file:line:column`, the form editors and terminals can jump to. */
export function formatPosition(position: Position): string {
  return `${position.source}:${position.line}:${position.column}`;
}

/** ` (file:line:column)` as a suffix; empty when the position is unknown. */
export function place(position: Position | undefined): string {
  return position === undefined ? "" : ` (${formatPosition(position)})`;
}

/** A mistake in the user's configuration: files, `env.yaml` or the command line. */
export class ConfigError extends GymError {
  /** The code of errors of this class that are created without one. */
  static readonly code: ConfigErrorCode = "CONFIG_INVALID";
  /** The position of the mistake, if known. */
  readonly position: Position | undefined;

  constructor(message: string, { code, position, cause }: ConfigErrorOptions = {}) {
    super(code ?? new.target.code, message, cause === undefined ? undefined : { cause });
    this.position = position;
  }
}

/** A `config_paths` entry or an input file does not exist under any search root. */
export class ConfigPathNotFoundError extends ConfigError {
  static override readonly code = "CONFIG_PATH_NOT_FOUND";
}

/** `config_paths` is not a list of strings. */
export class MalformedConfigPathsError extends ConfigError {
  static override readonly code = "CONFIG_PATHS_MALFORMED";
}

/** Mandatory values (`???`) that are missing. */
export class ConfigMissingValuesError extends ConfigError {
  static override readonly code = "CONFIG_MISSING_VALUES";
}

/** A `${…}` that cannot be resolved. */
export class ConfigInterpolationError extends ConfigError {
  static override readonly code = "CONFIG_INTERPOLATION";
}

/** The source of an inherit or copy directive does not exist. */
export class InheritPathNotFoundError extends ConfigError {
  static override readonly code = "CONFIG_INHERIT_PATH_NOT_FOUND";
}

/** A server refers to an instance that is not configured. */
export class ServerRefNotFoundError extends ConfigError {
  static override readonly code = "CONFIG_SERVER_REF_NOT_FOUND";
}

/** Blocks that look like servers but do not fit the schema. */
export class AlmostServerError extends ConfigError {
  static override readonly code = "CONFIG_ALMOST_SERVER";
}

/** A command that runs servers found none in the config. */
export class NoServerInstancesError extends ConfigError {
  static override readonly code = "CONFIG_NO_SERVERS";
}

/** An unknown or ambiguous catalog name, or a manifest that contradicts itself. */
export class RegistryError extends ConfigError {
  static override readonly code = "CONFIG_REGISTRY";
}

/** An environment or benchmark that does not match its manifest, or is not ready to be published. */
export class WorkloadError extends ConfigError {
  static override readonly code = "CONFIG_WORKLOAD";
}

/** A command line override that cannot be read or applied; commands print it on stderr. */
export class OverrideError extends ConfigError {
  static override readonly code = "CONFIG_OVERRIDE";
}

/** All codes of configuration errors; docs/reference/errors.md is generated from this table. */
export const configErrorCodes = {
  ConfigError: {
    CONFIG_INVALID: {
      when: "A reserved key has a value of the wrong kind, or a limit of the config system was exceeded.",
      fix: "Change the named key to what the message asks for.",
    },
    CONFIG_KEY_MISSPELT: {
      when: "A top-level key is unknown and similar to a known key.",
      fix: "Correct the key as the message suggests. A key that an interpolation refers to may have any name.",
    },
    CONFIG_YAML: {
      when: "A config file or `env.yaml` is not valid YAML, has a duplicate key, or is not a mapping.",
      fix: "Correct the file at the line and column shown.",
    },
    CONFIG_FILE_UNREADABLE: {
      when: "A config file is a directory, is not UTF-8 text, is too large or cannot be opened.",
      fix: "Point the entry at a readable UTF-8 YAML file.",
    },
    CONFIG_MERGE: {
      when: "Two sources disagree about the shape of a key: one has a list, the other a mapping.",
      fix: "Give the key the same shape in both places, or set it to null in between.",
    },
    CONFIG_AGENT_SWAP: {
      when: "An agent without a resources server (`--agent-type`) cannot take the place of the environment's own agent.",
      fix: "Use only one such agent, and rename instances that collide.",
    },
    CONFIG_ENVIRONMENT_SERVERS: {
      when: "Rows cannot be routed to one environment server: several name the same agent, or a routing key is missing or names no server.",
      fix: "Set `environment_routing_mode` with `environment_server_name` or `environment_server_routes`, as the message says.",
    },
    CONFIG_PAIRING: {
      when: "A resources server does not list the agent in `allowed_agents`.",
      fix: "Select a listed agent, or run the pairing anyway with `--allow-unsupported-pairing`.",
    },
    CONFIG_DIRECTIVE: {
      when: "`_inherit_from`, `_copy` or `_delete_key` is used in a way that has no meaning.",
      fix: "Give the directive the path of a mapping, and name only keys that exist.",
    },
    CONFIG_NO_FREE_PORT: {
      when: "No free port was found in the range from `port_range_low` to `port_range_high`.",
      fix: "Widen the range, free some ports, or set the ports of the servers.",
    },
    CONFIG_HOST_LOOKUP: {
      when: "`use_absolute_ip` is true and the machine's own host name has no address.",
      fix: "Set `default_host` and leave `use_absolute_ip` off, or fix the host name.",
    },
    CONFIG_SANDBOX: {
      when: "A server's `sandbox_provider` names a block that is missing, or one without exactly one provider key.",
      fix: "Correct the name, or give the block one provider key.",
    },
  },
  ConfigPathNotFoundError: {
    CONFIG_PATH_NOT_FOUND: {
      when: "A `config_paths` entry or an input file exists under none of the search roots.",
      fix: "Correct the path, or add the root with `--search-dir` or `NEMO_GYM_EXTRA_ROOTS`.",
    },
  },
  MalformedConfigPathsError: {
    CONFIG_PATHS_MALFORMED: {
      when: "`config_paths` is not a list of strings.",
      fix: "Write a list, or pass each file with `--config`.",
    },
  },
  ConfigMissingValuesError: {
    CONFIG_MISSING_VALUES: {
      when: "Mandatory values (`???`) are missing.",
      fix: "Supply each in a config file, in `env.yaml` or as `++path=<value>`.",
    },
  },
  ConfigInterpolationError: {
    CONFIG_INTERPOLATION: {
      when: "A `${…}` cannot be parsed or refers to a missing key.",
      fix: "Define the key it names (`++key=<value>`), set the variable, or correct the text.",
    },
  },
  InheritPathNotFoundError: {
    CONFIG_INHERIT_PATH_NOT_FOUND: {
      when: "The source of an inherit or copy directive does not exist.",
      fix: "Correct the path, or include the file that defines it.",
    },
  },
  ServerRefNotFoundError: {
    CONFIG_SERVER_REF_NOT_FOUND: {
      when: "A server refers to an instance that is not configured.",
      fix: "Use one of the names listed, or include the config that defines the server.",
    },
  },
  AlmostServerError: {
    CONFIG_ALMOST_SERVER: {
      when: "A block looks like a server instance but does not fit the schema.",
      fix: "Correct the fields listed, or set `error_on_almost_servers=false` to start without it.",
    },
  },
  NoServerInstancesError: {
    CONFIG_NO_SERVERS: {
      when: "A command that runs servers found none in the config.",
      fix: "Add configs that define servers with `--config`, `--benchmark` or `--environment`.",
    },
  },
  RegistryError: {
    CONFIG_REGISTRY: {
      when: "A catalog name is unknown or ambiguous, or a manifest contradicts itself.",
      fix: "Use a name that `gym list` shows.",
    },
  },
  WorkloadError: {
    CONFIG_WORKLOAD: {
      when: "A manifest does not fit its config or its data, verifier cases fail, or publishing has open problems.",
      fix: "Follow the message; `gym env validate NAME --sync` updates the mirrored fields of a manifest.",
    },
  },
  OverrideError: {
    CONFIG_OVERRIDE: {
      when: "A command line override cannot be read, or does not apply to what came before it.",
      fix: "Quote the value, or use `+key=` to add, `++key=` to add or replace.",
    },
  },
} satisfies ErrorTable;

export type ConfigErrorCode = CodesOf<typeof configErrorCodes>;
