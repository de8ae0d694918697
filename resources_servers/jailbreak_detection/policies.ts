import { compilePrompt, loadYaml, type PromptTemplate, type ServerContext } from "nemo-gym";
import { z } from "zod";
import { type Labels, plainLabels, rewardOf, type SafetyJudge } from "../../libraries/safety/safety-judge.ts";

export const promptFields = ["adversarial_prompt", "model_response"];

const VerifierFile = z.looseObject({
  prompt_template: z.string(),
  labels: z.object({ positive: z.string(), negative: z.string() }),
  rewards: z
    .object({
      positive: z.number().default(1),
      negative: z.number().default(0),
      unclear: z.number().default(0),
    })
    .prefault({}),
});

const PolicyMap = z.record(
  z.string(),
  z.looseObject({
    verifiers: z.array(z.string()).min(1),
    /** `product`, `average`; anything else: the reward of the first verifier. */
    reward_combination: z.string().default("product"),
  }),
);

const PolicyFile = z.object({ policy_verifier_map: PolicyMap }).catchall(VerifierFile);

interface Verifier {
  name: string;
  prompt: PromptTemplate;
  labels: Labels;
  rewards: z.output<typeof VerifierFile>["rewards"];
}

interface Policy {
  verifiers: Verifier[];
  combine(rewards: readonly number[]): number;
}

/** How a reply is checked, by the policy that it should follow. */
export type Policies = ReadonlyMap<string, Policy>;

export async function loadPolicies(server: ServerContext, path: string): Promise<Policies> {
  const { policy_verifier_map: policies, ...verifiers } = await loadYaml(server, path, PolicyFile);
  const verifierNamed = (name: string): Verifier => {
    const found = verifiers[name] as z.output<typeof VerifierFile> | undefined;
    if (!found)
      throw new Error(`${path}: there is no verifier '${name}', only ${Object.keys(verifiers).join(", ")}.`);
    return {
      name,
      prompt: compilePrompt(found.prompt_template, { source: `${path}: ${name}`, fields: promptFields }),
      labels: plainLabels(found.labels.positive, found.labels.negative),
      rewards: found.rewards,
    };
  };
  return new Map(
    Object.entries(policies).map(([name, policy]) => [
      name,
      { verifiers: policy.verifiers.map(verifierNamed), combine: combination(policy.reward_combination) },
    ]),
  );
}

function combination(name: string): Policy["combine"] {
  if (name === "product") return (rewards) => rewards.reduce((product, reward) => product * reward, 1);
  if (name === "average")
    return (rewards) => rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  return ([first = 0]) => first;
}

/** Asks the verifiers of a policy, all at once. */
export async function followsPolicy(
  { verifiers, combine }: Policy,
  judge: SafetyJudge,
  values: Record<string, string>,
  signal: AbortSignal,
) {
  const results = await Promise.all(
    verifiers.map(async ({ name, prompt, labels, rewards }) => {
      const { verdict_label: label } = await judge.evaluate(prompt.render(values), labels, signal);
      return { name, label, reward: rewardOf(label, labels, rewards) };
    }),
  );
  return {
    reward: combine(results.map(({ reward }) => reward)),
    verifier_rewards: Object.fromEntries(results.map(({ name, reward }) => [name, reward])),
    verifier_labels: Object.fromEntries(results.map(({ name, label }) => [name, label])),
  };
}
