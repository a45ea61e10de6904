/**
 * What every set-up of rules asks first in a network namespace: addresses, lists of rules, routing. The questions are
 * known before their answers are needed, so that few programs answer all of them at once.
 *
 * The answers are those of the tools to single commands. A tool that cannot answer together leaves an answer out, and
 * the single command is run when its answer is needed.
 *
 * @module
 */
import { families, type Family } from "../../iptables/model/names.ts";
import { listRoutes, listRules } from "../../iptables/routing.ts";
import type { Ran } from "../../iptables/run.ts";
import type { ShellCommand } from "./namespace_shell.ts";

/** Answers by command line. */
export type Answers = ReadonlyMap<string, Ran>;

/** A command that is run first. */
export interface FirstQuestion {
  readonly command: ShellCommand;
  /** The command lines that it answers. */
  readonly lines: readonly string[];
  /** The answers to the lines, in order. Undefined: left out. */
  readonly answers: (ran: Ran) => readonly (Ran | undefined)[];
}

/** The list of all addresses. */
const ADDRESSES = "ip -o addr show";

/** The command lines whose answers are parts of the list of all addresses. */
const PARTS: Readonly<Record<string, RegExp>> = {
  [ADDRESSES]: /./,
  [`${ADDRESSES} scope global`]: / scope global\b/,
  "ip -4 -o addr show dev lo": /^\d+: lo +inet /,
  "ip -6 -o addr show dev lo": /^\d+: lo +inet6 /,
};

const TOOLS = { 4: "iptables", 6: "ip6tables" } as const;

/** The command line is the question. */
function plain(line: string, command = line): FirstQuestion {
  return { command: { line: command }, lines: [line], answers: (ran) => [ran] };
}

/** Questions about a family's tools. Their answers are the same in every namespace. */
export function versionQuestions(family: Family): readonly FirstQuestion[] {
  return ["nft", "legacy"].map((kind) => plain(`${TOOLS[family]}-${kind} --version`));
}

/** The rules of a family in both back ends. */
export function ruleQuestions(family: Family): readonly FirstQuestion[] {
  // Without tables of the legacy back end its list is empty, and a question would create tables.
  const names = `/proc/net/${family === 4 ? "ip" : "ip6"}_tables_names`;
  const save = `${TOOLS[family]}-legacy-save`;
  return [plain(`${TOOLS[family]}-nft-save`), plain(save, `if read -r any <${names}; then ${save}; fi 2>/dev/null`)];
}

/** All addresses. */
export const addressQuestion: FirstQuestion = {
  command: { line: ADDRESSES },
  lines: Object.keys(PARTS),
  answers: (ran) => Object.values(PARTS).map((holds) => ran.code === 0 ? partOf(ran, holds) : ran),
};

function partOf({ stdout }: Ran, holds: RegExp): Ran {
  return printed(stdout.split("\n").filter((line) => holds.test(line)));
}

/**
 * The addresses and the routing of a family, by one program: its addresses, its rules, and the routes of a table.
 *
 * Without the option for numbers a rule may name its table. Then the list of rules is left out.
 */
export function familyQuestion(family: Family, table: number): FirstQuestion {
  const asked = [listRules(family), listRoutes(family, table)];
  const batch = ["addr show", ...asked.map((args) => args.filter((word) => !word.startsWith("-")).join(" "))];
  return {
    // A table that does not exist is an error, and comes last.
    command: { line: `{ ip -${family} -o -force -batch - 2>/dev/null; }`, input: batch.join("\n") },
    lines: [addressesOf(family), ...asked.map((args) => `ip ${args.join(" ")}`)],
    answers: ({ stdout, stderr }) => {
      const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
      const [rules, addresses] = [RULE, ADDRESS].map((one) => lines.filter((line) => one.test(line)));
      const routes = lines.filter((line) => !RULE.test(line) && !ADDRESS.test(line));
      // A kernel with the family has rules of its own. Without rules, nothing is known.
      if (rules!.length === 0) return [];
      const isNumbered = rules!.every((line) => !line.includes(" fwmark ") || NUMBERED.test(line));
      return [printed(addresses!), isNumbered ? printed(rules!) : undefined, printed(routes)];
    },
  };
}

function addressesOf(family: Family): string {
  return `ip -${family} -o addr show`;
}

/** A line of `ip rule show`, and of `ip -o addr show`. */
const RULE = /^\d+:\t/, ADDRESS = /^\d+: /;

/** A rule by a mark, written only with numbers. */
const NUMBERED = / fwmark \S+ lookup \d+(?: proto \d+)?\s*$/;

/** The answers about all addresses, from those about the addresses of each family. None, if one is left out. */
export function joinedAddresses(found: (line: string) => Ran | undefined): Answers {
  const each = families.map((family) => found(addressesOf(family)));
  if (each.includes(undefined)) return new Map();
  const all: Ran = { code: 0, stdout: each.map((ran) => ran!.stdout).join(""), stderr: "" };
  return answersOf([addressQuestion], [all]);
}

/** The answers to questions, from the output of their commands in order. */
export function answersOf(questions: readonly FirstQuestion[], ran: readonly (Ran | undefined)[]): Answers {
  return new Map(questions.flatMap(({ lines, answers }, i) => {
    const one = ran[i];
    const found = one === undefined ? [] : answers(one);
    return lines.flatMap((line, j): [string, Ran][] => {
      const answer = found[j];
      return answer === undefined ? [] : [[line, answer]];
    });
  }));
}

function printed(lines: readonly string[]): Ran {
  return { code: 0, stdout: lines.map((line) => `${line}\n`).join(""), stderr: "" };
}
