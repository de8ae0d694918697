/** What the scanner makes of a YAML text; tokens, not indentation, describe the block structure. */
export type YamlToken =
  | { kind: "scalar"; offset: number; value: string; plain: boolean }
  | { kind: "alias" | "anchor" | "tag"; offset: number; value: string }
  | {
      kind:
        | "stream end"
        | "directive"
        | "document start"
        | "document end"
        | "block sequence start"
        | "block mapping start"
        | "block end"
        | "["
        | "]"
        | "{"
        | "}"
        | ","
        | "-"
        | "?"
        | ":";
      offset: number;
    };

export type YamlTokenKind = YamlToken["kind"];

/** A mistake in the text; the reader turns it into an error with file, line and column. */
export class YamlSyntaxError extends Error {
  readonly offset: number;

  constructor(problem: string, offset: number) {
    super(problem);
    this.offset = offset;
  }
}
