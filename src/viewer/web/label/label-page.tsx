import { type FormEvent, useEffect, useRef, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import type { LabelItem, LabelState, LabelText } from "../../api-types.ts";
import { labelApi } from "../shared/api-client.ts";
import { useKeys } from "../shared/keyboard.ts";
import { LongText } from "../text/long-text.tsx";
import { Isolated, PlainBlock } from "../text/plain.tsx";

const NAME_KEY = "gym-labeller";

/** The keys of the page. */
const CHOICES = [
  ["right", "r", "Right"],
  ["wrong", "w", "Wrong"],
  ["unclear", "u", "Unclear"],
] as const;

/** A queue of answers that a person calls right or wrong, without seeing how they were judged. */
export function LabelPage() {
  const [state, setState] = useState<LabelState>();
  const [labeller, setLabeller] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const load = (name: string, place?: { task: number; rollout: number }) =>
    labelApi
      .state(name, place)
      .then(setState)
      .then(
        () => setProblem(undefined),
        (error: unknown) => setProblem(errorMessage(error)),
      );
  const loadFirst = useRef(load);
  useEffect(() => {
    document.title = "Label rollouts";
    void loadFirst.current("");
  }, []);
  const begin = (name: string) => {
    localStorage.setItem(NAME_KEY, name);
    setLabeller(name);
    void load(name);
  };
  return (
    <div className="app">
      <header className="top">
        <div className="top-line">
          <span className="run-name">Label rollouts</span>
          <span className="spacer" />
          {labeller !== undefined && state && <Progress state={state} labeller={labeller} />}
        </div>
        {problem && (
          <p className="problem-box" role="alert">
            {problem}
          </p>
        )}
      </header>
      <main id="main" tabIndex={-1} className="whole">
        {state === undefined ? (
          !problem && <p className="note">Loading…</p>
        ) : labeller === undefined ? (
          <NameForm
            suggested={localStorage.getItem(NAME_KEY) ?? state.labeller}
            total={state.total}
            onName={begin}
          />
        ) : state.item === null ? (
          <Finished state={state} onBack={() => void load(labeller, state.labelled.at(-1))} />
        ) : (
          <Item
            key={`${state.item.key.task}:${state.item.key.rollout}`}
            item={state.item}
            state={state}
            labeller={labeller}
            onState={setState}
            onPlace={(place) => void load(labeller, place)}
            onProblem={setProblem}
          />
        )}
      </main>
    </div>
  );
}

function Progress({ state: { done, total, by }, labeller }: { state: LabelState; labeller: string }) {
  return (
    <span className="live-note" role="status">
      <progress value={done} max={Math.max(1, total)} aria-label="Labelled rollouts" /> {done} of {total}{" "}
      labelled by <Isolated text={labeller} />
      {by === "model" && " (marked as a model)"}
    </span>
  );
}

function NameForm(props: { suggested: string; total: number; onName: (name: string) => void }) {
  const [name, setName] = useState(props.suggested);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") props.onName(name.trim());
  };
  return (
    <article className="page label-page" aria-label="Begin">
      <h1>Who labels?</h1>
      <p>
        You see {props.total.toLocaleString("en")} answers and say whether each is right. How they were judged
        is not shown, and neither is the model. Each label is saved at once; you can stop at any time.
      </p>
      <form onSubmit={submit} className="label-name">
        <label>
          Your name{" "}
          <input
            type="text"
            value={name}
            maxLength={100}
            required
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <button type="submit" className="primary">
          Begin
        </button>
      </form>
    </article>
  );
}

function Finished({ state, onBack }: { state: LabelState; onBack: () => void }) {
  const hasLabels = state.labelled.length > 0;
  useKeys({ b: hasLabels ? onBack : undefined });
  return (
    <article className="page label-page" aria-label="Finished">
      <h1>Nothing is left to label</h1>
      <p>
        You labelled {state.done} of {state.total}. <code>gym judge calibrate</code> compares the labels with
        the judge.
      </p>
      {hasLabels && (
        <button type="button" onClick={onBack}>
          Back <kbd>b</kbd>
        </button>
      )}
    </article>
  );
}

function Item(props: {
  item: LabelItem;
  state: LabelState;
  labeller: string;
  onState: (state: LabelState) => void;
  onPlace: (place?: { task: number; rollout: number }) => void;
  onProblem: (problem: string | undefined) => void;
}) {
  const { item, state, labeller, onState, onPlace, onProblem } = props;
  const [note, setNote] = useState(item.note);
  const [isSaving, setSaving] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    document.getElementById("main")?.scrollTo({ top: 0 });
  }, []);
  const choose = (label: NonNullable<LabelItem["label"]>) => {
    // A key that is held down must not label the next rollout too.
    if (isSaving) return;
    setSaving(true);
    labelApi.submit({ labeller, ...item.key, label, note }).then(
      (next) => {
        onProblem(undefined);
        setSaving(false);
        onState(next);
      },
      (error: unknown) => {
        setSaving(false);
        onProblem(errorMessage(error));
      },
    );
  };
  const at = state.labelled.findIndex(
    ({ task, rollout }) => task === item.key.task && rollout === item.key.rollout,
  );
  const before = state.labelled.at(at === -1 ? -1 : at - 1);
  const hasBefore = state.labelled.length > 0 && at !== 0;
  const back = () => onPlace(before);
  const skipAhead = item.label === null ? undefined : () => onPlace();
  useKeys({
    ...Object.fromEntries(CHOICES.map(([label, key]) => [key, () => choose(label)])),
    b: hasBefore ? back : undefined,
    n: skipAhead,
  });
  return (
    <article className="page label-page" aria-labelledby="label-title">
      <h1 id="label-title" ref={heading} tabIndex={-1}>
        Rollout {item.place} of {state.total}
      </h1>
      <Texts title="Task" texts={item.task} empty="The rollout has no prompt." />
      {item.fields.length > 0 && <Texts title="About the task" texts={item.fields} empty="" />}
      <Texts title="Answer" texts={item.answer} empty="There is no answer." />
      <fieldset className="label-choices" aria-label="Is the answer right?">
        {CHOICES.map(([label, key, caption]) => (
          <button
            key={label}
            type="button"
            className={`label-${label}`}
            aria-pressed={item.label === label}
            aria-keyshortcuts={key}
            disabled={isSaving}
            onClick={() => choose(label)}
          >
            {caption} <kbd>{key}</kbd>
          </button>
        ))}
        {hasBefore && (
          <button type="button" className="quiet" aria-keyshortcuts="b" onClick={back}>
            Back <kbd>b</kbd>
          </button>
        )}
        {skipAhead && (
          <button type="button" className="quiet" aria-keyshortcuts="n" onClick={skipAhead}>
            Continue <kbd>n</kbd>
          </button>
        )}
        <label className="label-note">
          Note{" "}
          <input
            type="text"
            value={note}
            maxLength={10_000}
            onChange={({ target }) => setNote(target.value)}
          />
        </label>
      </fieldset>
    </article>
  );
}

function Texts({ title, texts, empty }: { title: string; texts: readonly LabelText[]; empty: string }) {
  return (
    <section aria-label={title} className="label-texts">
      <h2>{title}</h2>
      {texts.length === 0 && <p className="dim">{empty}</p>}
      {texts.map(({ name, text }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two texts may have one name, and they never move
        <div key={place} className="label-text">
          <h3>
            <Isolated text={name} />
          </h3>
          <LongText text={text} render={(shown) => <PlainBlock text={shown} className="text" />} />
        </div>
      ))}
    </section>
  );
}
