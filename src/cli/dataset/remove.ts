import { DatasetError } from "../../data/errors.ts";
import { deleteFromRegistry, isInRegistry, type RegistryAccess } from "../../data/hub/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { confirm } from "../confirm.ts";
import { requireRegistry } from "./access.ts";
import { removeKeys } from "./keys.ts";

/** `gym dataset rm`. */
export async function removeDataset(context: CommandContext, yes: boolean): Promise<number> {
  const keys = readKeys(removeKeys, await context.resolve());
  const access = requireRegistry(keys, context);
  if (!(await isInRegistry(access, keys.dataset_name))) {
    throw new DatasetError("DATASET_MISSING", `The registry has no dataset '${keys.dataset_name}'.`);
  }
  await deleteAsked(context, access, keys.dataset_name, yes);
  return 0;
}

/** Deletes a dataset after asking, unless `yes` is set, if the registry has it. */
export async function deleteDataset(
  context: CommandContext,
  access: RegistryAccess,
  name: string,
  yes: boolean,
): Promise<void> {
  if (await isInRegistry(access, name)) await deleteAsked(context, access, name, yes);
  else context.err(`The registry has no dataset '${name}': nothing to delete.`);
}

async function deleteAsked(
  context: CommandContext,
  access: RegistryAccess,
  name: string,
  yes: boolean,
): Promise<void> {
  // With --json, stdout contains one JSON text.
  const say = context.json ? context.err : context.out;
  const answer = yes || (await confirm(context, `Delete '${name}' and all its versions from the registry?`));
  if (answer === undefined) {
    throw new DatasetError(
      "DATASET_NOT_CONFIRMED",
      `No answer: '${name}' was not deleted. Use --yes to delete without confirmation.`,
    );
  }
  if (!answer) {
    say(`Skipped: '${name}' was not deleted.`);
    return;
  }
  await deleteFromRegistry(access, name);
  say(`Deleted '${name}' from the registry.`);
}
