import { compilePyRegex, type PyRegex } from "nemo-gym/python";

export interface Grammar {
  /** The text around the ids, as patterns. */
  readonly before: string;
  readonly after: string;
  /** Whether one citation may list several ids, separated by commas. */
  readonly lists?: boolean;
  /** Whether citations are `<cite>` tags, which must all be well formed. */
  readonly tags?: boolean;
  /** Whether a citation encloses the claim that it supports. */
  readonly claims?: boolean;
}

const raw = String.raw;

/** The notations of citations, by name. */
export const grammars: Readonly<Record<string, Grammar>> = {
  cite_xml: { before: "<cite>", after: "</cite>", lists: true, tags: true },
  claim_wrap_xml: {
    before: '<cite index="',
    after: raw`">(?P<claim>(?s:.*?))</cite>`,
    lists: true,
    tags: true,
    claims: true,
  },
  // A link is not a citation.
  ascii_brackets: { before: raw`\[`, after: raw`\](?!\()` },
  fullwidth_brackets: { before: "【", after: "】" },
  ref_colon: { before: raw`\[ref:`, after: raw`\]` },
  double_angle: { before: "<<", after: ">>" },
  web_brackets: { before: raw`\[web:`, after: raw`\]` },
  paren_part: { before: raw`\(`, after: raw`\)` },
  markdown_footnote: { before: raw`\[\^`, after: raw`\]` },
  curly_double: { before: raw`\{\{`, after: raw`\}\}` },
  angle_pipe: { before: raw`<ref\|`, after: ">" },
};

/** The pattern of one citation, with the groups `ids` and, if the notation encloses claims, `claim`. */
export function citationPattern({ before, after, lists = false }: Grammar, id: string): PyRegex {
  const ids = lists ? `(?:${id})(?:,(?:${id}))*` : `(?:${id})`;
  return compilePyRegex(`${before}(?P<ids>${ids})${after}`);
}
