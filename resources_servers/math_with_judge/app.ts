import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";
import { closeComparison } from "../../libraries/math-answers/compare-answer.ts";
import { mathConfig, mathRow } from "../../libraries/math-answers/config.ts";
import { verifyWithJudge } from "../../libraries/math-answers/judge-equivalence.ts";
import { mathMetrics } from "../../libraries/math-answers/metrics.ts";

/** Compares mathematical answers with the expected one. If they differ, a judge may find them equal. */
export default defineResourcesServer({
  config: z.object(mathConfig),
  row: z.object(mathRow),
  echo: ["expected_answer"],
  reverifyMode: "stateless",
  metrics: mathMetrics,
  stop: closeComparison,
  verify: verifyWithJudge,
});
