import path from "node:path";
import { printable } from "../../base/door.ts";
import { PACKED_SUFFIX } from "../../records/door.ts";
import {
  type Calibration,
  calibrate,
  labelsByRollout,
  labelsPath,
  readRolloutLabels,
  writeCalibration,
} from "../../records/judges/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { outputFile, rolloutFile, shownPath } from "../files.ts";
import { countText } from "../render/progress.ts";
import { renderTable } from "../render/table.ts";
import { wrapText } from "../render/text-width.ts";
import { judgedAgent } from "./judged-agent.ts";

const WIDTH = 78;

interface CalibrateFlags {
  labels: readonly string[];
  agent: string | undefined;
  threshold: number;
  output: string | undefined;
}

/** Runs `gym judge calibrate`. */
export async function calibrateJudge(
  context: CommandContext,
  given: string,
  flags: CalibrateFlags,
): Promise<number> {
  const { out, err, json, signal, terminal } = context;
  const { path: run, agent } = await judgedAgent(context, given, flags.agent);
  const files: string[] = [];
  for (const file of flags.labels) files.push(await rolloutFile(context, file, "--labels"));
  if (files.length === 0) files.push(labelsPath(run));
  const shown = files.map((file) => shownPath(context, file)).join(", ");
  const { labels, torn, repeated } = await readRolloutLabels(files, { signal });
  if (labels.length === 0)
    throw new UsageError(`there are no labels in '${shown}': label rollouts with gym judge label ${given}`);
  const output =
    flags.output === undefined
      ? path.join(folderOf(run), "calibration.json")
      : await outputFile(context, flags.output, "name a file");
  const byRollout = labelsByRollout(labels, agent.rollouts, { labels: shown, run: shownPath(context, run) });
  for (const line of torn) err(terminal.yellow(`${line}: the line is incomplete, and left out.`));
  if (repeated > 0) err(terminal.yellow(`${countText(repeated, "repeated label")} counted once.`));
  const calibration = calibrate(agent, byRollout, { threshold: flags.threshold, now: new Date() });
  await writeCalibration(output, calibration);
  if (json) out(JSON.stringify({ file: output, ...calibration }));
  else print(calibration, context, shownPath(context, output));
  return 0;
}

/** The folder of the rollouts; of a packed run, the one that contains it. */
function folderOf(run: string): string {
  const folder = path.dirname(run);
  return folder.endsWith(PACKED_SUFFIX) ? path.dirname(folder) : folder;
}

function print(calibration: Calibration, { out, terminal }: CommandContext, file: string): void {
  const { judge, labels, confusion, agreement, scores, environment, agent } = calibration;
  const line = (text: string) => {
    for (const part of wrapText(text, WIDTH)) out(part);
  };
  const models = judge.models.map((model) => model ?? "a model without a name").join(", ");
  out(terminal.bold(`Judge of ${printable(environment ?? agent)}: ${printable(models)}`));
  const people = `${countText(labels.labels, "label")} by ${labels.labellers.map(printable).join(", ")}`;
  const left = [
    ...(labels.unclear > 0 ? [`${labels.unclear} unclear`] : []),
    ...(labels.tied > 0 ? [`${labels.tied} on which people are tied`] : []),
    ...(labels.by_models > 0 ? [`${countText(labels.by_models, "label")} by models`] : []),
  ];
  line(
    `${labels.rollouts} of ${countText(calibration.run.scored, "rollout")} labelled (${people})${left.length > 0 ? `; not counted: ${left.join(", ")}` : ""}`,
  );
  out("");
  const rows = ["accepts", "rejects"].map((verdict, place) => [
    `judge ${verdict}`,
    ...(confusion.labelled[place] ?? []).map(String),
    ...(confusion.weighted_shares[place] ?? []).map((share) => `${(100 * share).toFixed(1)} %`),
  ]);
  const columns = ["", "right", "wrong", "right, of all", "wrong, of all"];
  out(renderTable({ title: "Labels", columns, rows }, terminal));
  out("");
  const facts: [string, string][] = [
    ["base rate (right)", shareText(calibration.base_rate)],
    ["true positive rate", intervalText(calibration.true_positive_rate)],
    ["true negative rate", intervalText(calibration.true_negative_rate)],
    ["Cohen's kappa", shareText(agreement.cohen_kappa)],
    ["Gwet's AC1", shareText(agreement.gwet_ac1)],
    ["Krippendorff's alpha", shareText(agreement.krippendorff_alpha)],
    ["alpha between people", shareText(agreement.between_people_alpha)],
    ["score, raw", shareText(scores.raw)],
    ["score, corrected", intervalText(scores.corrected)],
  ];
  for (const [name, value] of facts) out(`  ${name.padEnd(22)}${value}`);
  out("");
  out(`Calibration: ${file}`);
}

function shareText(value: number | null): string {
  return value === null ? "not defined" : value.toFixed(4);
}

function intervalText(share: { value: number; low: number; high: number } | null): string {
  return share === null
    ? "not known: no such label"
    : `${share.value.toFixed(4)} [${share.low.toFixed(4)}, ${share.high.toFixed(4)}]`;
}
