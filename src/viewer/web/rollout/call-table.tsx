import { useMemo, useState } from "react";
import type { CallUsage } from "../../conversation/timeline.ts";
import { Scrolls, TableHead } from "../shared/elements.tsx";
import { dollarText, secondsText, shortCount } from "../shared/format.ts";
import { useHoldsMatch } from "../text/holds-match.ts";
import { JsonBlock } from "../text/json-tree.tsx";
import { Plain } from "../text/plain.tsx";

/** The model calls with their usage, and their raw requests and responses. */
export function CallTable({ calls }: { calls: readonly CallUsage[] }) {
  const [open, setOpen] = useState<number>();
  return (
    <section className="calls" aria-label="Model calls">
      <h2>Model calls</h2>
      <Scrolls>
        <table className="numbers-table wide">
          <TableHead
            names={[
              "call",
              "model",
              "in",
              "cached",
              "out",
              "reasoning",
              "first token",
              "time",
              "cost",
              "status",
              "raw",
            ]}
          />
          <tbody>
            {calls.map((call) => (
              <tr key={call.call}>
                <th scope="row">{call.call + 1}</th>
                <td>
                  <Plain text={call.model} />
                </td>
                <td>{shortCount(call.inputTokens)}</td>
                <td>{shortCount(call.cachedTokens)}</td>
                <td>{shortCount(call.outputTokens)}</td>
                <td>{shortCount(call.reasoningTokens)}</td>
                <td>{secondsText(firstToken(call))}</td>
                <td>{secondsText(call.seconds)}</td>
                <td>{dollarText(call.cost)}</td>
                <td>
                  <Plain text={call.status} />
                </td>
                <td>
                  <RawToggle
                    call={call}
                    isOpen={open === call.call}
                    onToggle={() => setOpen(open === call.call ? undefined : call.call)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolls>
      {open !== undefined && (
        <div className="raw-call">
          <h3>Request</h3>
          <JsonBlock value={calls[open]?.request} />
          <h3>Response</h3>
          <JsonBlock value={calls[open]?.response} />
        </div>
      )}
    </section>
  );
}

/** Without streaming all tokens arrive at the end, so the time to the first token has no meaning. */
function firstToken({ firstTokenSeconds, seconds }: CallUsage): number | null {
  return firstTokenSeconds === seconds ? null : firstTokenSeconds;
}

function RawToggle({ call, isOpen, onToggle }: { call: CallUsage; isOpen: boolean; onToggle: () => void }) {
  const closed = useMemo(() => (isOpen ? undefined : [call.request, call.response]), [call, isOpen]);
  const holdsMatch = useHoldsMatch(closed);
  return (
    <button type="button" className="link" aria-expanded={isOpen} onClick={onToggle} {...holdsMatch}>
      {isOpen ? "hide" : "show"}
    </button>
  );
}
