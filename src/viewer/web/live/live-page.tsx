import { useEffect, useRef, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import type { LiveAnswer, ViewerStatus } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { EmptyState, Fact, RunLinks, Scrolls, TableHead } from "../shared/elements.tsx";
import {
  countLabel,
  dollarText,
  percentText,
  rateText,
  rewardText,
  secondsText,
  shortCount,
} from "../shared/format.ts";
import { useScrollFocus } from "../shared/keyboard.ts";

const POLL_MS = 500;
const COLUMNS = ["rollout", "agent", "stage", "time in stage", "age", "last event", "model calls", "attempt"];

/** A run in progress: rollouts in flight, rate and failures, and controls. */
export function LivePage({ run, status }: { run: RunId; status: ViewerStatus }) {
  const [live, setLive] = useState<LiveAnswer>();
  // The errors of the last poll and of the last command.
  const [unread, setUnread] = useState<string>();
  const [rejected, setRejected] = useState<string>();
  useScrollFocus();
  useEffect(() => {
    const controller = new AbortController();
    let timer: number | undefined;
    const poll = async () => {
      try {
        setLive(await api.live(run, controller.signal));
        setUnread(undefined);
      } catch (error) {
        if (!controller.signal.aborted) setUnread(errorMessage(error));
      }
      if (!controller.signal.aborted) timer = window.setTimeout(poll, POLL_MS);
    };
    void poll();
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [run]);
  const control = (command: object) =>
    void api.control(run, command).then(
      (answer) => {
        setLive(answer);
        setRejected(undefined);
      },
      (error: unknown) => setRejected(errorMessage(error)),
    );
  const collection = live?.collection;
  const problem = rejected ?? unread;
  return (
    <article className="live page" aria-label="Live">
      <h1 className="hidden">Live: {status.run.name}</h1>
      {problem && (
        <p className="problem-box" role="alert">
          {problem}
        </p>
      )}
      {live === undefined && status.run.state !== "done" ? (
        !problem && <p className="note">Loading…</p>
      ) : collection ? (
        <Collection collection={collection} control={status.can_annotate ? control : undefined} />
      ) : (
        <NotRunning status={status} />
      )}
    </article>
  );
}

function NotRunning({ status }: { status: ViewerStatus }) {
  const isDone = status.run.state === "done";
  return (
    <EmptyState title={isDone ? "This run is done" : "This run is not in progress"} action={<RunLinks />}>
      No process of this user on this machine writes {status.rollouts.name}, which has{" "}
      {countLabel(status.rollouts.rows, "rollout")}.{" "}
      {isDone ? (
        "All requested rollouts are accounted for."
      ) : (
        <>
          To continue it, repeat its command with <code>--resume</code>. This page shows rollouts in flight as
          soon as it runs.
        </>
      )}
    </EmptyState>
  );
}

function Collection({
  collection,
  control,
}: {
  collection: NonNullable<LiveAnswer["collection"]>;
  control: ((command: object) => void) | undefined;
}) {
  const { lost } = collection;
  const [cancelling, setCancelling] = useState<string>();
  const running = collection.running.toSorted((a, b) => b.seconds - a.seconds);
  return (
    <>
      <section className="facts-row" aria-label="Progress">
        <Fact
          name="done"
          value={`${collection.done} of ${collection.total}`}
          about={percentText(collection.done, collection.total)}
        />
        <Fact
          name="mean reward"
          value={collection.mean_reward === null ? "–" : rewardText(collection.mean_reward)}
          about={
            collection.reward_interval === null
              ? ""
              : `[${collection.reward_interval.map(rewardText).join(", ")}]`
          }
        />
        <Fact
          name="rate"
          value={rateText(collection.rate)}
          about={
            collection.paused
              ? "paused"
              : collection.eta_seconds === null
                ? ""
                : `${secondsText(collection.eta_seconds)} left`
          }
        />
        <Fact
          name="in flight"
          value={String(collection.in_flight)}
          about={`of ${collection.concurrency}${collection.automatic_concurrency ? ", automatic" : ""}`}
        />
        <Fact
          name="failed"
          value={String(collection.failed)}
          about={`${collection.retrying} waiting for a retry`}
        />
        {collection.cancelled > 0 && <Fact name="cancelled" value={String(collection.cancelled)} about="" />}
        <Fact
          name="tokens in / out"
          value={`${shortCount(collection.input_tokens)} / ${shortCount(collection.output_tokens)}`}
          about={
            collection.spent ? dollarText(collection.spent) : countLabel(collection.model_calls, "model call")
          }
        />
      </section>
      <progress
        className="wide"
        value={collection.done}
        max={Math.max(1, collection.total)}
        aria-label="Rollouts done"
      />
      {collection.trouble && (
        <p className="notice">
          {collection.trouble.server}: {collection.trouble.message}
        </p>
      )}
      {control && (
        <fieldset className="controls" aria-label="Control">
          <button type="button" onClick={() => control({ command: collection.paused ? "resume" : "pause" })}>
            {collection.paused ? "Resume" : "Pause"}
          </button>
          <Concurrency
            current={collection.concurrency}
            automatic={collection.automatic_concurrency}
            control={control}
          />
          <span className="dim">process {collection.pid}</span>
        </fieldset>
      )}
      <Scrolls label="Rollouts in flight">
        <h2>In flight, slowest first</h2>
        <table className="numbers-table wide flights">
          <TableHead names={control ? [...COLUMNS, "action"] : COLUMNS} />
          <tbody>
            {running.slice(0, 500).map((rollout) => (
              <tr key={rollout.id}>
                <th scope="row">{rollout.id}</th>
                <td>{rollout.agent}</td>
                <td>{stageText(rollout)}</td>
                <td>{secondsText(rollout.stage_seconds)}</td>
                <td>{secondsText(rollout.seconds)}</td>
                <td>
                  {rollout.last_event
                    ? `${stageText(rollout.last_event)} took ${secondsText(rollout.last_event.seconds)}`
                    : "started"}
                </td>
                <td>{rollout.model_calls}</td>
                <td>{rollout.attempt + 1}</td>
                {control && (
                  <td>
                    <RolloutButton name="Cancel" id={rollout.id} onClick={() => setCancelling(rollout.id)} />{" "}
                    <RolloutButton
                      name="Restart"
                      id={rollout.id}
                      onClick={() => control({ command: "retry", id: rollout.id })}
                    />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
        {running.length === 0 && (
          <p className="note">
            No rollout is in flight. {collection.paused && "The run is paused: press Resume to continue."}
          </p>
        )}
      </Scrolls>
      {control && cancelling !== undefined && (
        <CancelDialog
          id={cancelling}
          onConfirm={() => control({ command: "cancel", id: cancelling })}
          onClose={() => setCancelling(undefined)}
        />
      )}
      {lost.length > 0 && (
        <section aria-label="Failed rollouts">
          <h2>Failed rollouts</h2>
          <ul className="lost">
            {lost.slice(0, 200).map(({ id, class: name }) => (
              <li key={id}>
                {id} <span className="problem">{name}</span>{" "}
                {control && (
                  <RolloutButton name="Retry" id={id} onClick={() => control({ command: "retry", id })} />
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Asks before a rollout is cancelled. Escape and the button with the focus keep it. */
function CancelDialog({
  id,
  onConfirm,
  onClose,
}: {
  id: string;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      role="alertdialog"
      onClose={onClose}
      aria-labelledby="cancel-title"
      aria-describedby="cancel-text"
    >
      <h2 id="cancel-title">Cancel rollout {id}?</h2>
      <p id="cancel-text">
        What it has done so far is lost. <code>--resume</code> runs it again from the beginning.
      </p>
      <div className="dialog-actions">
        <button type="button" onClick={close}>
          Keep running
        </button>
        <button
          type="button"
          onClick={() => {
            onConfirm();
            close();
          }}
        >
          Cancel rollout
        </button>
      </div>
    </dialog>
  );
}

function RolloutButton({ name, id, onClick }: { name: string; id: string; onClick: () => void }) {
  return (
    <button type="button" className="link" aria-label={`${name} ${id}`} onClick={onClick}>
      {name}
    </button>
  );
}

function stageText({ stage, what }: { stage: string; what?: string }): string {
  return what ? `${stage} (${what})` : stage;
}

function Concurrency(props: { current: number; automatic: boolean; control: (command: object) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      className="concurrency"
      onSubmit={(event) => {
        event.preventDefault();
        props.control({ command: "concurrency", limit: Number(text) });
        setText("");
      }}
    >
      <label>
        concurrency{" "}
        <input
          type="number"
          min={1}
          max={Number.MAX_SAFE_INTEGER}
          required
          value={text}
          placeholder={String(props.current)}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="submit">Set</button>
      {!props.automatic && (
        <button type="button" onClick={() => props.control({ command: "concurrency", limit: null })}>
          Automatic
        </button>
      )}
    </form>
  );
}
