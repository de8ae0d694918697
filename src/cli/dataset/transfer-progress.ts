import type { CommandContext } from "../command.ts";
import { createProgress, type Progress } from "../render/progress.ts";

const KILOBYTE = 1000;

/** A progress line per task, in kilobytes; a new label ends the previous line. */
export class ByteProgress {
  private readonly context: CommandContext;
  private label: string | undefined;
  private progress: Progress | undefined;

  constructor(context: CommandContext) {
    this.context = context;
  }

  update(label: string, done: number, total: number | undefined): void {
    if (total === undefined) return;
    if (label !== this.label) {
      this.end();
      this.label = label;
      const { io, env } = this.context;
      this.progress = createProgress(io.stderr, { label, total: Math.ceil(total / KILOBYTE), env });
    }
    this.progress?.update(Math.ceil(done / KILOBYTE), "kB");
  }

  /** Removes the line before other text is written. */
  clear(): void {
    this.progress?.clear();
  }

  end(): void {
    this.progress?.clear();
    this.progress = undefined;
    this.label = undefined;
  }
}
