/**
 * `/debug/savings`: what on-demand discovery saves in memory and bytes, and would save, by namespace.
 *
 * @module
 */
import {
  calledHosts,
  callingWorkloads,
  type CallingWorkloadView,
  type ConfigurationBytes,
  ConfigurationSizes,
} from "./calling_workloads.ts";
import { memoryOf } from "./learned_scope.ts";
import type { Cell, DescribedList } from "./list_page.ts";
import type { DebugView } from "./view.ts";

/** Memory in MiB, and bytes of configuration, of several sidecars. */
interface SavedAmount {
  readonly memory: number;
  readonly bytes: number;
}

/** The savings in a namespace. */
export interface NamespaceSavings {
  readonly namespace: string;
  /** Sidecars that ask, and what they save. */
  readonly asking: number;
  readonly saved: SavedAmount;
  /** Sidecars with everything whose workload has known calls, and what a switch would save. */
  readonly known: number;
  readonly wouldSave: SavedAmount;
  /** Sidecars with everything whose calls are not known, and what a switch would save if they called nothing. */
  readonly unknown: number;
  readonly atMost: SavedAmount;
}

const NOTHING: SavedAmount = { memory: 0, bytes: 0 };

/** The savings by namespace. */
export function savingsOf(view: Pick<DebugView, "translator" | "calls">): NamespaceSavings[] {
  const sizes = new ConfigurationSizes();
  const services = new Map<object, number>();
  return [...Map.groupBy(callingWorkloads(view), ({ namespace }) => namespace)].map(([namespace, rows]) => {
    const found = { asking: 0, saved: NOTHING, known: 0, wouldSave: NOTHING, unknown: 0, atMost: NOTHING };
    for (const row of rows) {
      const one = savingOf(row, sizes, services);
      found.asking += row.asking.length;
      found.saved = plus(found.saved, one, row.asking.length);
      if (row.calls.size > 0) {
        found.known += row.whole.length;
        found.wouldSave = plus(found.wouldSave, one, row.whole.length);
      } else {
        found.unknown += row.whole.length;
        found.atMost = plus(found.atMost, one, row.whole.length);
      }
    }
    return { namespace, ...found };
  }).filter(({ asking, known, unknown }) => asking + known + unknown > 0);
}

function plus(sum: SavedAmount, { memory, bytes }: SavedAmount, times: number): SavedAmount {
  return { memory: sum.memory + memory * times, bytes: sum.bytes + bytes * times };
}

/** The saving of one sidecar of a workload. */
function savingOf(
  { calls, asking, whole }: CallingWorkloadView,
  sizes: ConfigurationSizes,
  counts: Map<object, number>,
): SavedAmount {
  const state = asking[0] ?? whole[0];
  if (state === undefined) return NOTHING;
  const { scope } = state.proxyClass;
  const services = counts.getOrInsertComputed(scope, () => {
    return Iterator.from(scope.hosts()).filter((host) => scope.service(host) !== undefined).toArray().length;
  });
  const bytes: ConfigurationBytes = sizes.of(state, calledHosts(calls.keys(), state).hosts);
  const memory = memoryOf(bytes, services);
  return { memory: memory.everything - memory.called, bytes: bytes.everything - bytes.called };
}

/** Memory, and below it bytes of configuration. */
function amountCell({ memory, bytes }: SavedAmount): Cell {
  return [`${memory} MiB`, { dim: `${(bytes / 1e6).toFixed(1)} MB` }];
}

export const SAVINGS: DescribedList<NamespaceSavings, void> = {
  title: "Savings of on-demand discovery",
  noun: "namespace",
  beside: [{ title: "What workloads have called", link: "/debug/calls" }],
  none: "No sidecar is connected.",
  rows: savingsOf,
  json: (rows) => rows,
  look: () => {},
  filters: [{ name: "namespace", of: ({ namespace }) => namespace, forPrograms: "a namespace" }],
  columns: [
    { title: "Namespace", cell: ({ namespace }) => namespace },
    { title: "Ask", isNumber: true, cell: ({ asking }) => asking },
    { title: "Saved", cell: ({ saved }) => amountCell(saved) },
    { title: "Whole", isNumber: true, cell: ({ known }) => known },
    { title: "Would save", cell: ({ wouldSave }) => amountCell(wouldSave) },
    { title: "Unknown", isNumber: true, cell: ({ unknown }) => unknown },
    { title: "At most", cell: ({ atMost }) => amountCell(atMost) },
  ],
};
