import { getCloseMatches } from "../../python/difflib.ts";
import { readWith } from "../../wire/schemas/readers.ts";
import { CREATE_PARAM_KEYS, readCreateParams } from "../../wire/schemas/responses.ts";
import { ValidationError } from "../../wire/schemas/validation.ts";
import { CommandKeysError } from "../usage-error.ts";

const NEARNESS = 0.85;

/** Fields that replace those of every row: a wrong one would fail every rollout, so it is refused before any starts. */
export function checkSampling(overrides: Readonly<Record<string, unknown>> | undefined): void {
  for (const name of Object.keys(overrides ?? {})) {
    const [nearest] = CREATE_PARAM_KEYS.includes(name)
      ? []
      : getCloseMatches(name, CREATE_PARAM_KEYS, 1, NEARNESS);
    if (nearest !== undefined)
      throw new CommandKeysError(
        `invalid configuration: responses_create_params has no field '${name}'. Did you mean '${nearest}'?`,
      );
  }
  // Fields of other protocols are for the servers to judge.
  const known = Object.entries(overrides ?? {}).filter(([name]) => CREATE_PARAM_KEYS.includes(name));
  try {
    readWith(readCreateParams, { input: [], ...Object.fromEntries(known) }, ["responses_create_params"]);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.detail.map(
      ({ loc, msg, input }) => `${loc.join(".")} (${msg}, not ${JSON.stringify(input)})`,
    );
    throw new CommandKeysError(`invalid configuration: ${problems.join("; ")}.`);
  }
}
