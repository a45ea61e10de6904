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
import { families, type Family, TRIAL_CHAIN } from "../../iptables/model/names.ts";
import type { Ran, RuleNamespace, Run } from "../../iptables/run.ts";
import { type Lane, NamespaceShell, type ShellCommand } from "./namespace_shell.ts";
import {
  addressQuestion,
  type Answers,
  answersOf,
  familyQuestion,
  type FirstQuestion,
  joinedAddresses,
  ruleQuestions,
  versionQuestions,
} from "./questions.ts";

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

/**
 * The first questions of every set-up, in two lanes that run at the same time, a lane for each family. Versions of
 * tools are asked only when the versions are unknown.
 */
function questionsOf(family: Family, facts: KnownFacts, table: number | undefined): FirstQuestion[] {
  const line = [IS_NODE[0], ...IS_NODE[1]].join(" ");
  // For invisible files, `test` answers that they are not the same.
  const command = `if test -e ${HERE} && test -e ${NODE}; then ${line}; else (exit 2); fi`;
  const here: FirstQuestion = { command: { line: command }, lines: [line], answers: (ran) => [ran] };
  return [
    ...family === 4 ? [here] : [],
    ...table !== undefined ? [familyQuestion(family, table)] : family === 4 ? [addressQuestion] : [],
    ...versionQuestions(family).filter(({ lines }) => facts.version(lines[0]!) === undefined),
    ...ruleQuestions(family),
  ];
}

/** Read-only commands. */
const LOOKS = [
  /^test .*$/,
  /^ip6?tables(?:-\w+)?-save$/,
  /^ip6?tables(?:-\w+)? --version$/,
  /^ip (?:-\w+ )*(?:addr|rule|route) show\b.*$/,
];
const looks = (line: string) => LOOKS.some((one) => one.test(line));

/** Lane of a command line: each family has a separate lane. */
function laneOf(line: string): Lane {
  return /^ip(?:6| (?:-\w+ )*-6 )/.test(line) ? 1 : 0;
}

/** A way to run commands in a namespace. */
export interface QuickRun {
  readonly run: Run;
  /** Ends the processes of this run. */
  end(): Promise<void>;
}

/** What is known of a set-up before it begins. */
export interface Foreknowledge {
  /** The set-up has rules by marks, with this table of routes: all its routing is read first. */
  readonly table?: number | undefined;
  /** Answers that were read before. Then no question is asked first. */
  readonly answers?: Answers | undefined;
}

/** Commands in a namespace; see the module. */
export function quickRun(
  place: RuleNamespace & { readonly networkNamespace: string },
  facts: KnownFacts,
  known: Foreknowledge = {},
): QuickRun {
  const shell = new NamespaceShell(place);
  return { run: runBy(shell, facts, known), end: () => shell.end() };
}

function runBy(shell: NamespaceShell, facts: KnownFacts, { table, answers: before }: Foreknowledge): Run {
  const answers = new Map<string, Promise<Ran | undefined>>();
  for (const [line, ran] of before ?? []) answers.set(line, Promise.resolve(ran));
  const ask = async (lane: Lane, command: ShellCommand): Promise<Ran> => {
    const [ran] = await shell.ask(lane, [command]);
    return ran as Ran;
  };
  let begun = before !== undefined;
  const begin = () => {
    begun = true;
    const lanes = families.map((family, lane) => {
      const questions = questionsOf(family, facts, table);
      const found = shell.ask(lane as Lane, questions.map(({ command }) => command)).then((ran) => {
        const all = answersOf(questions, ran);
        noteVersions(facts, all);
        return all;
      });
      for (const line of questions.flatMap(({ lines }) => lines)) {
        answers.set(line, found.then((all) => all.get(line)));
      }
      return found;
    });
    if (table === undefined) return;
    const joined = Promise.all(lanes).then((all) =>
      joinedAddresses((line) => all.find((one) => one.has(line))?.get(line))
    );
    for (const line of addressQuestion.lines) answers.set(line, joined.then((all) => all.get(line)));
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
      if (!isPlain(line) || (input !== undefined && !isBatch(line, input))) {
        throw new TypeError(`${line}: no command of a set-up`);
      }
      return await ask(laneOf(line), { line, ...input === undefined ? {} : { input } });
    }
    const version = facts.version(line);
    if (version !== undefined) return { code: 0, stdout: version, stderr: "" };
    if (!begun) begin();
    return await answers.get(line) ?? await ask(laneOf(line), { line });
  };
}

/** Keeps the reported versions of tools. */
export function noteVersions(facts: KnownFacts, answers: Answers): void {
  for (const [line, { code, stdout }] of answers) {
    if (code === 0 && line.endsWith(" --version")) facts.addVersion(line, stdout);
  }
}

/** Names with the prefix `TRIAL_CHAIN`. */
const TRIAL_CHAINS = /MESH_TRIAL\w*/g;

/** The key of a trial: the trial's text without the name of its chain. Undefined: the input is not a trial. */
function trialKey(tool: string, input: string): string | undefined {
  if (!input.includes(TRIAL_CHAIN)) return undefined;
  return `${tool} ${input.replaceAll(TRIAL_CHAINS, TRIAL_CHAIN)}`;
}

/** True for several commands of the tool `ip`, a line each. */
function isBatch(line: string, input: string): boolean {
  return /^ip -[46] -batch -$/.test(line) && input.split("\n").every((one) => one === "" || isPlain(one));
}

/** True for a command line of plain words, without special characters of the shell. */
function isPlain(line: string): boolean {
  return /^[A-Za-z0-9 ._=:/-]+$/.test(line);
}
