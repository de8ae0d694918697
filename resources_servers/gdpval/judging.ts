import { type Judge, JudgeError, sleep } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import type { JudgeMessage } from "nemo-gym/verify";
import type { Member } from "./config.ts";
import type { Part } from "./files.ts";

export interface Attempts {
  calls: number;
  /** Seconds before the next call, after the 1st, 2nd, … one. */
  delay(call: number): number;
  /** Errors that may pass. */
  transient: RegExp;
}

export const RUBRIC_ATTEMPTS: Attempts = {
  ...{ calls: 6, delay: (call) => 2 * 2 ** (call - 1), transient: /\b(?:429|503|504)\b|\brate/i },
};
export const COMPARISON_ATTEMPTS: Attempts = {
  calls: 5,
  delay: (call) => Math.min(5 * 2 ** (call - 1), 60),
  transient: /\b(?:429|502|503|504)\b|rate limit|throttl|gateway|unavailable|upstream|connection/i,
};

export interface Asked {
  member: Member;
  system?: string;
  content: string | readonly Part[];
  temperature: number;
}
export type Ask = (asked: Asked, attempts: Attempts) => Promise<string>;

const MAX_TOKENS = 65_535;

/** Asks a member of the panel; the text of its reply. Errors that may pass are repeated. */
export function askerOf(judges: ReadonlyMap<string, Judge>, delayFactor: number, signal: AbortSignal): Ask {
  return async ({ member, system, content, temperature }, { calls, delay, transient }) => {
    const judge = judges.get(member.server);
    if (!judge) throw new Error(`There is no judge '${member.server}'.`);
    const given = { model: member.model, max_tokens: MAX_TOKENS, temperature, ...member.overrides };
    const params = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    const user = { role: "user", content } as JudgeMessage;
    const messages: JudgeMessage[] =
      system === undefined ? [user] : [{ role: "system", content: system }, user];
    for (let call = 1; ; call++)
      try {
        return outputText(await judge.ask(messages, { signal, params }));
      } catch (error) {
        if (!(error instanceof JudgeError) || call >= calls || !transient.test(error.message)) throw error;
        await sleep(delay(call) * 1000 * delayFactor, signal);
      }
  };
}
