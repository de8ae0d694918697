import type { Override, ResolvedConfig } from "../config/door.ts";
import type { KeyTable } from "./config-keys.ts";
import type { Terminal } from "./render/terminal.ts";

/** The kind of component that a selector looks up; see selectors.ts for the files of each. */
export type SelectorKind = "benchmark" | "environment" | "resources-server" | "agent-type" | "model-type";

/**
 * How a flag reads its value: `text` the literal value, `number` a number within `range`, which only the command sees,
 * `value` the value parsed by the override grammar, `switch` true when given, `config` a part of `config_paths`, `selector` the config file of a named component, `search-dir` a
 * further search root.
 */
type FlagKind = "text" | "number" | "value" | "switch" | "config" | "selector" | "search-dir";

export interface Flag {
  readonly kind: FlagKind;
  /** One line for `--help`, without a final full stop. */
  readonly help: string;
  /** One letter, without the dash. */
  readonly short?: string;
  /** The config keys that the flag sets. Without one, only the command sees the value. */
  readonly key?: string | readonly string[];
  /** Name of the value in usage lines. */
  readonly metavar?: string | readonly [string, ...string[]];
  readonly choices?: readonly string[];
  readonly range?: NumberRange;
  /** The value when the flag is absent. That of a flag with a key is only shown: the key has the same default. */
  readonly default?: string;
  /** May be given several times; the values are kept in order. */
  readonly repeatable?: boolean;
  readonly required?: boolean;
  /** Flags with the same word here are mutually exclusive. */
  readonly exclusive?: string;
  /** The value given to `key` in place of the flag's own; default for switches: true. */
  readonly sets?: string | boolean;
  /** For text: prepended to the value before it becomes an override (`resources_servers/`). */
  readonly prefix?: string;
  readonly selector?: SelectorKind;
  /** What shell completion offers for the value. */
  readonly completes?: Completes;
}

/** Files, directories, or the names of components: the folders that contain them, such as `benchmarks`. */
export type Completes = "file" | "directory" | readonly string[];

export interface NumberRange {
  readonly minimum: number;
  readonly maximum?: number;
  readonly whole?: boolean;
}

export type FlagTable = Readonly<Record<string, Flag>>;

export interface Positional {
  readonly help: string;
  readonly optional?: boolean;
  readonly choices?: readonly string[];
  /** The config key that the word sets (literally). */
  readonly key?: string;
  /** The word selects the config of a component, as the flag of that name does. */
  readonly selector?: SelectorKind;
  /** What shell completion offers for the word. */
  readonly completes?: Completes;
  /** Takes all remaining words, joined with spaces. */
  readonly rest?: boolean;
  /** Takes all remaining words as a list. */
  readonly many?: boolean;
  /**
   * May contain `=` or begin with a dash: such words are neither overrides nor flags. `--flags` and known letters still
   * are.
   */
  readonly literal?: boolean;
}

export type PositionalTable = Readonly<Record<string, Positional>>;

/** The value a parsed flag has in `context.flags`. */
type FlagValue<F extends Flag> = F extends { readonly kind: "switch" }
  ? boolean
  : F extends { readonly repeatable: true } | { readonly metavar: readonly string[] }
    ? readonly Word<F>[]
    : (F extends { readonly kind: "number" } ? number : Word<F>) | Absent<F>;

/** A flag with a key may be absent although the key has a default. */
type Absent<F extends Flag> = F extends
  | { readonly default: string; readonly key?: never }
  | { readonly required: true }
  ? never
  : undefined;

/** One of the choices, if any. */
type Word<T extends { readonly choices?: readonly string[] }> = T extends {
  readonly choices: readonly (infer C)[];
}
  ? C
  : string;

export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: FlagValue<T[Name]> };

type PositionalValues<T extends PositionalTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly many: true }
    ? readonly string[]
    : T[Name] extends { readonly optional: true }
      ? Word<T[Name]> | undefined
      : Word<T[Name]>;
};

