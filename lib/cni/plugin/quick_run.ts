/**
 * The system's tools in a pod's namespace, with few processes: a call of the plugin has a tenth of a second, and a
 * process costs a twentieth of this time.
 *
 * At its start a single shell reads everything that a set-up needs. A restore lists again in the same shell. Versions,
 * and the trial of features, are the same for every pod and kept on the node. The answers are the answers of the tools;
 * only the number of processes differs.
 *
 * Permissions: run (nsenter), and the permissions of {@link KnownFacts}.
 *
 * @module
 */
import { TRIAL_CHAIN } from "../../iptables/model/names.ts";
import type { Ran, RuleNamespace, Run } from "../../iptables/run.ts";
import { type Lane, NamespaceShell, type ShellCommand } from "./namespace_shell.ts";

/** Facts about this node from earlier calls. */
export interface KnownFacts {
  /** True for a successful trial. */
  has(trial: string): boolean;
  add(trial: string): void;
  /** A tool's report of its version. Undefined: not known. */
  version(line: string): string | undefined;
  addVersion(line: string, text: string): void;
  /** Forgets everything, because a known fact was wrong. */
  forget(): void;
}

/** The entered namespace, and the plugin's own namespace: the node's. */
const [HERE, NODE] = ["/proc/self/ns/net", `/proc/${Deno.pid}/ns/net`];

/**
 * Asks whether the two namespaces are the same: code 0 for yes, 1 for no. Any other code: the namespaces cannot be
 * seen.
 */
export const IS_NODE: readonly [command: string, args: readonly string[]] = ["test", [HERE, "-ef", NODE]];

/** A question in the set-up's words, and a command with the same answer. Default: the question is the command. */
interface QuickQuestion {
  readonly line: string;
  readonly command?: string;
}

/**
 * The first questions of every set-up, in two lanes that run at the same time, a lane for each family. Versions of
 * tools are asked only when the versions are unknown.
 */
function questions(facts: KnownFacts): QuickQuestion[][] {
  const line = [IS_NODE[0], ...IS_NODE[1]].join(" ");
  // For invisible files, `test` answers that they are not the same.
  const here = { line, command: `if test -e ${HERE} && test -e ${NODE}; then ${line}; else (exit 2); fi` };
  return [[here, { line: ADDRESSES }, ...listings("iptables", facts)], listings("ip6tables", facts)];
}

function listings(tool: "iptables" | "ip6tables", facts: KnownFacts): QuickQuestion[] {
  const asked: QuickQuestion[] = [];
  for (const kind of ["nft", "legacy"]) {
    const version = `${tool}-${kind} --version`;
    if (facts.version(version) === undefined) asked.push({ line: version });
  }
  // Without tables of the legacy back end its list is empty, and a question would create tables.
  const names = `/proc/net/${tool === "iptables" ? "ip" : "ip6"}_tables_names`;
  const save = `${tool}-legacy-save`;
  const legacy = { line: save, command: `if read -r any <${names}; then ${save}; fi 2>/dev/null` };
  return [...asked, { line: `${tool}-nft-save` }, legacy];
}

const ADDRESSES = "ip -o addr show";

/** Answers that are parts of the list of addresses. */
const parts: readonly (readonly [line: string, holds: RegExp])[] = [
  ["ip -o addr show scope global", / scope global\b/],
  ["ip -4 -o addr show dev lo", /^\d+: lo +inet /],
  ["ip -6 -o addr show dev lo", /^\d+: lo +inet6 /],
];

function partOf(all: Ran, holds: RegExp): Ran {
  return {
    ...all,
    stdout: all.stdout.split("\n").filter((line) => holds.test(line)).map((line) => `${line}\n`).join(""),
  };
}

/** Read-only commands. */
const LOOKS = [
  /^test .*$/,
  /^ip6?tables(?:-\w+)?-save$/,
  /^ip6?tables(?:-\w+)? --version$/,
  /^ip (?:-\w+ )*(?:addr|rule|route) show\b.*$/,
];
const looks = (line: string) => LOOKS.some((one) => one.test(line));

