import { floatRepr } from "nemo-gym/python";
import type { Cell, Network } from "./network.ts";

/** What the model did last. */
export interface LastAction {
  text: string;
  reward: number;
  refusal: string | undefined;
}

/** The state of the network in words. */
export function describe(network: Network, step: number, last: LastAction | undefined): string {
  return [
    `5G RAN telemetry @ t=${step.toFixed(1)}s (step ${step}, tier replay):`,
    "KPI source: replay. Telemetry is synthetic and should be treated as benchmark data, not measured OAI/FlexRIC KPM.",
    ...network.flatMap(describeCell),
    ...(last ? [describeLast(last)] : []),
    "Choose one tool call (or noop) to address congestion now. Output only the tool call.",
  ].join("\n");
}

function describeCell({ ues, ...cell }: Cell, index: number): string[] {
  const violating = ues.filter(({ violations }) => violations > 0).length;
  return [
    `- Cell ${index}: DL PRB util p50=${percent(cell.prbP50)}, p99=${percent(cell.prbP99)}; UL PRB util p50=${percent(cell.ulPrb)}; ` +
      `sched latency p99 ${cell.latencyMs.toFixed(0)}ms; Jain fairness ${cell.jain.toFixed(2)}; PRACH collision rate ${percent(cell.prachCollisions)}; ` +
      `${ues.length} UEs RRC-connected; ${violating} SLA violation(s) in last 5s.`,
    ...ues.map(
      (ue) =>
        `    UE ${ue.id} (5QI ${ue.qi}): offered ${ue.offeredMbps.toFixed(1)} Mbps, delivered ${ue.deliveredMbps.toFixed(1)} Mbps, ` +
        `SINR ${ue.sinrDb.toFixed(1)} dB, BLER ${percent(ue.bler)}, mean MCS ${ue.mcs}, buffer ${ue.bufferKb.toFixed(0)} kB, ` +
        `PDB violations ${ue.violations} (${ue.violations > 0 ? "SLA-VIOLATION" : "ok"}).`,
    ),
  ];
}

function describeLast({ text, reward, refusal }: LastAction): string {
  const refused = refusal === undefined ? "" : `, REJECTED (${refusal})`;
  return `Last action: ${text}; last reward: ${floatRepr(reward)}${refused}.`;
}

const percent = (share: number): string => `${(share * 100).toFixed(0)}%`;
