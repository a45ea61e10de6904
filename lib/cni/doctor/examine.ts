/**
 * Judges a node from gathered facts. The function is pure, so that a test can produce every finding.
 *
 * @module
 */
import { choosePrimary, type ConfigFile, inOrder, ownEntries, readConfig } from "../config/libcni.ts";
import { PLUGIN } from "../config/network.ts";
import type { NeededFile, NeededFiles } from "../install/executable.ts";
import type { InstallRecord } from "../install/record.ts";
import type { CallRow } from "../plugin/calls.ts";

/** Permission bits. */
const EXECUTE = 0o111, OTHERS_WRITE = 0o022;

/** How serious a finding is. */
export type DoctorSeverity = "ok" | "note" | "problem";

/** The outcome of a check. */
export interface DoctorFinding {
  readonly severity: DoctorSeverity;
  readonly about: string;
  readonly text: string;
}

/** The facts gathered on a node. */
export interface NodeFacts {
  readonly files: readonly ConfigFile[];
  /** Permission bits of the plugin's executable; undefined when there is none. */
  readonly executableMode: number | undefined;
  /** The files that the executable needs; undefined: none. */
  readonly needed: NeededFiles | undefined;
  /** Version of the doctor. */
  readonly version: string;
  /** Why the orchestrator config cannot be used. Undefined: the config can be used. */
  readonly orchConfigProblem: string | undefined;
  readonly record: InstallRecord | undefined;
  readonly calls: readonly CallRow[];
  /** Faults in the way of redirection. */
  readonly obstacles: readonly string[];
  /**
   * The result of redirection, and of connections through it, in a scratch network namespace: `passed`, or the reason.
   */
  readonly trial: string;
  readonly pods: readonly PodFacts[];
  /** Failed examinations, each with the reason. */
  readonly unseen: readonly string[];
}

/** The facts about a redirected pod that still exists. */
export interface PodFacts {
  readonly pod: string;
  readonly netns: string;
  /** Differences between the present rules and the expected rules, or why the rules could not be compared. */
  readonly differences: readonly string[];
}

/** Types of other meshes' plugins that redirect. */
const otherMeshes = ["istio-cni", "linkerd-cni", "kuma-cni"];

/** All findings, in the order in which the start of a pod meets them. */
export function examine(facts: NodeFacts): DoctorFinding[] {
  return [
    ...configFindings(facts.files),
    ...placedFindings(facts),
    ...callFindings(facts.calls),
    ...podFindings(facts.pods),
    ...facts.unseen.map((text): DoctorFinding => ({ severity: "problem", about: "rights", text })),
  ];
}

/** A line: `healthy`, or the number of problems. */
export function verdict(findings: readonly DoctorFinding[]): string {
  const problems = findings.filter((finding) => finding.severity === "problem").length;
  if (problems === 0) return "healthy: pods that start now are redirected";
  return `${problems} ${problems === 1 ? "problem" : "problems"}: ${
    findings.filter((f) => f.severity === "problem").map((f) => f.about).join(", ")
  }`;
}

function configFindings(files: readonly ConfigFile[]): DoctorFinding[] {
  const about = "configuration";
  const { primary } = choosePrimary(files);
  const others = primary?.types.filter((type) => otherMeshes.includes(type)) ?? [];
  const beside = others.map((type): DoctorFinding => ({
    severity: "note",
    about,
    text: `${primary?.file}: ${type} redirects too: a pod that both take for injected has two sets of rules`,
  }));
  const rows = inOrder(files).map((file): DoctorFinding => {
    const read = readConfig(file);
    if ("problem" in read) return { severity: "note", about, text: `${file.name}: passed over: ${read.problem}` };
    const chain = [...read.types, ...read.furtherTypes].join(" > ");
    const taken = read.file === primary?.file ? " (the runtime takes this one)" : "";
    return { severity: "ok", about, text: `${file.name}: ${read.name || "no name"}: ${chain}${taken}` };
  });
  if (primary === undefined) {
    return [...rows, { severity: "problem", about, text: "no valid network configuration: no pod gets a network" }];
  }
  const [at] = ownEntries(primary);
  if (at !== undefined && at > 0) return [...rows, ...beside];
  const elsewhere = files.some((file) => {
    const read = readConfig(file);
    return !("problem" in read) && ownEntries(read).length > 0;
  });
  const text = at === 0
    ? `${primary.file}: ${PLUGIN} is the primary network itself: pods get no network from it`
    : elsewhere
    ? `${primary.file} comes before the configuration that names ${PLUGIN}: pods that start now are not redirected`
    : `${primary.file} does not name ${PLUGIN}: pods that start now are not redirected`;
  return [...rows, { severity: "problem", about, text }];
}

