import type { InvocationView } from "../../conversation/invocations.ts";
import type { TimelineSpan } from "../../conversation/timeline.ts";
import { countLabel, secondsText } from "../shared/format.ts";
import { moveInToolbar } from "../shared/keyboard.ts";
import type { Go } from "../shared/use-route.ts";
import { visibleText } from "../text/controls.ts";
import { Plain } from "../text/plain.tsx";
import type { TimelinePlaces } from "./timeline-places.ts";

const MAX_SPANS = 400;
const MAX_AGENTS = 100;
const LANES = ["model", "tool", "seed", "verifier", "waiting", "other"] as const;
const LANE_NAMES = {
  model: "model",
  tool: "tools",
  seed: "setup",
  verifier: "verifier",
  waiting: "waiting",
  other: "other",
} as const;

/** When models, tools, agents and the verifier worked; a click shows the item in the conversation. */
export function Timeline({
  spans,
  invocations,
  places,
  go,
}: {
  spans: readonly TimelineSpan[];
  invocations: readonly InvocationView[];
  places: TimelinePlaces;
  go: Go;
}) {
  const end = Math.max(...spans.map(({ to }) => to), ...invocations.map(({ to }) => to ?? 0), 0.001);
  const lanes = LANES.filter((kind) => spans.some((span) => span.kind === kind));
  const sums = lanes.map((kind) => {
    const own = spans.filter((span) => span.kind === kind);
    return `${LANE_NAMES[kind]} ${durationText(own.reduce((sum, { from, to }) => sum + to - from, 0))}`;
  });
  const first = spans.find((span) => places.ofSpan(span) !== undefined);
  const show = (place: number) => go({ parameters: { item: String(place) }, replace: true });
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
                .map((span, number) => (
                  <Bar
                    // biome-ignore lint/suspicious/noArrayIndexKey: the spans never change
                    key={number}
                    className={kind}
                    span={span}
                    end={end}
                    label={`${span.name}: ${timeText(span)}${span.status ? `, ${span.status}` : ""}`}
                    place={places.ofSpan(span)}
                    isStop={span === first}
                    show={show}
                  />
                ))}
            </span>
          </div>
        ))}
        {invocations.length > 1 &&
          invocations.slice(0, MAX_AGENTS).map((agent) => {
            const { id, name, depth, from, to, status } = agent;
            return (
              <div key={id} className="lane agent">
                <bdi
                  className="lane-name"
                  style={{ paddingLeft: `${Math.min(depth, 8)}em` }}
                  title={visibleText(`${name}, ${status}`)}
                >
                  <Plain text={name} />
                </bdi>
                <span className="lane-track">
                  {from !== null && to !== null && (
                    <Bar
                      className="agent"
                      span={{ from, to }}
                      end={end}
                      label={`Agent ${name}: ${timeText({ from, to })}, ${countLabel(agent.model_calls, "model call")}, ${countLabel(agent.tool_calls, "tool call")}, ${status}`}
                      place={places.ofAgent(id)}
                      isStop={false}
                      show={show}
                    />
                  )}
                </span>
              </div>
            );
          })}
      </div>
    </section>
  );
}

function Bar({
  className,
  span: { from, to },
  end,
  label,
  place,
  isStop,
  show,
}: {
  className: string;
  span: Pick<TimelineSpan, "from" | "to">;
  end: number;
  label: string;
  place: number | undefined;
  /** Whether the span is the Tab stop. */
  isStop: boolean;
  show: (place: number) => void;
}) {
  const style = {
    left: `${(100 * from) / end}%`,
    width: `max(2px, ${(100 * (to - from)) / end}%)`,
  };
  const about = visibleText(label);
  if (place === undefined) return <span className={`span ${className}`} style={style} title={about} />;
  return (
    <button
      type="button"
      className={`span ${className}`}
      tabIndex={isStop ? 0 : -1}
      style={style}
      title={about}
      aria-label={about}
      onClick={() => show(place)}
    />
  );
}

/** Recorded times are whole milliseconds, so a shorter span has the duration 0. */
function durationText(seconds: number): string {
  return secondsText(Math.max(seconds, 0.0005));
}

function timeText({ from, to }: Pick<TimelineSpan, "from" | "to">): string {
  return `${durationText(to - from)} at ${secondsText(from)}`;
}
