import { errorMessage } from "../base/errors.ts";
import { checkProviders, type FoundSandbox, findSandboxes } from "../sandbox/door.ts";
import type { CommandContext } from "./command.ts";
import { renderTable } from "./render/table.ts";

export async function listSandboxes(context: CommandContext): Promise<number> {
  const { out, terminal, signal, json } = context;
  const found = (await findSandboxes({ signal })).map(plain);
  if (json) out(JSON.stringify(found, null, 2));
  else if (found.length === 0) out("There are no sandboxes on this machine.");
  else {
    const columns = ["provider", "sandbox", "state", "what is known"];
    const rows = found.map(({ provider, id, state, detail }) => [provider, id, state, detail]);
    out(renderTable({ columns, rows }, terminal));
  }
  return 0;
}

/** Removes unused sandboxes; returns 1 when one could not be removed. */
export async function removeLeftSandboxes(context: CommandContext, dryRun: boolean): Promise<number> {
  const { out, err, signal, json } = context;
  const left = (await findSandboxes({ signal })).filter(({ state }) => state === "left behind");
  const removed: FoundSandbox[] = [];
  const failed: { id: string; reason: string }[] = [];
  for (const sandbox of left) {
    try {
      if (!dryRun) await sandbox.remove();
      removed.push(sandbox);
    } catch (error) {
      failed.push({ id: sandbox.id, reason: errorMessage(error) });
    }
  }
  if (json) out(JSON.stringify({ dry_run: dryRun, removed: removed.map(plain), failed }, null, 2));
  else {
    for (const { provider, id } of removed) out(`${dryRun ? "would remove" : "removed"} ${id} (${provider})`);
    if (left.length === 0) out("Nothing was left behind.");
  }
  for (const { id, reason } of failed) err(`${id} could not be removed: ${reason}`);
  return failed.length === 0 ? 0 : 1;
}

function plain({ provider, id, state, detail }: FoundSandbox) {
  return { provider, id, state, detail };
}

/** Prints the diagnosis of each provider; 1 when none works. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { out, terminal, signal, json } = context;
  const checks = await checkProviders({}, { signal });
  if (json) out(JSON.stringify(checks, null, 2));
  else {
    const rows = checks.map(({ provider, program = provider, works, detail }) => [
      program === provider ? provider : `${provider} (${program})`,
      works ? "yes" : "no",
      detail,
    ]);
    out(renderTable({ columns: ["provider", "works", "version, or why not"], rows }, terminal));
  }
  return checks.some(({ works }) => works) ? 0 : 1;
}
