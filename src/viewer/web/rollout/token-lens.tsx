import { type ReactNode, useState } from "react";
import type { ItemTokens, TokenBoundary } from "../../conversation/tokens.ts";
import { countLabel } from "../shared/format.ts";
import { Plain } from "../text/plain.tsx";

/** Number of tokens per page. */
const PAGE = 2000;

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
    prompt && `${atLeast}${countLabel(prompt.length, "context token")}`,
    generation && `${atLeast}${countLabel(generation.length, "sampled token")}`,
    logProbs && !isCut && `mean log probability ${meanOf(logProbs).toFixed(3)}`,
    texts && !generation && countLabel(texts.length, "token with text", "tokens with text"),
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

/** One token: its id or, if the provider sent it, its text. */
interface ShownToken {
  text: string;
  logProb: number | undefined;
  /** Classes in addition to that of the log probability. */
  className: string;
  title: string;
}

/** A list of tokens, page by page. */
function TokenList({
  title,
  className,
  count,
  tokenAt,
  mark,
}: {
  title: ReactNode;
  className: string;
  count: number;
  tokenAt: (place: number) => ShownToken;
  /** A token to show first. */
  mark?: number;
}) {
  const [from, setFrom] = useState(() => Math.floor(Math.min(mark ?? 0, count - 1) / PAGE) * PAGE);
  const to = Math.min(count, from + PAGE);
  return (
    <div className={`token-list ${className}`}>
      <p className="token-list-head">
        <b>{title}</b>
        {count > PAGE && (
          <>
            {" "}
            <button
              type="button"
              className="quiet"
              disabled={from === 0}
              onClick={() => setFrom(from - PAGE)}
            >
              Previous
            </button>
            <span className="dim">
              {(from + 1).toLocaleString("en")}–{to.toLocaleString("en")} of {count.toLocaleString("en")}
            </span>
            <button type="button" className="quiet" disabled={to === count} onClick={() => setFrom(to)}>
              Next
            </button>
          </>
        )}
      </p>
      <p className="token-ids">
        {Array.from({ length: to - from }, (_, offset) => from + offset).map((place) => {
          const { text, logProb, className: own, title: about } = tokenAt(place);
          return (
            <span
              key={place}
              className={`token ${own}${logProb === undefined ? "" : ` heat-${heat(logProb)}`}`}
              title={logProb === undefined ? about : `${about}, log probability ${logProb}`}
            >
              <Plain text={text} />
            </span>
          );
        })}
      </p>
    </div>
  );
}

/** 0 for a token that was certain, 5 for the least likely ones. */
function heat(logProb: number): number {
  return Math.max(0, Math.min(5, Math.floor(-logProb * 1.5 + 0.85)));
}
