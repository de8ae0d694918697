import { checkLine, type HealthLine, type LineHealth } from "./check-line.ts";

/** Lines of a rollouts file that a worker checks. */
export interface HealthTask {
  lines: HealthLine[];
  file: string;
  ignored: string[];
}

/** Checks the lines in this thread. */
export default function checkLines({ lines, file, ignored }: HealthTask): LineHealth[] {
  const skipped = new Set(ignored);
  return lines.map((line) => checkLine(line, file, skipped));
}
