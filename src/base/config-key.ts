/** A key of a config, and the flag of the command line that sets it. */

export interface KeyTypes {
  str: string;
  int: number;
  float: number;
  bool: boolean;
  list: unknown[];
  dict: Record<string, unknown>;
  any: unknown;
}

export type KeyType = keyof KeyTypes;

/** One config key a command reads. */
export interface Key {
  readonly type: KeyType;
  readonly help: string;
  readonly required?: boolean;
  readonly default?: string | number | boolean;
  /** Whether the command computes the default. */
  readonly computed?: boolean;
  readonly choices?: readonly string[];
  /** Minimum value. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Whether the value must be more than 0. */
  readonly positive?: true;
  /** Whether null is a value, which removes a limit. Otherwise null means absent. */
  readonly nullable?: true;
  /** The flag that sets the key; type, choices, default and help are those of the key. */
  readonly flag?: KeyFlag;
}

export interface KeyFlag {
  /** Default: the name of the key with dashes. */
  readonly name?: string;
  readonly short?: string;
  /** `FILE` and `DIR` also enable path completion. */
  readonly metavar?: string;
  /** `text` takes the value literally where the type would use the override grammar. */
  readonly kind?: "text";
}

export type KeyTable = Readonly<Record<string, Key>>;
