import { checkProviders } from "../../sandbox/check-providers.ts";
import type { CommandContext } from "../command.ts";
import { renderTable } from "../render/table.ts";

/** Prints what each provider says; 1 when none works. */
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
