import { z } from "zod";
import type { KeystrokeBatch } from "./terminal.ts";

/** A turn of the model: what it types, and whether it considers the task done. */
export interface Turn extends KeystrokeBatch {
  isComplete: boolean;
}

/** How the model writes its turns. */
export interface TurnFormat {
  /** What the model is told at the start. */
  instructions: string;
  /** Reads a turn. Returns a sentence for the model if it cannot be read. */
  read(text: string): Turn | string;
}

const MAX_DURATION = 60;
const DEFAULT_DURATION = 1;

const TASK = `You work in a Linux terminal until a task is done. You cannot ask anybody: decide for yourself. The terminal is a tmux window with a shell, and it stays open between your turns. After each turn you get what it shows.`;

const RULES = `- The keystrokes are typed exactly as given. End a shell command with a newline, or it does not run.
- An entry that is only the name of a key for tmux presses that key, for example C-c, C-d, Escape or Up.
- The duration is the number of seconds to wait after the keystrokes, at most ${MAX_DURATION}: 0.1 for quick commands such as cd, ${DEFAULT_DURATION} by default, more for programs that take longer. If a program is not finished, wait again with empty keystrokes.
- Do not write anything before or after your turn.
- When you are sure that the task is done, say so with the mark of completion. You are asked once more before the work ends.`;

const Duration = z.coerce.number().min(0).catch(DEFAULT_DURATION);
const Complete = z
  .union([z.boolean(), z.string().transform((text) => text.trim().toLowerCase() === "true")])
  .catch(false);

const JsonTurn = z.object({
  commands: z.array(
    z.object({ keystrokes: z.string(), duration: Duration.default(DEFAULT_DURATION) }),
    "`commands` must be a list of objects with `keystrokes`",
  ),
  task_complete: Complete.default(false),
});

const json: TurnFormat = {
  instructions: `${TASK}

Each of your turns is one JSON object:

{
  "analysis": "what the terminal shows, and what is still to be done",
  "plan": "what you do now, and what you expect from it",
  "commands": [{"keystrokes": "ls -la\\n", "duration": 0.1}],
  "task_complete": false
}

\`commands\` may be empty, and \`task_complete\` may be left out.

${RULES}`,
  read(text) {
    const found = objectIn(text);
    if (found === undefined) return "There is no complete JSON object in it.";
    let value: unknown;
    try {
      value = JSON.parse(found);
    } catch (error) {
      return `Its JSON is invalid: ${(error as Error).message}.`;
    }
    const turn = JsonTurn.safeParse(value);
    if (!turn.success) {
      const [issue] = turn.error.issues;
      return `Its JSON has another form: ${issue?.path.join(".") ?? ""}: ${issue?.message}.`;
    }
    return { commands: turn.data.commands, isComplete: turn.data.task_complete };
  },
};

const xml: TurnFormat = {
  instructions: `${TASK}

Each of your turns has this form:

<response>
<analysis>what the terminal shows, and what is still to be done</analysis>
<plan>what you do now, and what you expect from it</plan>
<commands>
<keystrokes duration="0.1">ls -la
</keystrokes>
</commands>
<task_complete>false</task_complete>
</response>

\`<commands>\` may be empty, and \`<task_complete>\` may be left out. Write keystrokes without XML escapes: && and not &amp;&amp;.

${RULES}`,
  read(text) {
    const commands = /<commands\s*>(.*?)<\/commands>|<commands\s*\/>/s.exec(text);
    if (commands === null) return "It has no complete <commands> element.";
    const complete = /<task_complete>(.*?)<\/task_complete>/s.exec(text)?.[1];
    return {
      commands: Array.from(
        (commands[1] ?? "").matchAll(/<keystrokes([^>]*)>(.*?)<\/keystrokes>/gs),
        ([, attributes = "", keystrokes = ""]) => ({
          keystrokes,
          duration: Duration.parse(
            /duration\s*=\s*["']([^"']*)["']/.exec(attributes)?.[1] ?? DEFAULT_DURATION,
          ),
        }),
      ),
      isComplete: Complete.parse(complete),
    };
  },
};

export const turnFormats = { json, xml } as const;

/** The first JSON object in a text, by its braces. */
function objectIn(text: string): string | undefined {
  const start = text.indexOf("{");
  if (start < 0) return undefined;
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === "\\") at++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return text.slice(start, at + 1);
  }
  return undefined;
}
