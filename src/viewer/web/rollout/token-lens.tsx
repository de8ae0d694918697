import { useState } from "react";
import type { ItemTokens, TokenBoundary } from "../../conversation/tokens.ts";
import { countText } from "../shared/format.ts";
import { TokenList } from "./token-ids.tsx";

/**
 * The tokens of a model call: context, sampled tokens with their log probabilities, and how they continue the previous
 * call.
 */
export function TokenLens({
  tokens,
  masked,
  boundary,
  onLoad,
}: {
  tokens: ItemTokens;
  masked: boolean;
  boundary: TokenBoundary | undefined;
  /** Loads truncated lists; undefined when all are complete. */
  onLoad: (() => void) | undefined;
}) {
  const [open, setOpen] = useState(false);
  const { prompt, generation, logProbs, texts } = tokens;
  const isCut = onLoad !== undefined;
  const atLeast = isCut ? "at least " : "";
  const counts = [
    prompt && `${atLeast}${countText(prompt.length, "context token")}`,
    generation && `${atLeast}${countText(generation.length, "sampled token")}`,
    logProbs && !isCut && `mean log probability ${meanOf(logProbs).toFixed(3)}`,
    texts && !generation && countText(texts.length, "token with text", "tokens with text"),
    masked && "masked",
    boundary && boundaryText(boundary),
  ].filter((text) => typeof text === "string");
  return (
    <details className="tokens" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={boundary?.kind === "fork" ? "drifts" : ""}>{counts.join(" · ")}</summary>
      {open && (
        <>
          {isCut && (
            <p>
              The token lists of this large row are cut.{" "}
              <button type="button" onClick={onLoad}>
                Load all tokens
              </button>
            </p>
          )}
          {texts && (
            <TokenList
              title="Text of the sampled tokens"
              className={masked ? "texts masked" : "texts"}
              count={texts.length}
              tokenAt={(place) => ({
                text: texts[place]?.token ?? "",
                logProb: texts[place]?.logprob,
                className: "",
                title: `token ${place + 1}`,
              })}
            />
          )}
          {generation && (
            <TokenList
              title={masked ? "Sampled (masked: not trained on)" : "Sampled (trained on)"}
              className={masked ? "sampled masked" : "sampled"}
              count={generation.length}
              tokenAt={(place) => ({
                text: `${generation[place]} `,
                logProb: logProbs?.[place],
                className: "",
                title: `sampled token ${place + 1}`,
              })}
            />
          )}
          {prompt && (
            <TokenList
              // Once the lists are complete, another page may be the first to show.
              key={boundary?.kind}
              title="Context (never trained on)"
              className="context"
              count={prompt.length}
              mark={boundary?.kind === "fork" ? boundary.agreeing : undefined}
              tokenAt={(place) => ({
                text: `${prompt[place]} `,
                logProb: undefined,
                ...contextToken(place, boundary),
              })}
            />
          )}
          <p className="dim">
            The stronger the colour, the less likely the token. Underlined context is the same as in the
            previous call. Token ids are not decoded: text is shown only where the provider sent it.
          </p>
        </>
      )}
    </details>
  );
}

/** A short text about how a call continues the previous one. */
export function boundaryText({ kind, call, agreeing }: TokenBoundary): string {
  switch (kind) {
    case "first":
      return "first call";
    case "extend":
      return `extends call ${call - 1}`;
    case "fork":
      return `forks from call ${call - 1} at token ${agreeing + 1}`;
    case "lost":
      return "token ids lost";
    case "unknown":
      return "boundary unknown: lists are cut";
  }
}

function contextToken(place: number, boundary: TokenBoundary | undefined) {
  const title = `context token ${place + 1}`;
  if (boundary === undefined || boundary.kind === "first") return { className: "", title };
  if (place < boundary.agreeing)
    return { className: "carried", title: `${title}, as in call ${boundary.call - 1}` };
  if (boundary.kind === "fork" && place === boundary.agreeing)
    return {
      className: "drift",
      title: `${title}: call ${boundary.call - 1} has ${boundary.expected} here, in its ${boundary.departsIn === "prompt" ? "context" : "sampled tokens"}`,
    };
  return { className: "", title: `${title}, new` };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
