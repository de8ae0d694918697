import { useMemo } from "react";
import { loads } from "../../../base/python/json/door.ts";
import type { ViewerStatus } from "../../api-types.ts";
import { Logs } from "../rollout/logs.tsx";
import { api, type RunId } from "../shared/api-client.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { bytesText } from "../shared/format.ts";
import { useScrollFocus } from "../shared/keyboard.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { JsonBlock } from "../text/json-tree.tsx";
import { LongText } from "../text/long-text.tsx";
import { Plain, PlainBlock } from "../text/plain.tsx";

/** The other files of the run, its logs, and its dataset statistics. */
export function FilesPage({ run, status }: { run: RunId; status: ViewerStatus }) {
  const { value, error } = useLoaded(`${run}:${status.generation}`, (signal) => api.statistics(run, signal));
  useScrollFocus();
  return (
    <article className="files page" aria-label="Files">
      <h1>Files</h1>
      <p className="dim">
        <bdi>{status.rollouts.path}</bdi>
      </p>
      {error && <p className="problem-box">{error}</p>}
      {!value && !error && <p className="note">Reading all rows…</p>}
      {value && (
        <>
          <ul className="file-list" aria-label="Files of the run">
            {value.existing.map(({ name, bytes }) => (
              <li key={name}>
                <Plain text={name} /> <span className="dim">{bytesText(bytes)}</span>
              </li>
            ))}
          </ul>
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
      <Logs run={run} rollout={undefined} />
    </article>
  );
}

function Json({ title, text }: { title: string; text: string }) {
  return (
    <section aria-label={title}>
      <details className="file">
        <summary>
          <h2>{title}</h2> <span className="dim">{bytesText(text.length)}</span>
        </summary>
        <CopyButton text={() => text} label={`Copy ${title}`} />
        <JsonText text={text} />
      </details>
    </section>
  );
}

/** JSON as a tree, with numbers as written; other content as text. */
function JsonText({ text }: { text: string }) {
  const value = useMemo(() => {
    try {
      return loads(text, { allowNonFinite: true });
    } catch {
      return undefined;
    }
  }, [text]);
  if (value === undefined) return <LongText text={text} render={(shown) => <PlainBlock text={shown} />} />;
  return <JsonBlock value={value} />;
}