/** Lane of a command: each family has a separate lane. */
function laneOf(tool: string): Lane {
  return tool.startsWith("ip6") ? 1 : 0;
}

/** A way to run commands in a namespace. */
export interface QuickRun {
  readonly run: Run;
  /** Ends the processes of this run. */
  end(): Promise<void>;
}

/** Commands in a namespace; see the module. */
export function quickRun(place: RuleNamespace & { readonly networkNamespace: string }, facts: KnownFacts): QuickRun {
  const shell = new NamespaceShell(place);
  return { run: runBy(shell, facts), end: () => shell.end() };
}

function runBy(shell: NamespaceShell, facts: KnownFacts): Run {
  const answers = new Map<string, Promise<Ran>>();
  const ask = async (lane: Lane, command: ShellCommand): Promise<Ran> => {
    const [ran] = await shell.ask(lane, [command]);
    return ran as Ran;
  };
  let begun = false;
  const begin = () => {
    begun = true;
    questions(facts).forEach((questions, lane) => {
      const all = shell.ask(lane as Lane, questions.map(({ line, command }) => ({ line: command ?? line })));
      questions.forEach(({ line }, i) => {
        const answer = all.then((ran) => ran[i] as Ran);
        answers.set(line, line.endsWith(" --version") ? answer.then((ran) => noted(facts, line, ran)) : answer);
      });
    });
    const addresses = answers.get(ADDRESSES);
    for (const [line, holds] of parts) if (addresses) answers.set(line, addresses.then((ran) => partOf(ran, holds)));
  };
  const save = async (tool: string, args: readonly string[], input: string): Promise<Ran> => {
    const [restore, list] = [`${tool}-restore`, `${tool}-save`];
    const both = shell.ask(laneOf(tool), [{ line: [restore, ...args].join(" "), input }, { line: list }]);
    answers.set(list, both.then((ran) => ran[1] as Ran));
    return (await both)[0] as Ran;
  };
  return async (command, args, input) => {
    const line = [command, ...args].join(" ");
    const restores = /^(ip6?tables(?:-\w+)?)-restore$/.exec(command)?.[1];
    if (restores !== undefined && input !== undefined && isPlain(line)) {
      const key = trialKey(restores, input);
      if (key !== undefined && facts.has(key)) return { code: 0, stdout: "", stderr: "" };
      const ran = await save(restores, args, input);
      if (key !== undefined && ran.code === 0) facts.add(key);
      if (ran.code !== 0) facts.forget();
      return ran;
    }
    if (!looks(line) || !isPlain(line)) {
      // A change by `ip` changes no rule, and the other way round.
      for (const known of answers.keys()) if (known.startsWith("ip ") === (command === "ip")) answers.delete(known);
      if (input !== undefined || !isPlain(line)) throw new TypeError(`${line}: no command of a set-up`);
      return await ask(laneOf(command), { line });
    }
    const version = facts.version(line);
    if (version !== undefined) return { code: 0, stdout: version, stderr: "" };
    if (!begun) begin();
    return await (answers.get(line) ?? ask(laneOf(command), { line }));
  };
}

/** Keeps the reported version of a tool. */
function noted(facts: KnownFacts, line: string, ran: Ran): Ran {
  if (ran.code === 0) facts.addVersion(line, ran.stdout);
  return ran;
}

/** Names with the prefix `TRIAL_CHAIN`. */
const TRIAL_CHAINS = /MESH_TRIAL\w*/g;

/** The key of a trial: the trial's text without the name of its chain. Undefined: the input is not a trial. */
function trialKey(tool: string, input: string): string | undefined {
  if (!input.includes(TRIAL_CHAIN)) return undefined;
  return `${tool} ${input.replaceAll(TRIAL_CHAINS, TRIAL_CHAIN)}`;
}

/** True for a command line of plain words, without special characters of the shell. */
function isPlain(line: string): boolean {
  return /^[A-Za-z0-9 ._=:/-]+$/.test(line);
}
