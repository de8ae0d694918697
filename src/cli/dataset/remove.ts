import { createInterface } from "node:readline";
import { DatasetError } from "../../datasets/errors.ts";
import { deleteFromRegistry, isInRegistry, type RegistryAccess } from "../../datasets/hub/gitlab.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { requireRegistry } from "./access.ts";
import { removeKeys } from "./keys.ts";

interface DeleteOptions {
  /** Skips the confirmation. */
  yes: boolean;
  /** Stdout contains one JSON text; messages go to stderr. */
  json?: boolean;
}

/** `gym dataset rm`. */
export async function removeDataset(context: CommandContext, options: DeleteOptions): Promise<number> {
  const keys = readKeys(removeKeys, await context.resolve());
  const access = requireRegistry(keys, context);
  if (!(await isInRegistry(access, keys.dataset_name))) {
    throw new DatasetError("DATASET_MISSING", `The registry has no dataset '${keys.dataset_name}'.`);
  }
  await deleteAsked(context, access, keys.dataset_name, options);
  return 0;
}

/** Deletes a dataset after asking, if the registry has it. */
export async function deleteDataset(
  context: CommandContext,
  access: RegistryAccess,
  name: string,
  options: DeleteOptions,
): Promise<void> {
  if (await isInRegistry(access, name)) await deleteAsked(context, access, name, options);
  else context.err(`The registry has no dataset '${name}': nothing to delete.`);
}

async function deleteAsked(
  context: CommandContext,
  access: RegistryAccess,
  name: string,
  { yes, json }: DeleteOptions,
): Promise<void> {
  const say = json ? context.err : context.out;
  const asked = { question: `Delete '${name}' and all its versions from the registry?`, json };
  const answer = yes || (await confirm(context, asked));
  if (answer === undefined) {
    throw new DatasetError(
      "DATASET_NOT_CONFIRMED",
      `No answer: '${name}' was not deleted. Use --yes to delete without a question.`,
    );
  }
  if (!answer) {
    say(`Skipped: '${name}' was not deleted.`);
    return;
  }
  await deleteFromRegistry(access, name);
  say(`Deleted '${name}' from the registry.`);
}

/** Asks on the terminal; only `y` and `yes` confirm. Undefined when the input ends without an answer. */
async function confirm(
  context: CommandContext,
  { question, json }: { question: string; json?: boolean },
): Promise<boolean | undefined> {
  const { stdin } = context.io;
  const screen = json ? context.io.stderr : context.io.stdout;
  screen.write(`${question} [y/N]: `);
  if (stdin === undefined) {
    screen.write("\n");
    return undefined;
  }
  const lines = createInterface({ input: stdin });
  try {
    const answer = await firstLine(lines, context.signal);
    if (answer === undefined) screen.write("\n");
    return answer === undefined ? undefined : ["y", "yes"].includes(answer.trim().toLowerCase());
  } finally {
    lines.close();
  }
}

function firstLine(
  lines: ReturnType<typeof createInterface>,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(undefined));
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
