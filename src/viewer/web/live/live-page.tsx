import { useEffect, useState } from "react";
import type { LiveAnswer, ViewerStatus } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { countText, dollarText, percentText, rewardText, secondsText, shortCount } from "../shared/format.ts";
import { Scrolls } from "../shared/scrolls.tsx";

const POLL_MS = 500;

/** A run under way: what is in flight, how fast it goes, and how to steer it. */
export function LivePage({ run, status }: { run: RunId; status: ViewerStatus }) {
  const [live, setLive] = useState<LiveAnswer>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    let timer: number | undefined;
    const poll = async () => {
      try {
        setLive(await api.live(run, controller.signal));
      } catch (error) {
        if (!controller.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
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
        setProblem(undefined);
      },
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  const collection = live?.collection;
  return (
    <article className="live page" aria-label="Live">
      <h1 className="hidden">Live: {status.run.name}</h1>
      {problem && (
        <p className="problem-box" role="alert">
          {problem}
        </p>
      )}
      {live === undefined ? (
        <p className="note">Loading…</p>
      ) : collection ? (
        <Collection collection={collection} control={status.can_annotate ? control : undefined} />
      ) : (
        <p className="note">
          No collection of yours on this machine writes this run now. It shows{" "}
          {countText(status.rollouts.rows, "row")};{" "}
          {status.run.state === "done"
            ? "all rollouts that were asked for are there."
            : "start it again with --resume to go on."}
        </p>
      )}
    </article>
  );
}

function Collection({
  collection,
  control,
}: {
  collection: NonNullable<LiveAnswer["collection"]>;
  control: ((command: object) => void) | undefined;
}) {
  const { running, lost } = collection;
  return (
    <>
      <section className="facts-row" aria-label="Progress">
        <Figure
          name="done"
          value={`${collection.done} of ${collection.total}`}
          about={percentText(collection.done, collection.total)}
        />
        <Figure
          name="mean reward"
          value={collection.mean_reward === null ? "–" : rewardText(collection.mean_reward)}
          about={
            collection.reward_interval === null
              ? ""
              : `[${collection.reward_interval.map(rewardText).join(", ")}]`
          }
        />
        <Figure
          name="rate"
          value={`${collection.rate.toFixed(1)}/s`}
          about={collection.eta_seconds === null ? "" : `${secondsText(collection.eta_seconds)} left`}
        />
        <Figure
          name="in flight"
          value={String(collection.in_flight)}
          about={`of ${collection.concurrency}${collection.automatic_concurrency ? ", automatic" : ""}`}
        />
        <Figure
          name="failed"
          value={String(collection.failed)}
          about={`${collection.retrying} waiting to be retried`}
        />
        <Figure
          name="tokens in / out"
          value={`${shortCount(collection.input_tokens)} / ${shortCount(collection.output_tokens)}`}
          about={
            collection.spent ? dollarText(collection.spent) : countText(collection.model_calls, "model call")
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
        <h2>In flight</h2>
        <table className="numbers-table wide flights">
          <thead>
            <tr>
              <th scope="col">rollout</th>
              <th scope="col">agent</th>
              <th scope="col">stage</th>
              <th scope="col">in stage</th>
              <th scope="col">age</th>
              <th scope="col">model calls</th>
              <th scope="col">attempt</th>
              {control && <th scope="col">action</th>}
            </tr>
          </thead>
          <tbody>
            {running.slice(0, 500).map((rollout) => (
              <tr key={rollout.id}>
                <th scope="row">{rollout.id}</th>
                <td>{rollout.agent}</td>
                <td>
                  {rollout.stage}
                  {rollout.what ? ` (${rollout.what})` : ""}
                </td>
                <td>{secondsText(rollout.stage_seconds)}</td>
                <td>{secondsText(rollout.seconds)}</td>
                <td>{rollout.model_calls}</td>
                <td>{rollout.attempt + 1}</td>
                {control && (
                  <td>
                    <button
                      type="button"
                      className="link"
                      aria-label={`Cancel ${rollout.id}`}
                      onClick={() => control({ command: "cancel", id: rollout.id })}
                    >
                      cancel
                    </button>{" "}
                    <button
                      type="button"
                      className="link"
                      aria-label={`Start ${rollout.id} anew`}
                      onClick={() => control({ command: "retry", id: rollout.id })}
                    >
                      start anew
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
        {running.length === 0 && <p className="note">Nothing runs at the moment.</p>}
      </Scrolls>
      {lost.length > 0 && (
        <section aria-label="Failed for good">
          <h2>Failed for good</h2>
          <ul className="lost">
            {lost.slice(0, 200).map(({ id, class: name }) => (
              <li key={id}>
                {id} <span className="problem">{name}</span>{" "}
                {control && (
                  <button
                    type="button"
                    className="link"
                    aria-label={`Retry ${id}`}
                    onClick={() => control({ command: "retry", id })}
                  >
                    retry
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Figure({ name, value, about }: { name: string; value: string; about: string }) {
  return (
    <div className="fact">
      <span className="fact-name">{name}</span>
      <span className="fact-value">{value}</span>
      <span className="fact-about">{about || " "}</span>
    </div>
  );
}

function Concurrency(props: { current: number; automatic: boolean; control: (command: object) => void }) {
  const [text, setText] = useState("");
  const limit = Number(text);
  return (
    <form
      className="concurrency"
      onSubmit={(event) => {
        event.preventDefault();
        if (Number.isInteger(limit) && limit > 0) props.control({ command: "concurrency", limit });
        setText("");
      }}
    >
      <label>
        concurrency{" "}
        <input
          type="number"
          min={1}
          value={text}
          placeholder={String(props.current)}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="submit" disabled={!(Number.isInteger(limit) && limit > 0)}>
        Set
      </button>
      {!props.automatic && (
        <button type="button" onClick={() => props.control({ command: "concurrency", limit: null })}>
          Automatic
        </button>
      )}
    </form>
  );
}
