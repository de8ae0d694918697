import { useState } from "react";
import { api } from "./api-client.ts";
import { CopyButton } from "./copy-button.tsx";
import { LongText } from "./long-text.tsx";
import { useLoaded } from "./use-loaded.ts";

/** The dataset statistics over the file, and the metrics files of the run; closed until somebody looks. */
export function AggregatePanel({ version }: { version: number }) {
  const [open, setOpen] = useState(false);
  const { value, error } = useLoaded(open ? String(version) : undefined, (signal) => api.statistics(signal));
  return (
    <details className="panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Aggregate metrics</summary>
      {error && <p className="problem-box">{error}</p>}
      {open && value && (
        <>
          <Json title="Dataset statistics" text={value.dataset} />
          {value.left_out.map(({ field, reason }) => (
            <p key={field} className="note">
              Left out: <code>{field}</code> {reason}.
            </p>
          ))}
          {value.files.map(({ name, text }) => (
            <Json key={name} title={name} text={text} />
          ))}
        </>
      )}
    </details>
  );
}

function Json({ title, text }: { title: string; text: string }) {
  return (
    <section>
      <div className="title-line">
        <h2>{title}</h2>
        <CopyButton text={() => text} label={`Copy ${title}`} />
      </div>
      <LongText text={text} code />
    </section>
  );
}
