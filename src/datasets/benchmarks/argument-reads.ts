import { getCloseMatches } from "../../python/difflib.ts";
import { DatasetError } from "../errors.ts";

export interface ReadArguments {
  /** The arguments as the script gets them. */
  readonly args: Record<string, unknown>;
  /** Refuses arguments that the script has not looked at: a name that is misspelt would change nothing, silently. */
  check(): void;
}

/** Notes which arguments a script reads; `prepare(args)` declares none, so that is all there is to go by. */
export function watchReads(given: Readonly<Record<string, unknown>>, benchmark: string): ReadArguments {
  const read = new Set<string>();
  const note = (key: string | symbol) => {
    if (typeof key === "string") read.add(key);
  };
  const args = new Proxy(
    { ...given },
    {
      get(target, key) {
        note(key);
        return Reflect.get(target, key) as unknown;
      },
      has(target, key) {
        note(key);
        return Reflect.has(target, key);
      },
      // Who asks for all of them (`...args`, JSON.stringify) reads what follows.
      ownKeys(target) {
        for (const key of Object.keys(target)) note(key);
        return Reflect.ownKeys(target);
      },
    },
  );
  return {
    args,
    check() {
      const unread = Object.keys(given).filter((key) => !read.has(key));
      const [first] = unread;
      if (first === undefined) return;
      const others = [...read].filter((key) => !unread.includes(key) && key !== "toJSON");
      const [nearest] = getCloseMatches(first, others, 1, 0.6);
      const known = others.length === 0 ? "it reads none" : `it reads ${others.join(", ")}`;
      throw new DatasetError(
        "BENCHMARK_ARGUMENT",
        `${benchmark}: the prepare script does not read ${unread.map((key) => `prepare_script_args.${key}`).join(", ")}; ` +
          `${known}.${nearest === undefined ? "" : ` Did you mean \`${nearest}\`?`}`,
      );
    },
  };
}