function placedFindings(facts: NodeFacts): DoctorFinding[] {
  const { executableMode: mode, orchConfigProblem, record, obstacles, trial } = facts;
  const found: DoctorFinding[] = [];
  if (mode === undefined) found.push({ severity: "problem", about: "executable", text: `there is no ${PLUGIN}` });
  else if ((mode & EXECUTE) === 0) {
    found.push({ severity: "problem", about: "executable", text: `${PLUGIN} may not be executed` });
  } else if (facts.needed === undefined) {
    found.push({ severity: "ok", about: "executable", text: `${PLUGIN} is there` });
  } else found.push(...neededFindings(facts.needed, facts));
  found.push(
    orchConfigProblem === undefined
      ? { severity: "ok", about: "orchestrator", text: "the plugin has an address and a token" }
      : { severity: "problem", about: "orchestrator", text: orchConfigProblem },
  );
  if (record === undefined) {
    found.push({ severity: "note", about: "record", text: "no installer left a record on this node" });
  } else {
    const ended = record.state === "handed over" ? `; it ended: ${record.reason ?? "no reason given"}` : "";
    const text = `${record.placement} in ${record.config ?? "nothing yet"} by ${
      record.installer || "an installer"
    }, version ${record.version}, ${record.at}${ended}`;
    found.push({ severity: record.state === "handed over" ? "note" : "ok", about: "record", text });
  }
  for (const obstacle of obstacles) found.push({ severity: "problem", about: "tools", text: obstacle });
  const passed = trial === "passed";
  const text = passed
    ? "redirection was set up in a scratch network namespace, and a connection went through it"
    : trial;
  found.push({ severity: passed ? "ok" : "problem", about: "trial", text });
  return found;
}

/** A launcher is as good as the files that it needs. */
function neededFindings({ files, same }: NeededFiles, { record, version }: NodeFacts): DoctorFinding[] {
  const about = "executable";
  const faults = files.flatMap((file): DoctorFinding[] => {
    const text = faultOf(file);
    return text === undefined ? [] : [{ severity: "problem", about, text: `${PLUGIN} needs ${file.path}: ${text}` }];
  });
  if (faults.length > 0) return faults;
  const text = `${PLUGIN} and the ${files.length} files that it needs are there`;
  if (same) return [{ severity: "ok", about, text }];
  // The doctor of another version may compute another name from the same contents.
  return record?.version === version
    ? [{ severity: "problem", about, text: `${text}, but their contents are not those that ${PLUGIN} names` }]
    : [{ severity: "note", about, text: `${text}; another version placed them, so their contents were not compared` }];
}

function faultOf({ mode, wanted }: NeededFile): string | undefined {
  if (mode === undefined) return "there is no such file";
  if ((wanted & EXECUTE) !== 0 && (mode & EXECUTE) === 0) return "may not be executed";
  return (mode & OTHERS_WRITE) === 0 ? undefined : `users other than root may change it (mode ${mode.toString(8)})`;
}

/** Failures count only while no later call for the same pod went well. */
function callFindings(calls: readonly CallRow[]): DoctorFinding[] {
  if (calls.length === 0) return [{ severity: "note", about: "calls", text: "the plugin was not called yet" }];
  const lastAdd = new Map(calls.filter((row) => row.command === "ADD").map((row) => [row.pod, row]));
  return calls.map((row): DoctorFinding => {
    const open = row.code !== 0 && row.command === "ADD" && lastAdd.get(row.pod) === row;
    const text = `${row.at} ${row.command} ${row.pod || "no pod"}: ${row.outcome} (${row.took} ms)`;
    return { severity: row.code === 0 ? "ok" : open ? "problem" : "note", about: "calls", text };
  });
}

function podFindings(pods: readonly PodFacts[]): DoctorFinding[] {
  return pods.flatMap(({ pod, netns, differences }): DoctorFinding[] =>
    differences.length === 0
      ? [{ severity: "ok", about: "rules", text: `${pod} (${netns}): as expected` }]
      : differences.map((line) => ({ severity: "problem", about: "rules", text: `${pod} (${netns}): ${line}` }))
  );
}
