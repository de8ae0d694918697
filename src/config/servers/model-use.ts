import { place } from "../errors.ts";
import type { Interpolator } from "../interpolation/interpolate.ts";
import { scalarsIn } from "../key-path.ts";
import { type DictNode, positionOf } from "../node.ts";
import { DUMMY_MODEL } from "./no-model.ts";
import { readReference } from "./server-references.ts";
import type { ServerBlock } from "./server-schema.ts";

const MODELS = "responses_api_models";
/** The model of `--model-type`. A command may start it alone, or for an agent that calls its model in another way. */
const POLICY = "policy_model";

/** Model servers that judge the answers of their own model, and model servers that nobody calls. */
export function modelUseWarnings(
  root: DictNode,
  servers: readonly ServerBlock[],
  interpolator: Interpolator,
): string[] {
  const models = servers.filter(
    ({ type, implementation }) => type === MODELS && implementation !== DUMMY_MODEL,
  );
  const others = servers.filter(({ type }) => type !== MODELS);
  if (models.length === 0 || others.length === 0) return [];
  const names = new Set(models.map(({ name }) => name));
  const tested = new Set<string>();
  const judges: { server: ServerBlock; field: string; model: string }[] = [];
  for (const server of servers) {
    for (const [key, node] of server.block.entries) {
      const field = String(key);
      const path = [server.name, server.type, server.implementation, field];
      const reference = readReference(interpolator.resolve(node, path), interpolator);
      if (reference?.type !== MODELS || !names.has(reference.name)) continue;
      if (server.type === "responses_api_agents") tested.add(reference.name);
      else if (/judge|grader|rubric|genrm/i.test(field))
        judges.push({ server, field, model: reference.name });
    }
  }
  const selfJudged = judges.filter(({ model }) => tested.has(model));
  return [
    ...selfJudged.map(
      ({ server: { name, type, implementation }, field, model }) =>
        `'${name}' asks '${model}', the model under test, to judge. For another judge, add a model server and set ` +
        `${name}.${type}.${implementation}.${field}.name to its name.`,
    ),
    ...uncalled(models, root).map(
      ({ name, block }) =>
        `The model server '${name}' is started, but nothing refers to it${place(positionOf(block))}.`,
    ),
  ];
}

/** Models whose name occurs nowhere in the config: references may be nested, and interpolated from any key. */
function uncalled(models: readonly ServerBlock[], root: DictNode): ServerBlock[] {
  const candidates = models.filter(({ name }) => name !== POLICY);
  if (candidates.length === 0) return [];
  const values = new Set([...scalarsIn(root)].map(({ node }) => node.value));
  return candidates.filter(({ name }) => !values.has(name));
}
