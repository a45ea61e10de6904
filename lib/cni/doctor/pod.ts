/**
 * Judges a pod from the ambient node agent's report. Pure.
 *
 * @module
 */
import type { DialledPod, PodReport } from "../ambient/redirection.ts";
import type { DoctorFinding, DoctorSeverity } from "./examine.ts";

/** All findings about a pod, in the order in which traffic meets them. */
export function examinePod(report: PodReport): DoctorFinding[] {
  const found: DoctorFinding[] = [];
  const add = (severity: DoctorSeverity, about: string, text: string) => found.push({ severity, about, text });
  const { isIn, why, redirection, netns, differences, tunnel, tunnels, probes, addresses, rules, dialled } = report;
  if (!isIn) {
    add("note", "ambient", `out: ${why}`);
    if (redirection !== undefined) add("problem", "annotation", `it says ${redirection}, and the pod should be out`);
    return found;
  }
  add("ok", "ambient", `in: ${why}`);
  if (netns === undefined) {
    add("problem", "namespace", differences[0] ?? "the pod's network namespace is not known");
  } else {
    add("ok", "namespace", netns);
    if (differences.length === 0) add("ok", "rules", `as expected: ${rules}`);
    for (const line of differences) add("problem", "rules", line);
  }
  const reason = tunnel === undefined ? "the agent does not hold the pod" : tunnel.why || tunnel.outcome;
  if (tunnel?.outcome === "acked") add("ok", "tunnel", `it acknowledged the pod (${tunnels} connected)`);
  else add("problem", "tunnel", `no tunnel has acknowledged the pod: ${reason} (${tunnels} connected)`);
  const missing = addresses.filter((address) => !probes.includes(address));
  if (addresses.length === 0) add("problem", "probes", "the pod has no address yet");
  else if (missing.length === 0) add("ok", "probes", `the node's probes of ${probes.join(", ")} are exempted`);
  else add("problem", "probes", `the node's probes of ${missing.join(", ")} are not exempted`);
  for (const one of dialled) found.push(packetFinding(one, tunnel?.outcome === "acked"));
  if (redirection === "enabled") add("ok", "annotation", "peers use the tunnel to this pod");
  else {
    add("problem", "annotation", `it says ${redirection ?? "nothing"}, expected enabled: peers send plain connections`);
  }
  return found;
}

/** What a connection like a probe's tells. @param listens whether a tunnel listens in the pod */
function packetFinding({ address, outcome, why }: DialledPod, listens: boolean): DoctorFinding {
  const of = `a connection of this node to ${address}`;
  switch (outcome) {
    case "connected":
      return { severity: "problem", about: "packet", text: `${of} is taken by the tunnel: policies meet probes, too` };
    case "unanswered":
      return { severity: "note", about: "packet", text: `${of} gets no answer, as behind a NetworkPolicy: ${why}` };
    case "refused":
      return listens
        ? { severity: "ok", about: "packet", text: `${of} reaches the pod past the tunnel` }
        : { severity: "note", about: "packet", text: `${of} is refused, which proves nothing while no tunnel listens` };
  }
}

/** A line: captured, out, or the number of problems. */
export function podVerdict(findings: readonly DoctorFinding[]): string {
  const problems = findings.filter(({ severity }) => severity === "problem").map(({ about }) => about);
  if (problems.length > 0) {
    return `${problems.length} ${problems.length === 1 ? "problem" : "problems"}: ${problems.join(", ")}`;
  }
  return findings.some(({ about }) => about === "tunnel") ? "captured" : "not in ambient mode";
}
