import { DatasetError } from "../../datasets/errors.ts";
import { deleteFromRegistry, isInRegistry, type RegistryAccess } from "../../datasets/hub/gitlab.ts";
import { readKeys } from "../config-keys.ts";
import { requireRegistry } from "./access.ts";
import { confirm } from "./confirm.ts";
import type { DatasetContext } from "./context.ts";
import { removeKeys } from "./keys.ts";

interface DeleteOptions {
  /** Do not ask. */
  yes: boolean;
  /** Stdout holds one JSON text; messages go to stderr. */
  json?: boolean;
}

/** `gym dataset rm`. */
export async function removeDataset(context: DatasetContext, options: DeleteOptions): Promise<number> {
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
  context: DatasetContext,
  access: RegistryAccess,
  name: string,
  options: DeleteOptions,
): Promise<void> {
  if (await isInRegistry(access, name)) await deleteAsked(context, access, name, options);
  else context.err(`The registry has no dataset '${name}': nothing to delete.`);
}

async function deleteAsked(
  context: DatasetContext,
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
      `Nobody answered: '${name}' was not deleted. Give --yes to delete without being asked.`,
    );
  }
  if (!answer) {
    say(`Skipped: '${name}' was not deleted.`);
    return;
  }
  await deleteFromRegistry(access, name);
  say(`Deleted '${name}' from the registry.`);
}
