import { defineGrader } from "../../libraries/swe/define-grader.ts";
import { sweMetrics } from "../../libraries/swe/metrics.ts";

export default defineGrader(sweMetrics);
