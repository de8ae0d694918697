import type { Override, ResolvedConfig } from "../config/resolve.ts";
import type { KeyTable } from "./config-keys.ts";
import type { Terminal } from "./render/terminal.ts";

/** Where a component selector looks; see selectors.ts for the files each one stands for. */
export type SelectorKind = "benchmark" | "environment" | "resources-server" | "agent-type" | "model-type";

/**
 * How a flag reads its value and what it becomes:
 * `text` the value as it stands, `value` the value read by the override grammar, `switch` true when given,
 * `config` a part of `config_paths`, `selector` the config file of a named component, `search-dir` a further search root.
 */
export type FlagKind = "text" | "value" | "switch" | "config" | "selector" | "search-dir";

export interface Flag {
  readonly kind: FlagKind;
  /** One line for `--help`, without a final full stop. */
  readonly help: string;
  /** One letter, without the dash. */
  readonly short?: string;
  /** The config keys set by the flag. Without one only the command itself sees the value. */
  readonly key?: string | readonly string[];
  /** Name of the value in usage lines. */
  readonly metavar?: string | readonly [string, ...string[]];
  readonly choices?: readonly string[];
  /** What the command assumes when the flag is absent; shown in help, never turned into an override. */
  readonly default?: string;
  /** May be given several times; the values are kept in order. */
  readonly repeatable?: boolean;
  readonly required?: boolean;
  /** Flags that share this word cannot be given together. */
  readonly exclusive?: string;
  /** For switches: the value given to `key` (default: true). */
  readonly sets?: string | boolean;
  /** For text: put in front of the value before it becomes an override (`resources_servers/`). */
  readonly prefix?: string;
  readonly selector?: SelectorKind;
  /** What shell completion offers for the value. */
  readonly completes?: Completes;
}

/** Files, directories, or the names of components: the folders they lie in, such as `benchmarks`. */
export type Completes = "file" | "directory" | readonly string[];

export type FlagTable = Readonly<Record<string, Flag>>;

export interface Positional {
  readonly help: string;
  readonly optional?: boolean;
  readonly choices?: readonly string[];
  /** The config key the word becomes (taken literally). */
  readonly key?: string;
  /** What shell completion offers for the word. */
  readonly completes?: Completes;
  /** Takes all words that are left, with spaces between them. */
  readonly rest?: boolean;
  /** May hold `=` or begin with a dash: such words are neither overrides nor flags. `--flags` and known letters still are. */
  readonly literal?: boolean;
}

export type PositionalTable = Readonly<Record<string, Positional>>;

/** The value a parsed flag has in `context.flags`. */
export type FlagValue<F extends Flag> = F extends { readonly kind: "switch" }
  ? boolean
  : F extends { readonly repeatable: true } | { readonly metavar: readonly string[] }
    ? readonly Word<F>[]
    : Word<F> | undefined;

/** One of the choices, where there are any. */
type Word<T extends { readonly choices?: readonly string[] }> = T extends {
  readonly choices: readonly (infer C)[];
}
  ? C
  : string;

export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: FlagValue<T[Name]> };

export type PositionalValues<T extends PositionalTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly optional: true }
    ? Word<T[Name]> | undefined
    : Word<T[Name]>;
};

/** A place text is written to; `process.stdout` is one. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Everything of the outside world a command may touch. */
export interface CliIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin?: NodeJS.ReadableStream;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that holds the built-in servers; default: this package. */
  readonly installRoot?: string;
  /** Aborted on SIGINT or SIGTERM. */
  readonly signal?: AbortSignal;
  /** Aborted by the second signal. A command that uses it finishes on its own; others end at once. */
  readonly stopSignal?: AbortSignal;
}

/** How a command wants its config resolved; what resolveConfig takes besides the overrides. */
export interface ResolveChoices {
  /** Start from the empty model, so that no model has to be configured. */
  readonly noModel?: boolean;
  readonly hideSecrets?: boolean;
  readonly requireServers?: boolean;
  readonly skipEnvYaml?: boolean;
  /** No port probing and no host lookup. */
  readonly offline?: boolean;
}

/** What a command gets; `run` sees the types of its own flags and positionals. */
export interface CommandContext {
  readonly io: CliIo;
  /** The environment with `--search-dir` applied; children of the command get this one. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly positionals: Readonly<Record<string, unknown>>;
  /** All overrides: those made from flags, then the user's own, `config_paths` joined. */
  readonly overrides: readonly Override[];
  readonly verbose: boolean;
  /** What `--env-file` says about env.yaml, for commands that resolve another config. */
  readonly envFile: { readonly skipEnvYaml?: true; readonly envYamlPath?: string };
  /** Whether `--json` or `+json=true` was given. */
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  readonly program: Program;
  /** The directory that holds the built-in servers and benchmarks. */
  readonly installRoot: string;
  /** Where configs, components and files are looked up, first hit first. */
  readonly roots: readonly string[];
  /** Resolves the config from the overrides; the choices add to the command's own. */
  resolve(choices?: ResolveChoices): Promise<ResolvedConfig>;
  /** Writes one line to stdout. */
  out(line: string): void;
  /** Writes one line to stderr. */
  err(line: string): void;
}

interface CommandText {
  /** What the user types after `gym`: `env start`, or one word for a command without a group. */
  readonly words: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Older names: `run` is `ng_run` and `nemo_gym_run`; words behind the name are put in front of the user's. */
  readonly legacy?: readonly string[];
  /** Paragraphs for the command's own help; the summary when absent. */
  readonly description?: string;
  /** The config keys the command reads, shown by `--help` and `+h=true`. */
  readonly keys?: KeyTable;
  readonly examples?: readonly string[];
  readonly resolve?: ResolveChoices;
  /** Whether programs read stdout: messages then go to stderr. */
  readonly printsData?: boolean;
}

/** The names, flags, help and work of a command. */
export interface CommandDescription<F extends FlagTable, P extends PositionalTable> extends CommandText {
  readonly flags: F;
  readonly positionals?: P;
  /** Where the keys depend on the flags given. */
  readonly keysFor?: (flags: FlagValues<F>) => KeyTable;
  /** Does the work and returns the exit code. Heavy modules are imported inside. */
  readonly run: (
    context: CommandContext & { readonly flags: FlagValues<F>; readonly positionals: PositionalValues<P> },
  ) => Promise<number>;
}

/** A command for code that does not know its flags. */
export interface Command extends CommandText {
  /** The first of two words; a command without a group stands at the top (`search`). */
  readonly group: string | undefined;
  readonly name: string;
  readonly flags: FlagTable;
  readonly positionals?: PositionalTable;
  readonly keysFor?: (flags: CommandContext["flags"]) => KeyTable;
  readonly run: (context: CommandContext) => Promise<number>;
}

/** Describes a command; the types of its flags and positionals reach `run`. */
export function defineCommand<
  const F extends FlagTable,
  const P extends PositionalTable = Record<never, never>,
>(description: CommandDescription<F, P>): Command {
  const words = description.words.split(" ");
  const name = words.pop();
  return { ...description, group: words[0], name } as unknown as Command;
}

export interface Group {
  readonly name: string;
  readonly summary: string;
}

export interface Program {
  readonly groups: readonly Group[];
  readonly commands: readonly Command[];
}
