import { useState } from "react";
import { api, type RunId } from "../shared/api-client.ts";
import { Chip } from "../shared/elements.tsx";
import { bytesText, countLabel } from "../shared/format.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { LongText } from "../text/long-text.tsx";
import { OutputBlock } from "../text/plain.tsx";

/**
 * The logs of the run's servers and sandboxes: those that mention this rollout first, and the matching lines of each.
 */
export function Logs({ run, rollout }: { run: RunId; rollout: string | undefined }) {
  const [open, setOpen] = useState(false);
  return (
    <section className="logs" aria-label="Logs">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Server and sandbox logs</summary>
        {open && <OpenLogs run={run} rollout={rollout} />}
      </details>
    </section>
  );
}

function OpenLogs({ run, rollout }: { run: RunId; rollout: string | undefined }) {
  const [name, setName] = useState<string>();
  const [all, setAll] = useState(false);
  const { value: found, error } = useLoaded(JSON.stringify([run, rollout]), (signal) =>
    api.logs(run, { rollout }, signal),
  );
  const chosen = name ?? found?.name ?? undefined;
  const { value: log } = useLoaded(chosen && JSON.stringify([run, rollout, chosen, all]), (signal) =>
    api.logs(run, { name: chosen, rollout: all ? undefined : rollout }, signal),
  );
  if (error) return <p className="problem">{error}</p>;
  if (found === undefined) return <p className="note">Loading…</p>;
  if (found.logs.length === 0) return <p className="note">This run has no logs.</p>;
  return (
    <>
      <fieldset className="chips" aria-label="Logs">
        {found.logs.map((each) => (
          <Chip key={each.name} isOn={each.name === chosen} onClick={() => setName(each.name)}>
            {each.name}{" "}
            {each.rollout_lines > 0 ? countLabel(each.rollout_lines, "line") : bytesText(each.bytes)}
          </Chip>
        ))}
        <label>
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} /> all lines
        </label>
      </fieldset>
      {log && (
        <>
          <p className="dim">
            {log.matched
              ? `Lines that name rollout ${rollout}`
              : all
                ? "Last lines of the log"
                : `No line names ${rollout === undefined ? "this rollout" : `rollout ${rollout}`}. Last lines of the log`}
          </p>
          <LongText text={log.lines.join("\n") || "(empty)"} render={(text) => <OutputBlock text={text} />} />
        </>
      )}
    </>
  );
}
