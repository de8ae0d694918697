import { useState } from "react";
import { api, type RunId } from "../shared/api-client.ts";
import { bytesText } from "../shared/format.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { Output } from "../text/plain.tsx";

/** The logs of the run's servers and sandboxes: the lines that name this rollout, or the last ones. */
export function Logs({ run, rollout }: { run: RunId; rollout: string | undefined }) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState<string>();
  const { value, error } = useLoaded(open ? JSON.stringify([run, rollout, name]) : undefined, (signal) =>
    api.logs(run, { rollout, name }, signal),
  );
  return (
    <section className="logs" aria-label="Logs">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Server and sandbox logs</summary>
        {error && <p className="problem">{error}</p>}
        {value?.logs.length === 0 && <p className="note">The run left no logs beside its rollouts.</p>}
        {value && value.logs.length > 0 && (
          <>
            <p>
              <label>
                log{" "}
                <select value={value.name ?? ""} onChange={(event) => setName(event.target.value)}>
                  {value.logs.map((log) => (
                    <option key={log.name} value={log.name}>
                      {log.name} ({bytesText(log.bytes)})
                    </option>
                  ))}
                </select>
              </label>{" "}
              <span className="dim">
                {value.matched
                  ? `lines that name ${rollout}`
                  : `last lines; none names ${rollout ?? "this rollout"}`}
              </span>
            </p>
            <pre className="text code">
              <Output text={value.lines.join("\n") || "(empty)"} />
            </pre>
          </>
        )}
      </details>
    </section>
  );
}
