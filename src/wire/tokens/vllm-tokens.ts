import { GymError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { isPyFloat, isPyInt, parsePyInt } from "../../base/python/numbers/door.ts";
import type { ChatAssistantMessage, ChatChoice, ChatCompletion } from "../schemas/chat-types.ts";
import type { TokenInformation } from "../schemas/item-types.ts";

/** An answer of an engine lacks the requested token ids, or its ids contradict each other. */
export class TokenInformationError extends GymError {
  constructor(message: string) {
    super("TOKEN_INFORMATION", message);
  }
}

const fail = (message: string): never => {
  throw new TokenInformationError(message);
};

/** The token ids found in an answer. */
export type FoundTokens =
  | { kind: "complete"; tokens: TokenInformation }
  /** The ids of the prompt must be requested from `/tokenize`. */
  | { kind: "prompt-missing"; generation_token_ids: number[]; generation_log_probs: number[] };

/**
 * Finds the token ids in an answer of an engine: in the message, in the choice, or in the log-probabilities. The sources
 * must agree, and an incomplete source is an error. Ids are never invented.
 */
export function findTokens(completion: ChatCompletion): FoundTokens {
  const [choice] = completion.choices;
  if (choice === undefined) return fail("the completion has no choices");
  const onMessage = messageTokens(choice.message);
  const beside = idsBesideChoice(completion, choice);
  if (onMessage !== undefined) {
    if (beside !== undefined) {
      requireEqual(
        onMessage.prompt_token_ids,
        beside.prompt,
        "the message's and the response's prompt token ids",
      );
      requireEqual(
        onMessage.generation_token_ids,
        beside.generation,
        "the message's and the choice's token ids",
      );
    }
    return { kind: "complete", tokens: onMessage };
  }
  const { ids, logProbs } = idsInLogprobs(choice);
  if (beside === undefined) {
    return { kind: "prompt-missing", generation_token_ids: ids, generation_log_probs: logProbs };
  }
  requireEqual(beside.generation, ids, "the choice's token ids and those of its log-probabilities");
  return { kind: "complete", tokens: bundle(beside.prompt, ids, logProbs, choice.message) };
}

/** Adds token ids to the message and removes the fields from which they were read. */
export function attachTokens(
  completion: ChatCompletion,
  found: FoundTokens,
  promptTokenIds?: readonly number[],
): ChatCompletion {
  const [choice = fail("the completion has no choices"), ...others] = completion.choices;
  const tokens =
    found.kind === "complete"
      ? found.tokens
      : bundle(
          promptTokenIds ?? fail("the prompt's token ids are missing"),
          found.generation_token_ids,
          found.generation_log_probs,
          choice.message,
        );
  const { prompt_token_ids: _prompt, ...rest } = completion;
  const { token_ids: _ids, ...bare } = choice;
  const message = { ...choice.message, ...tokens };
  // Log-probabilities are removed only if the token lists were read from them.
  if (messageTokens(choice.message) === undefined) delete bare.logprobs;
  return { ...rest, choices: [{ ...bare, message }, ...others] };
}

function bundle(
  prompt: readonly number[],
  generation: readonly number[],
  logProbs: readonly number[],
  message: ChatAssistantMessage,
): TokenInformation {
  if (generation.length !== logProbs.length) {
    fail(`${generation.length} token ids came with ${logProbs.length} log-probabilities`);
  }
  // JSON has no such number, and no trainer could use it.
  if (!logProbs.every(Number.isFinite)) fail("a log-probability of a generated token is not a finite number");
  const tokens: TokenInformation = {
    prompt_token_ids: [...prompt],
    generation_token_ids: [...generation],
    generation_log_probs: [...logProbs],
  };
  if (message.routed_experts != null) tokens.routed_experts = message.routed_experts;
  return tokens;
}

const isIds = (value: unknown): value is number[] => Array.isArray(value) && value.every(Number.isInteger);
const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "number");

function messageTokens(message: ChatAssistantMessage): TokenInformation | undefined {
  const {
    prompt_token_ids: prompt,
    generation_token_ids: generation,
    generation_log_probs: logProbs,
  } = message;
  if (prompt === undefined && generation === undefined && logProbs === undefined) return undefined;
  if (!isIds(prompt) || !isIds(generation) || !isNumbers(logProbs)) {
    return fail("the message contains only some of the token lists, or lists without token ids");
  }
  return bundle(prompt, generation, logProbs, message);
}

function idsBesideChoice(completion: ChatCompletion, choice: ChatChoice) {
  const { prompt_token_ids: prompt } = completion;
  const { token_ids: generation } = choice;
  if (prompt == null && generation == null) return undefined;
  if (!isIds(prompt)) return fail("token_ids came without prompt_token_ids");
  if (!isIds(generation)) return fail("prompt_token_ids came without the choice's token_ids");
  return { prompt, generation };
}

const TOKEN_ID = "token_id:";

/** Reads the id from a text such as `token_id:17`, like `int` of Python. */
function tokenIdOf(token: unknown): number | undefined {
  if (typeof token !== "string" || !token.startsWith(TOKEN_ID)) return undefined;
  const id = parsePyInt(token.slice(TOKEN_ID.length));
  return id === undefined ? undefined : Number(id);
}

function idsInLogprobs(choice: ChatChoice): { ids: number[]; logProbs: number[] } {
  const entries: unknown = choice.logprobs?.content;
  if (!Array.isArray(entries))
    return fail("the engine answered without log-probabilities although they were requested");
  const ids: number[] = [];
  const logProbs: number[] = [];
  for (const [index, entry] of (entries as (JsonObject | null)[]).entries()) {
    const id = tokenIdOf(entry?.["token"]);
    const logProb = entry?.["logprob"];
    if (id === undefined)
      return fail(`logprobs.content.${index}.token does not have the form token_id:<number>`);
    if (!isPyFloat(logProb) && !isPyInt(logProb))
      return fail(`logprobs.content.${index}.logprob is not a number`);
    ids.push(id);
    logProbs.push(Number(logProb));
  }
  return { ids, logProbs };
}

function requireEqual(left: readonly number[], right: readonly number[], what: string): void {
  const differs = left.length !== right.length || left.some((id, index) => id !== right[index]);
  if (differs) fail(`${what} differ`);
}
