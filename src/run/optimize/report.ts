import { isObject } from "../../base/python/json/door.ts";
import { escapeInterpolations } from "../../config/door.ts";
import { DEFAULT_ORIGIN, nodeFromPlain } from "../../config/light-door.ts";
import { writeYaml } from "../../config/yaml/door.ts";
import { type Row, writeFileAtomically } from "../../records/files/door.ts";
import type { Estimate } from "../../records/metrics/door.ts";
import { type CandidateLayer, setAt } from "./components.ts";
import type { CountedLeak } from "./leaks.ts";
import type { OptimizeResult } from "./optimize.ts";

interface ReportOptions {
  /** What the best candidate changes. */
  layer: CandidateLayer;
  leaks: readonly CountedLeak[];
  /** Whether the budget sufficed for the whole test. */
  isComplete: boolean;
}

/** Writes `best.yaml`, a config layer with the best texts, and `report.md`. */
export async function writeResult(result: OptimizeResult, options: ReportOptions): Promise<void> {
  const { config, report } = result.files;
  const comment = `# ${conclusionOf(result)}\n# gym eval run --config ${config} … uses these texts.\n`;
  const layer = nodeFromPlain(escaped(configLayer(options.layer)), DEFAULT_ORIGIN);
  await writeFileAtomically(config, [comment, writeYaml(layer)]);
  await writeFileAtomically(report, [reportText(result, options)]);
}

/** The result in one sentence. */
export function conclusionOf({ best, improved, test, untested }: OptimizeResult): string {
  if (best === 0) return "No improvement shown: no candidate is better on the validation tasks.";
  if (test === null) return `No improvement shown: ${untested}.`;
  const difference = `${intervalText(test.difference)} on ${test.wins + test.losses + test.ties} test tasks`;
  return improved ? `Improved by ${difference}.` : `No improvement shown: the difference is ${difference}.`;
}

/** `0.2500 [0.1000, 0.4000]` */
export function intervalText({ value, low, high }: Estimate): string {
  const text = (number: number | null) => (number === null ? "?" : number.toFixed(4));
  return `${text(value)} [${text(low)}, ${text(high)}]`;
}

function configLayer({ textOverrides, promptConfig, skills, config }: CandidateLayer): Row {
  const layer: Row = {
    ...(textOverrides && { text_overrides: textOverrides }),
    ...(promptConfig !== undefined && { prompt_config: promptConfig }),
    ...(skills !== undefined && { skills: { path: skills } }),
  };
  for (const [key, text] of Object.entries(config)) setAt(layer, key.split("."), text);
  return layer;
}

/** Texts may contain `${`, which a config would resolve. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return escapeInterpolations(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escaped(member)]));
}

function reportText(result: OptimizeResult, { leaks, isComplete }: ReportOptions): string {
  const { candidates, test, best, stopped, rejections, rollouts, tokens, spent } = result;
  const seed = candidates.find(({ index }) => index === 0);
  const winner = candidates.find(({ index }) => index === best);
  const lines = [
    "# Optimization",
    "",
    `**${conclusionOf(result)}**`,
    ...(isComplete ? [] : ["", "The budget was spent during the test, so it has fewer tasks than planned."]),
    "",
    ...(test
      ? [
          "| Test split | Mean reward, 95 % interval |",
          "| --- | --- |",
          `| Texts as they were | ${intervalText(test.before)} |`,
          `| Best candidate (${best}) | ${intervalText(test.after)} |`,
          `| Difference, paired by task | ${intervalText(test.difference)} |`,
          "",
          `Better on ${test.wins} tasks, worse on ${test.losses}, equal on ${test.ties}. No step of the search saw these tasks.`,
          "",
        ]
      : []),
    `Used: ${rollouts} rollouts, ${tokens} tokens, $${spent.toFixed(4)}. The search ended because ${stopped}.`,
    "",
    "## Candidates",
    "",
    "| Candidate | Parents | Changed | Validation |",
    "| --- | --- | --- | --- |",
    ...candidates.map(
      ({ index, parents, component, score }) =>
        `| ${index} | ${parents.join(", ") || "–"} | ${component ?? (parents.length > 1 ? "merge" : "–")} | ${score?.toFixed(4) ?? "–"} |`,
    ),
    "",
    ...(Object.keys(rejections).length > 0
      ? [
          "## Rejected proposals",
          "",
          ...Object.entries(rejections).map(([reason, count]) => `- ${count}: ${reason}`),
          "",
        ]
      : []),
    ...(leaks.length > 0
      ? [
          "Rejected because they contain a gold answer:",
          "",
          ...leaks.map(
            ({ component, source, field, words, count }) =>
              `- ${component}: "${words}" is in \`${field}\` of ${source}${count > 1 ? ` (${count} proposals)` : ""}`,
          ),
          "",
        ]
      : []),
    "## Texts of the best candidate",
    "",
    ...Object.entries(winner?.texts ?? {}).flatMap(([name, text]) =>
      text === seed?.texts[name] ? [] : [`### ${name}`, "", fenced(text), ""],
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** A fence that the text does not contain. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