/** A destination for text, such as `process.stdout`. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** All external resources of a command. */
export interface CliIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin?: NodeJS.ReadableStream;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory of the built-in servers; default: this package. */
  readonly installRoot?: string;
  /** Aborted on SIGINT or SIGTERM. */
  readonly signal?: AbortSignal;
  /** Aborted by the second signal. A command that uses it finishes by itself; others end immediately. */
  readonly stopSignal?: AbortSignal;
}

/** How a command resolves its config: options of resolveConfig besides the overrides. */
interface ResolveChoices {
  /** Starts from the empty model, so that no model has to be configured. */
  readonly noModel?: boolean;
  readonly hideSecrets?: boolean;
  readonly requireServers?: boolean;
  readonly skipEnvYaml?: boolean;
  /** No port probing and no host lookup. */
  readonly offline?: boolean;
}

/** The context of a command; `run` sees the types of its flags and positionals. */
export interface CommandContext {
  readonly io: CliIo;
  /** The environment with `--search-dir` applied; child processes inherit it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly positionals: Readonly<Record<string, unknown>>;
  /** All overrides: those from flags, then the user's, with `config_paths` joined. */
  readonly overrides: readonly Override[];
  readonly verbose: boolean;
  /** Which `env.yaml` is read, by `--env-yaml`, for commands that resolve another config. */
  readonly envFile: { readonly skipEnvYaml?: true; readonly envYamlPath?: string };
  /** Whether `--json` or `+json=true` was given. */
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  readonly program: CliProgram;
  /** The directory of the built-in servers and benchmarks. */
  readonly installRoot: string;
  /** Where configs, components and files are looked up; the first match counts. */
  readonly roots: readonly string[];
  /** Resolves the config from the overrides; the choices extend those of the command. */
  resolve(choices?: ResolveChoices): Promise<ResolvedConfig>;
  /** Writes one line to stdout. */
  out(line: string): void;
  /** Writes one line to stderr. */
  err(line: string): void;
}

interface CommandText {
  /** The words after `gym`: `env start`, or one word for a command without a group. */
  readonly words: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Older names: `run` is `ng_run` and `nemo_gym_run`; words after the name are prepended to the user's. */
  readonly legacy?: readonly string[];
  /** Paragraphs for the command's own help; the summary when absent. */
  readonly description?: string;
  /** The config keys the command reads, shown by `--help` and `+h=true`. */
  readonly keys?: KeyTable;
  readonly examples?: readonly string[];
  readonly resolve?: ResolveChoices;
  /** Whether programs read stdout; messages then go to stderr. */
  readonly printsData?: boolean;
}

/** The names, flags, help and work of a command. */
interface CommandDescription<F extends FlagTable, P extends PositionalTable> extends CommandText {
  readonly flags: F;
  readonly positionals?: P;
  /** For keys that depend on the flags. */
  readonly keysFor?: (flags: FlagValues<F>) => KeyTable;
  /** Runs the command and returns the exit code. Heavy modules are imported inside. */
  readonly run: (
    context: CommandContext & { readonly flags: FlagValues<F>; readonly positionals: PositionalValues<P> },
  ) => Promise<number>;
}

/** A command for code that does not know its flags. */
export interface Command extends CommandText {
  /** The first of two words; undefined for a top-level command (`search`). */
  readonly group: string | undefined;
  readonly name: string;
  readonly flags: FlagTable;
  readonly positionals?: PositionalTable;
  readonly keysFor?: (flags: CommandContext["flags"]) => KeyTable;
  readonly run: (context: CommandContext) => Promise<number>;
}

/** Defines a command; `run` receives the types of its flags and positionals. */
export function defineCommand<
  const F extends FlagTable,
  const P extends PositionalTable = Record<never, never>,
>(description: CommandDescription<F, P>): Command {
  const words = description.words.split(" ");
  const name = words.pop();
  return { ...description, group: words[0], name } as unknown as Command;
}

export interface ProgramGroup {
  readonly name: string;
  readonly summary: string;
}

export interface CliProgram {
  readonly groups: readonly ProgramGroup[];
  readonly commands: readonly Command[];
}
