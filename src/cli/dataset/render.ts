import { findPath } from "../../config/paths.ts";
import { renderDataset } from "../../data/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { outputFile, requireInputFile, withFileErrors } from "../files.ts";
import { renderKeys } from "./keys.ts";

/** `gym dataset render`. */
export async function renderRows(context: CommandContext): Promise<number> {
  const keys = readKeys(renderKeys, await context.resolve());
  return withFileErrors(async () => {
    const promptConfig = findPath(keys.prompt_config, context.roots);
    const rows = await renderDataset({
      input: await requireInputFile(context, keys.input_jsonl_fpath, "--input"),
      promptConfig,
      output: await outputFile(context, keys.output_jsonl_fpath, "name a file"),
      cwd: context.io.cwd,
      signal: context.signal,
    });
    const { output_jsonl_fpath: output } = keys;
    if (context.json) context.out(JSON.stringify({ rows, output, prompt_config_used: promptConfig }));
    else context.out(`Rendered ${rows} rows into ${output}.`);
    return 0;
  });
}
