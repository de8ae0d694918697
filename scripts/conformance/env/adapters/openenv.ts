import { MOVE, OpenEnvDouble, walk } from "../../../../resources_servers/openenv/openenv-double.ts";
import type { Adapter } from "../adapters.ts";
import { type FixtureRow, isObject, rowsOf } from "../rows.ts";
import { runStepsCase } from "../steps-case.ts";

/** The environment of the fixtures, behind a server with OpenEnv's protocol. */
export const adapter: Adapter = {
  caseOf: (row, environment) => async () => {
    const double = await OpenEnvDouble.start(MOVE, walk);
    try {
      const config = { ...row.config, base_url: double.url };
      return await runStepsCase({ ...row, config, expected: withoutErrorTexts(row) }, environment);
    } finally {
      await double.close();
    }
  },
};

/** `error_prefix` represents a text of the library: only the other fields are compared. */
function withoutErrorTexts({ expected }: FixtureRow): FixtureRow["expected"] {
  const results = rowsOf(expected["results"]).map((result) => {
    const { body, ...rest } = result;
    if (!isObject(body) || body["error_prefix"] === undefined) return result;
    const { error_prefix: _, ...fields } = body;
    return { ...rest, ...fields };
  });
  return { ...expected, results };
}
