import { useEffect, useRef, useState } from "react";
import { SORTS, STATUSES, type ViewerStatus } from "../api-types.ts";
import type { FilterKey, Filters } from "./route.ts";

const TYPING_MS = 250;

const SORT_NAMES: Record<(typeof SORTS)[number], string> = {
  file: "file order",
  task: "task",
  reward: "reward",
  tokens: "output tokens",
};
const STATUS_NAMES: Record<(typeof STATUSES)[number], string> = {
  all: "all",
  completed: "completed",
  failed: "failed only",
  masked: "masked only",
  invalid: "invalid only",
};

interface Props {
  filters: Filters;
  status: ViewerStatus | undefined;
  onChange: (filters: Filters) => void;
}

/** What the list shows, and in which order. */
export function FilterBar({ filters, status, onChange }: Props) {
  const set = (key: FilterKey, value: string) => {
    const next = { ...filters };
    if (value === "") delete next[key];
    else next[key] = value;
    onChange(next);
  };
  const active = Object.keys(filters).some(
    (key) => key !== "sort" && key !== "order" && key !== "pass_threshold",
  );
  return (
    <search className="filters" aria-label="Filter rollouts">
      <div className="filter-line">
        <TypedInput
          id="search"
          type="search"
          label="Search text (press /)"
          placeholder="Search in everything  /"
          value={filters.text ?? ""}
          onChange={(value) => set("text", value)}
        />
      </div>
      <div className="filter-line">
        <Choice
          label="Show"
          value={filters.status ?? "all"}
          options={STATUSES.map((name) => [name, STATUS_NAMES[name]])}
          onChange={(value) => set("status", value === "all" ? "" : value)}
        />
        <Choice
          label="Sort"
          value={filters.sort ?? "file"}
          options={SORTS.map((name) => [name, SORT_NAMES[name]])}
          onChange={(value) => set("sort", value === "file" ? "" : value)}
        />
        <button
          type="button"
          className="quiet"
          title="Turn the order around"
          aria-label={
            filters.order === "desc" ? "Descending; make it ascending" : "Ascending; make it descending"
          }
          onClick={() => set("order", filters.order === "desc" ? "" : "desc")}
        >
          {filters.order === "desc" ? "↓" : "↑"}
        </button>
      </div>
      <div className="filter-line">
        <span className="filter-name" aria-hidden="true">
          Reward
        </span>
        <TypedInput
          type="number"
          label="Least reward"
          placeholder="min"
          value={filters.reward_min ?? ""}
          onChange={(value) => set("reward_min", value)}
        />
        <TypedInput
          type="number"
          label="Greatest reward"
          placeholder="max"
          value={filters.reward_max ?? ""}
          onChange={(value) => set("reward_max", value)}
        />
        <span className="filter-name" aria-hidden="true">
          pass ≥
        </span>
        <TypedInput
          type="number"
          label="Reward from which a rollout passes"
          placeholder="1"
          value={filters.pass_threshold ?? ""}
          onChange={(value) => set("pass_threshold", value)}
        />
      </div>
      {((status?.agents.length ?? 0) > 1 || filters.agent) && (
        <div className="filter-line">
          <Choice
            label="Agent"
            value={filters.agent ?? ""}
            options={[["", "all"], ...(status?.agents ?? []).map((name): [string, string] => [name, name])]}
            onChange={(value) => set("agent", value)}
          />
        </div>
      )}
      {((status?.failure_classes.length ?? 0) > 1 || filters.failure) && (
        <div className="filter-line">
          <Choice
            label="Failure"
            value={filters.failure ?? ""}
            options={[
              ["", "any"],
              ...(status?.failure_classes ?? []).map((name): [string, string] => [name, name]),
            ]}
            onChange={(value) => set("failure", value)}
          />
        </div>
      )}
      {active && (
        <button
          type="button"
          className="quiet clear"
          onClick={() => {
            const { sort, order, pass_threshold } = filters;
            onChange({
              ...(sort && { sort }),
              ...(order && { order }),
              ...(pass_threshold && { pass_threshold }),
            });
          }}
        >
          Clear filters
        </button>
      )}
    </search>
  );
}

function Choice(props: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <label className="choice">
      <span className="filter-name">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** An input that speaks up when the typing pauses. */
function TypedInput(props: {
  id?: string;
  type: "search" | "number";
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { value, onChange } = props;
  const [typed, setTyped] = useState(value);
  // The filters may have changed since the typing began.
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => setTyped(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the clock
  useEffect(() => {
    if (typed === value) return;
    const timer = window.setTimeout(() => latest.current(typed), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [typed]);
  return (
    <input
      {...(props.id && { id: props.id })}
      type={props.type}
      step="any"
      aria-label={props.label}
      placeholder={props.placeholder}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
