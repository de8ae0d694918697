import { useEffect, useRef } from "react";
import uPlot from "uplot";
import type { Overview } from "../api-types.ts";
import { rewardText } from "./format.ts";

const HEIGHT = 180;

/** How many rollouts got which reward. */
export function RewardChart({ bins }: { bins: Overview["bins"] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null || bins.length === 0) return;
    let chart: uPlot | undefined;
    const draw = () => {
      chart?.destroy();
      chart = new uPlot(options(element, bins), [
        bins.map(({ from, to }) => (from + to) / 2),
        // Nothing is drawn for an empty bar, not even its outline.
        bins.map(({ count }) => (count === 0 ? null : count)),
      ]);
      element.replaceChildren(chart.root);
    };
    draw();
    const resized = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      chart?.destroy();
    };
  }, [bins]);
  if (bins.length === 0) return <p className="note">No rollout has a reward (yet).</p>;
  return (
    <figure className="chart">
      <div ref={place} aria-hidden="true" />
      <table className="offscreen">
        <caption>Distribution of rewards</caption>
        <tbody>
          {bins
            .filter(({ count }) => count > 0)
            .map(({ from, to, count }) => (
              <tr key={from}>
                <th scope="row">
                  {rewardText(from)} to {rewardText(to)}
                </th>
                <td>{count}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}

function options(element: HTMLElement, bins: Overview["bins"]): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--dim"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  const from = bins[0]?.from ?? 0;
  const to = bins.at(-1)?.to ?? 1;
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [from, to] },
      y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] },
    },
    series: [
      {},
      {
        fill: colour("--bar"),
        stroke: colour("--bar"),
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.85, 60] }) }),
        points: { show: false },
      },
    ],
    axes: [
      { ...axis, size: 28 },
      { ...axis, size: 48, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] },
    ],
  };
}
