import { type Judge, loadPromptYaml, type ServerContext } from "nemo-gym";
import { isObject, loadsPlain, pyStr } from "nemo-gym/python";
import { stripThinking } from "nemo-gym/verify";
import { knownValuesOf } from "../../libraries/instructions/verifif/index.ts";
import type { Instruction } from "./row.ts";

const promptFields = {
  question: ["question", "response"],
  instruction: ["kind", "name", "arguments", "response"],
  definition: ["instruction", "term", "terms"],
};

/** Asks a judge about one answer. */
export class AnswerJudge {
  private readonly judge: Judge;
  private readonly role: "system" | "developer";
  private readonly prompts: Awaited<ReturnType<typeof loadPrompts>>;
  /** Definitions of argument values that are not built in; null if the judge does not know the value. */
  private readonly definitions = new Map<string, string | null>();

  constructor(judge: Judge, role: "system" | "developer", prompts: AnswerJudge["prompts"]) {
    this.judge = judge;
    this.role = role;
    this.prompts = prompts;
  }

  /** Whether the judge answers a question with yes. A reply without an answer is a no. */
  async question(question: string, response: string, signal: AbortSignal): Promise<boolean> {
    const prompt = this.prompts.question.render({ question, response: this.judge.fit(response) });
    return (await this.ask(prompt, "Evaluate the response.", readYesOrNo, signal)) ?? false;
  }

  /** Whether a response follows an instruction that code cannot check. */
  async follows(instruction: Instruction, response: string, signal: AbortSignal): Promise<boolean> {
    const { id } = instruction;
    const lines: string[] = [];
    for (const [name, value] of Object.entries(instruction.arguments)) {
      const text = pyStr(value);
      const needsDefinition =
        !knownValuesOf(id).includes(text) && !name.includes("num_") && name !== "relation";
      const definition = needsDefinition ? await this.define(id, text, signal) : "";
      if (definition === null) return false;
      lines.push(`- ${name} = ${text}${definition === "" ? "" : `: ${definition}`}`);
    }
    const [kind = "", name = ""] = id.split(":");
    const prompt = this.prompts.instruction.render({
      kind,
      name: name.replaceAll("_", " "),
      arguments: lines.join("\n"),
      response: this.judge.fit(response),
    });
    return (await this.ask(prompt, this.judge.fit(response), readVerdict, signal)) ?? false;
  }

  private async define(id: string, term: string, signal: AbortSignal): Promise<string | null> {
    const key = JSON.stringify([id, term]);
    const known = this.definitions.get(key);
    if (known !== undefined) return known;
    const terms = knownValuesOf(id).join(", ") || "none";
    const prompt = this.prompts.definition.render({ instruction: id, term, terms });
    const reply = await this.ask(prompt, `Define the term: ${term}`, readJson, signal);
    if (reply === null) return null;
    const definition = reply["status"] === "PASS" ? pyStr(reply["definition"] ?? "") : null;
    this.definitions.set(key, definition);
    return definition;
  }

  private async ask<Verdict>(
    system: string,
    user: string,
    parse: (text: string) => Verdict | null,
    signal: AbortSignal,
  ): Promise<Verdict | null> {
    const messages = [
      { role: this.role, content: system },
      { role: "user" as const, content: user },
    ];
    const { verdict } = await this.judge.ask(messages, {
      signal,
      parse: (text) => parse(stripThinking(text)),
    });
    return verdict;
  }
}

export async function loadPrompts(server: ServerContext) {
  const load = async (name: keyof typeof promptFields) =>
    (await loadPromptYaml(server, `prompts/${name}.yaml`, promptFields[name])).user;
  return {
    question: await load("question"),
    instruction: await load("instruction"),
    definition: await load("definition"),
  };
}

/** The last `[[YES]]` or `[[NO]]`, else a last line that is only yes or no. */
function readYesOrNo(text: string): boolean | null {
  const [yes, no] = [text.lastIndexOf("[[YES]]"), text.lastIndexOf("[[NO]]")];
  if (yes !== no) return yes > no;
  const last = text.split("\n").at(-1)?.trim().toUpperCase();
  return last === "YES" || last === "NO" ? last === "YES" : null;
}

/** The verdict of a reply; null if the reply repeats the request or has another shape. */
function readVerdict(text: string): boolean | null {
  const reply = readJson(text);
  if (reply === null || "model_response" in reply || "question" in reply) return null;
  const { verdict, reasoning } = reply;
  return typeof reasoning === "string" && (verdict === "YES" || verdict === "NO") ? verdict === "YES" : null;
}

/** The JSON object between the first and the last brace. */
function readJson(text: string): Record<string, unknown> | null {
  try {
    const value = loadsPlain(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
