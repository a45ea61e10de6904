/**
 * `/debug/calls`: what workloads have called, and whether the server can know it.
 *
 * @module
 */
import { callingWorkloads, type CallingWorkloadView } from "./calling_workloads.ts";
import { withQuery } from "./links.ts";
import type { Cell, DescribedList } from "./list_page.ts";

/** Most called names of a row for people. */
const MAX_NAMES = 10;

/** The address of the Sidecar that fits what a workload has called. */
export function scopeUrl({ namespace, workload }: Pick<CallingWorkloadView, "namespace" | "workload">): string {
  return withQuery("/debug/learned_scope", { workload: `${namespace}/${workload}` });
}

/** What is known of a workload's calls, in a sentence. */
export function knowledgeOf({ asking, whole, calls }: CallingWorkloadView): string {
  if (whole.length === 0) return "all connected sidecars ask, so their calls are known";
  const many = `${whole.length} connected ${whole.length === 1 ? "sidecar has" : "sidecars have"} everything`;
  if (asking.length === 0 && calls.size === 0) return `${many} and ask for nothing, so the calls are not known`;
  return `${many}, and calls of these are not known`;
}

export const CALLS: DescribedList<CallingWorkloadView, void> = {
  title: "What workloads have called",
  noun: "workload",
  beside: [{ title: "Savings by namespace", link: "/debug/savings" }],
  none: "No sidecar is connected, and nothing is remembered.",
  rows: (view) => callingWorkloads(view),
  json: (rows) =>
    rows.map((row) => ({
      ...{ namespace: row.namespace, workload: row.workload, accounts: row.accounts },
      ...{ asking: row.asking.length, whole: row.whole.length, knowledge: knowledgeOf(row) },
      called: Object.fromEntries([...row.calls].map(([name, at]) => [name, new Date(at).toISOString()])),
    })),
  look: () => {},
  searched: ({ namespace, workload, calls }) => [namespace, workload, ...calls.keys()].join(" "),
  filters: [{ name: "namespace", of: ({ namespace }) => namespace, forPrograms: "a namespace" }],
  columns: [
    { title: "Workload", cell: (row) => ({ text: `${row.namespace}/${row.workload}`, link: scopeUrl(row) }) },
    { title: "Ask", isNumber: true, cell: ({ asking }) => asking.length },
    { title: "Whole", isNumber: true, cell: ({ whole }) => whole.length },
    { title: "Called", cell: calledCell },
    {
      title: "Last call",
      cell: ({ calls }) => calls.size === 0 ? { dim: "none" } : { time: Math.max(...calls.values()) },
    },
    { title: "Known", cell: knowledgeOf },
  ],
};

function calledCell({ calls }: CallingWorkloadView): Cell {
  if (calls.size === 0) return { dim: "none" };
  const names = [...calls.keys()].sort();
  const more = names.length > MAX_NAMES ? [{ dim: `and ${names.length - MAX_NAMES} more` }] : [];
  return [...names.slice(0, MAX_NAMES).map((mono) => ({ mono })), ...more];
}
