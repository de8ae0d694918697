import { mergeDicts } from "../merge.ts";
import { cloneNode, type DictNode } from "../node.ts";

const MODELS = "responses_api_models";
/** The implementation of a model that is not configured. It has no code. */
export const DUMMY_MODEL = "dummy_model";

/** Initial values of commands that need no model, so that they can read configs that refer to one. */
export const NO_MODEL: Readonly<Record<string, unknown>> = {
  policy_base_url: "",
  policy_api_key: "",
  policy_model_name: "",
  policy_model: { [MODELS]: { [DUMMY_MODEL]: { entrypoint: "app.py" } } },
};

/** Removes the dummy model of an instance that has a real model. Its fields stay as defaults of the real model. */
export function foldDummyModels(root: DictNode, env: NodeJS.ProcessEnv): void {
  for (const [name, instance] of root.entries) {
    if (instance.kind !== "dict") continue;
    const models = instance.entries.get(MODELS);
    if (models?.kind !== "dict") continue;
    const dummy = models.entries.get(DUMMY_MODEL);
    const real = dummy?.kind === "dict" ? firstRealImplementation(instance) : undefined;
    if (dummy?.kind !== "dict" || real === undefined) continue;
    models.entries.delete(DUMMY_MODEL);
    if (models.entries.size === 0) instance.entries.delete(MODELS);
    const merged = cloneNode(dummy);
    const path = [String(name), real.type, real.implementation];
    mergeDicts(merged, real.block, { root, path, env });
    real.container.entries.set(real.implementation, merged);
  }
}

function firstRealImplementation(instance: DictNode) {
  const models = instance.entries.get(MODELS);
  const containers = [...instance.entries].sort(
    ([, a], [, b]) => Number(b === models) - Number(a === models),
  );
  for (const [type, container] of containers) {
    if (container.kind !== "dict") continue;
    for (const [implementation, block] of container.entries) {
      if (block.kind === "dict" && implementation !== DUMMY_MODEL)
        return { type: String(type), implementation: String(implementation), container, block };
    }
  }
  return undefined;
}
