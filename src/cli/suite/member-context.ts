import { errorMessage } from "../../base/errors.ts";
import type { Override, ResolvedConfig } from "../../config/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { selectConfig } from "../selectors.ts";
import type { SuiteMember } from "./suite-file.ts";

/** The context of a run of one member: its config, its settings, then what the user gave. */
export async function memberContext(
  context: CommandContext,
  member: SuiteMember,
  output: string,
): Promise<CommandContext> {
  const { kind, selector, configPaths, settings, name } = member;
  const places = { roots: context.roots, warn: context.err };
  const config = await selectConfig(kind, kind, selector, places).catch((error: unknown) => {
    const nearest = / Did you mean `[^`]*`\?/.exec(errorMessage(error))?.[0] ?? "";
    throw new UsageError(`there is no ${kind} '${selector}' here.${nearest}`);
  });
  const paths: string[] = [config, ...configPaths];
  const others: Override[] = [];
  for (const override of context.overrides) {
    if (typeof override !== "string" && override.path === "config_paths")
      paths.push(...(override.value as string[]));
    else if (typeof override === "string" && /^\+{0,2}config_paths=/.test(override))
      throw new UsageError("a suite takes further config files with --config, not with +config_paths");
    else others.push(replacing(override));
  }
  const source = `the suite's member ${name}`;
  const set = (path: string, value: unknown): Override => ({ op: "++", path, value, source });
  const overrides = [
    { op: "+", path: "config_paths", value: paths, source } as const,
    ...Object.entries(settings).flatMap(([key, value]) =>
      leaves(key, value).map(([path, leaf]) => set(path, leaf)),
    ),
    ...others,
    set("output_jsonl_fpath", output),
  ];
  const { io, env, installRoot, envFile, json, verbose, err } = context;
  const resolved = new Map<string, Promise<ResolvedConfig>>();
  const resolve: CommandContext["resolve"] = async (choices) => {
    const { resolveConfig } = await import("../../config/door.ts");
    const known = JSON.stringify(choices ?? {});
    const places = { cwd: io.cwd, env, installRoot, onNotice: err };
    const config = resolved.get(known) ?? resolveConfig({ ...envFile, ...choices, overrides, ...places });
    resolved.set(known, config);
    return config;
  };
  // The suite reports all members in one table.
  const out = json ? context.out : verbose ? err : () => {};
  return { ...context, flags: { ...context.flags, [kind]: [selector] }, overrides, resolve, out };
}

/** What the user gives wins over a setting of the suite. */
function replacing(override: Override): Override {
  if (typeof override === "string") return override.replace(/^\+(?!\+)/, "++");
  return override.op === "+" ? { ...override, op: "++" } : override;
}

/** The values below a key by their paths, so that a setting leaves its neighbours in the config. */
function leaves(path: string, value: unknown): [path: string, value: unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, item]) => leaves(`${path}.${key}`, item));
}
