import { z } from "zod";

const number = z.custom<number>((value) => typeof value === "number");

const Terminus1 = z.strictObject({
  state_analysis: z.string(),
  explanation: z.string(),
  commands: z.array(
    z.strictObject({ keystrokes: z.string(), is_blocking: z.boolean(), timeout_sec: number }),
  ),
  is_task_complete: z.boolean(),
});

const Terminus2 = z.strictObject({
  analysis: z.string(),
  plan: z.string(),
  commands: z.array(z.strictObject({ keystrokes: z.string(), duration: number.optional() })),
  task_complete: z.boolean().optional(),
});

/** A turn of a terminal agent: what it types, and whether it considers the task done. */
export interface Turn {
  keystrokes: string;
  isComplete: boolean;
}

/** How to read a turn in the format of a harness; undefined if the value does not have that format. */
export const HARNESSES: ReadonlyMap<unknown, (value: unknown) => Turn | undefined> = new Map([
  ["terminus_1", (value: unknown) => turnOf(Terminus1.safeParse(value).data, "is_task_complete")],
  ["terminus_2", (value: unknown) => turnOf(Terminus2.safeParse(value).data, "task_complete")],
]);

function turnOf<Flag extends string>(
  turn: ({ commands: { keystrokes: string }[] } & { [Key in Flag]?: boolean | undefined }) | undefined,
  flag: Flag,
): Turn | undefined {
  return (
    turn && {
      keystrokes: turn.commands.map(({ keystrokes }) => keystrokes).join(""),
      isComplete: turn[flag] === true,
    }
  );
}
