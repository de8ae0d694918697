import type { ConversationItem } from "../../conversation/conversation.ts";
import type { Span } from "../../conversation/timeline.ts";
import { secondsText } from "../shared/format.ts";
import { moveInToolbar } from "../shared/toolbar-keys.ts";
import type { Go } from "../shared/use-route.ts";
import { visibleText } from "../text/controls.ts";

const MAX_SPANS = 400;
const LANES = ["model", "tool", "seed", "verifier", "waiting", "other"] as const;
const LANE_NAMES = {
  model: "model",
  tool: "tools",
  seed: "setup",
  verifier: "verifier",
  waiting: "waiting",
  other: "other",
} as const;

/** When model, tools and verifier worked; a click leads to the item in the conversation. */
export function Timeline({
  spans,
  items,
  go,
}: {
  spans: readonly Span[];
  items: readonly ConversationItem[];
  go: Go;
}) {
  const end = Math.max(...spans.map(({ to }) => to), 0.001);
  const lanes = LANES.filter((kind) => spans.some((span) => span.kind === kind));
  const sums = lanes.map((kind) => {
    const own = spans.filter((span) => span.kind === kind);
    return `${LANE_NAMES[kind]} ${secondsText(own.reduce((sum, { from, to }) => sum + to - from, 0))}`;
  });
  const placeOf = (span: Span): number | undefined => {
    if (span.kind === "model")
      return items.find(({ turn, from }) => from === "output" && turn === (span.call ?? 0) + 1)?.place;
    return items.find(({ callId }) => callId !== undefined && callId === span.reference)?.place;
  };
  const first = spans.find((span) => lanes.includes(span.kind) && placeOf(span) !== undefined);
  return (
    <section className="timeline" aria-label="Timeline">
      <p className="dim">
        {secondsText(end)} · {sums.join(" · ")}
      </p>
      {/* One Tab stop: arrow keys move between the spans. */}
      <div role="toolbar" aria-label="Timeline" onKeyDown={moveInToolbar}>
        {lanes.map((kind) => (
          <div key={kind} className="lane">
            <span className="lane-name">{LANE_NAMES[kind]}</span>
            <span className="lane-track">
              {spans
                .filter((span) => span.kind === kind)
                .slice(0, MAX_SPANS)
                .map((span, number) => {
                  const place = placeOf(span);
                  const status = span.status ? `, ${span.status}` : "";
                  const label = visibleText(
                    `${span.name}: ${secondsText(span.to - span.from)} at ${secondsText(span.from)}${status}`,
                  );
                  const style = {
                    left: `${(100 * span.from) / end}%`,
                    width: `max(2px, ${(100 * (span.to - span.from)) / end}%)`,
                  };
                  return place === undefined ? (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the spans never change
                    <span key={number} className={`span ${kind}`} style={style} title={label} />
                  ) : (
                    <button
                      // biome-ignore lint/suspicious/noArrayIndexKey: the same
                      key={number}
                      type="button"
                      className={`span ${kind}`}
                      tabIndex={span === first ? 0 : -1}
                      style={style}
                      title={label}
                      aria-label={label}
                      onClick={() => go({ parameters: { item: String(place) }, replace: true })}
                    />
                  );
                })}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}
