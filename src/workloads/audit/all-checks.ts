import type { Check } from "./audit.ts";
import { determinismCheck } from "./checks/determinism.ts";
import { exampleDataCheck } from "./checks/example-data.ts";
import { exampleMetricsCheck } from "./checks/example-metrics.ts";
import { goldCheck } from "./checks/gold.ts";
import { isolationCheck } from "./checks/isolation.ts";
import { injectionCheck, judgeFailureCheck } from "./checks/judge.ts";
import { malformedCheck } from "./checks/malformed.ts";
import { nonsenseCheck } from "./checks/nonsense.ts";
import { orderCheck } from "./checks/order.ts";
import { rewardRangeCheck } from "./checks/reward-range.ts";
import { speedCheck } from "./checks/speed.ts";

/** Everything an audit looks at, in the order of the report. */
export const checks: readonly Check[] = [
  exampleDataCheck,
  exampleMetricsCheck,
  goldCheck,
  nonsenseCheck,
  rewardRangeCheck,
  determinismCheck,
  orderCheck,
  isolationCheck,
  malformedCheck,
  speedCheck,
  judgeFailureCheck,
  injectionCheck,
];
