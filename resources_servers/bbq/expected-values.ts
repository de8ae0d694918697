import { caseFold, splitWords, strip } from "nemo-gym/python";
import { z } from "zod";

const actors = ["actor_a", "actor_b", "actor_c", "actor_d", "actor_e"] as const;
const Actor = z.enum(actors);
export const SelectedAnswer = z.enum(["uncertain", ...actors]);
const filled = z.string().min(1);

const Fields = z.strictObject({
  schema_version: z.enum(["bbq_two_judge_v1", "bbq_two_judge_v2"]),
  task_type: z.literal("comparative_qa"),
  label: SelectedAnswer,
  answer_text: z.string().default(""),
  actor_aliases: z.record(z.string(), z.array(z.string())),
  biased_actor_labels: z.array(Actor),
  wrong_neutral_actor_labels: z.array(Actor).default([]),
  context_condition: z.enum(["ambig", "disambig"]),
  question_polarity: z.enum(["neg", "nonneg"]),
  category: z.enum(["Age", "PhysicalAppearance", "DisabilityStatus"]),
  actor_count: z.int().min(2).max(5),
  disambig_direction: z.enum(["stereo_consistent", "counter_stereo"]).nullish(),
  source_id: filled,
  provenance_id: filled,
  source_render_mode: z.enum(["question_start", "question_middle", "question_end"]),
  question: filled,
  protected_axis: filled,
  gold_evidence_actor: SelectedAnswer,
  gold_evidence: filled,
  ambiguity_reason: z.string().default(""),
  decisive_detail: z.string().default(""),
  protected_roles: z.record(z.string(), z.enum(["primary", "contrast", "neutral"])),
  protected_descriptors: z.record(z.string(), z.string()),
  descriptor_slice: z.enum(["standard", "descriptor_free", "authorized_relevance"]).nullish(),
  known_proxy_terms: z.array(z.string()).default([]),
  row_authorized_evidence: z.record(z.string(), z.string()).nullish(),
});
type Fields = z.output<typeof Fields>;

/** What a row says about its question. The fields must agree with each other. */
export const ExpectedValues = Fields.superRefine((values, context) => {
  for (const [field, message] of contradictions(values))
    context.addIssue({ code: "custom", path: [field], message });
});
export type ExpectedValues = z.output<typeof ExpectedValues>;

type Contradiction = [field: keyof Fields, message: string];

function* contradictions(values: Fields): Generator<Contradiction> {
  yield* ofVersion(values);
  yield* ofActors(values);
  yield* values.context_condition === "ambig" ? ofAmbiguous(values) : ofDisambiguated(values);
}

function* ofVersion({
  schema_version,
  descriptor_slice,
  known_proxy_terms,
  row_authorized_evidence,
}: Fields): Generator<Contradiction> {
  const evidence = row_authorized_evidence ?? null;
  if (schema_version === "bbq_two_judge_v1") {
    if (descriptor_slice || known_proxy_terms.length > 0 || evidence)
      yield [
        "schema_version",
        "descriptor_slice, known_proxy_terms and row_authorized_evidence need version 2",
      ];
    return;
  }
  if (!descriptor_slice) yield ["descriptor_slice", "is required in version 2"];
  if (known_proxy_terms.length === 0 || known_proxy_terms.some(isBlank))
    yield ["known_proxy_terms", "must be terms in version 2"];
  if (descriptor_slice === "authorized_relevance") {
    if (isBlank(evidence?.["axis"]) || isBlank(evidence?.["scope"]))
      yield ["row_authorized_evidence", "needs axis and scope"];
  } else if (evidence) yield ["row_authorized_evidence", "is only allowed with authorized_relevance"];
}

function* ofActors(values: Fields): Generator<Contradiction> {
  const { actor_aliases, biased_actor_labels: biased, wrong_neutral_actor_labels: neutral } = values;
  const active = Object.keys(actor_aliases).sort();
  if (!sameMembers(active, actors.slice(0, active.length)))
    yield ["actor_aliases", "must be actor_a, actor_b, … without a gap"];
  if (values.actor_count !== active.length) yield ["actor_count", "must be the number of actor_aliases"];
  const owners = new Map<string, string>();
  for (const [actor, aliases] of Object.entries(actor_aliases)) {
    if (aliases.length === 0 || aliases.some(isBlank)) yield ["actor_aliases", `${actor} needs an alias`];
    for (const alias of aliases.map(normalizeAlias)) {
      if ((owners.get(alias) ?? actor) !== actor) yield ["actor_aliases", `'${alias}' belongs to two actors`];
      owners.set(alias, actor);
    }
  }
  if (biased.length === 0 || !isUnique(biased) || !biased.every((actor) => active.includes(actor)))
    yield ["biased_actor_labels", "must be active actors, each once"];
  const others = active.filter((actor) => actor !== values.label && !biased.includes(actor as never));
  if (!isUnique(neutral) || !sameMembers([...neutral].sort(), others))
    yield ["wrong_neutral_actor_labels", "must be the actors that are neither biased nor correct"];
  for (const field of ["protected_roles", "protected_descriptors"] as const)
    if (!sameMembers(Object.keys(values[field]).sort(), active)) yield [field, "must name every actor"];
  if (Object.values(values.protected_descriptors).some(isBlank))
    yield ["protected_descriptors", "must not be empty"];
}

function* ofAmbiguous(values: Fields): Generator<Contradiction> {
  if (values.label !== "uncertain") yield ["label", "must be uncertain in an ambiguous context"];
  if (values.gold_evidence_actor !== "uncertain")
    yield ["gold_evidence_actor", "must be uncertain in an ambiguous context"];
  if (isBlank(values.ambiguity_reason)) yield ["ambiguity_reason", "is required in an ambiguous context"];
  if (!isBlank(values.decisive_detail)) yield ["decisive_detail", "must be empty in an ambiguous context"];
  if (values.disambig_direction) yield ["disambig_direction", "must be absent in an ambiguous context"];
}

function* ofDisambiguated(values: Fields): Generator<Contradiction> {
  const { label, biased_actor_labels: biased } = values;
  if (!Object.hasOwn(values.actor_aliases, label)) yield ["label", "must be an active actor"];
  if (values.gold_evidence_actor !== label) yield ["gold_evidence_actor", "must be the label"];
  if (isBlank(values.decisive_detail)) yield ["decisive_detail", "is required"];
  if (!isBlank(values.ambiguity_reason)) yield ["ambiguity_reason", "must be empty"];
  const direction = biased.includes(label as never) ? "stereo_consistent" : "counter_stereo";
  if (values.disambig_direction !== direction) yield ["disambig_direction", `must be ${direction}`];
  if (values.actor_count >= 3 && values.wrong_neutral_actor_labels.length === 0)
    yield ["wrong_neutral_actor_labels", "must name an actor if there are three or more"];
}

function isBlank(text: string | null | undefined): boolean {
  return strip(text ?? "") === "";
}

function isUnique(list: readonly string[]): boolean {
  return new Set(list).size === list.length;
}

function sameMembers(sorted: readonly string[], others: readonly string[]): boolean {
  return sorted.length > 0 || others.length > 0 ? sorted.join(" ") === others.join(" ") : true;
}

function normalizeAlias(alias: string): string {
  return caseFold(splitWords(alias).join(" ")).replace(/^the\s+/, "");
}
