import { useMemo, useState } from "react";
import type { CallUsage } from "../../conversation/timeline.ts";
import { dollarText, secondsText, shortCount } from "../shared/format.ts";
import { Scrolls } from "../shared/scrolls.tsx";
import { useHoldsMatch } from "../text/holds-match.ts";
import { JsonTree } from "../text/json-tree.tsx";
import { Plain } from "../text/plain.tsx";

/** The model calls with their usage, and their raw requests and responses. */
export function CallTable({ calls }: { calls: readonly CallUsage[] }) {
  const [open, setOpen] = useState<number>();
  return (
    <section className="calls" aria-label="Model calls">
      <h2>Model calls</h2>
      <Scrolls>
        <table className="numbers-table wide">
          <thead>
            <tr>
              <th scope="col">call</th>
              <th scope="col">model</th>
              <th scope="col">in</th>
              <th scope="col">cached</th>
              <th scope="col">out</th>
              <th scope="col">reasoning</th>
              <th scope="col">first token</th>
              <th scope="col">time</th>
              <th scope="col">cost</th>
              <th scope="col">status</th>
              <th scope="col">raw</th>
            </tr>
          </thead>
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
          <div className="json">
            <JsonTree value={calls[open]?.request} open />
          </div>
          <h3>Response</h3>
          <div className="json">
            <JsonTree value={calls[open]?.response} open />
          </div>
        </div>
      )}
    </section>
  );
}

/** A call that is not streamed gets all tokens at its end, so that its first token tells nothing. */
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
