import type { JsonObject } from "../../../base/python/json/door.ts";
import { prettyJson } from "../../conversation/content-parts.ts";
import { type TokenBoundary, tokenReportOf } from "../../conversation/tokens.ts";
import { addressOf } from "../shared/use-route.ts";
import { Plain } from "../text/plain.tsx";
import { boundaryText } from "./token-lens.tsx";

const SHOWN = 200;

/** How the model calls continue each other's tokens, and the report of the token capture. */
export function TokenPanel({
  row,
  boundaries,
  placeOf,
}: {
  row: JsonObject;
  boundaries: readonly TokenBoundary[];
  /** The item of the conversation in which a call ends. */
  placeOf: (boundary: TokenBoundary) => number | undefined;
}) {
  const { capture, counts } = tokenReportOf(row);
  if (boundaries.length === 0 && capture.length === 0 && counts === undefined) return null;
  const count = (kind: TokenBoundary["kind"]) => boundaries.filter((each) => each.kind === kind).length;
  const own = { extend: count("extend"), fork: count("fork"), lost: count("lost") };
  const breaks = (counts ?? own).fork + (counts ?? own).lost;
  return (
    <details className="token-panel">
      <summary className={breaks > 0 ? "drifts" : ""}>
        Tokens: {countsText(counts ?? own)}
        {Boolean(row["mask_sample"]) && " · masked"}
      </summary>
      {counts && boundaries.length > 0 && countsText(counts) !== countsText(own) && (
        <p>The token lists in this row: {countsText(own)}.</p>
      )}
      {boundaries.length > 0 && (
        <ol className="boundaries">
          {boundaries.slice(0, SHOWN).map((boundary) => {
            const place = placeOf(boundary);
            return (
              <li key={boundary.call}>
                <span className={`boundary ${boundary.kind}`}>{boundary.kind}</span>{" "}
                {place === undefined ? (
                  `Call ${boundary.call}`
                ) : (
                  <a href={addressOf({ parameters: { item: String(place) } })}>Call {boundary.call}</a>
                )}
                : {boundaryText(boundary)}
              </li>
            );
          })}
        </ol>
      )}
      {boundaries.length > SHOWN && <p className="dim">and {boundaries.length - SHOWN} more calls</p>}
      {capture.length > 0 && (
        <dl className="capture">
          {capture.map(({ name, value }) => (
            <div key={name}>
              <dt>
                <Plain text={name} />
              </dt>
              <dd>
                <Plain text={typeof value === "string" ? value : prettyJson(value)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}

function countsText({ extend, fork, lost }: { extend: number; fork: number; lost: number }): string {
  return `${extend} extend · ${fork} fork · ${lost} lost`;
}
