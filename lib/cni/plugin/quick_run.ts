/**
 * The system's tools in a pod's namespace, with few processes: a call of the plugin has a tenth of a second, and one
 * process costs a twentieth of that.
 *
 * What a set-up reads at its start is read by one shell; a restore lists again in the same shell; versions, and the trial
 * of features, are the same for every pod and kept on the node. The answers are those of the tools; only the number of
 * processes differs.
 *
 * Permissions: run (nsenter), and those of {@link KnownFacts}.
 *
 * @module
 */
import { TRIAL_CHAIN } from "../../iptables/names.ts";
import { enterWords, type Place, type Ran, type Run, systemRun } from "../../iptables/run.ts";

/** What is known of this node from former calls. */
export interface KnownFacts {
  /** True for a trial that succeeded. */
  has(trial: string): boolean;
  add(trial: string): void;
  /** What a tool says of its version; undefined when it was not asked. */
  version(line: string): string | undefined;
  addVersion(line: string, text: string): void;
  /** Something that was known failed: nothing is known any more. */
  forget(): void;
}

/** Line between the answers of two commands; no tool prints the like. */
const MARK = "====mesh-cni====";

/** Files whose targets name the network namespace entered, and the one in which the plugin runs: the node's. */
export const NAMESPACE_LINKS: readonly string[] = ["/proc/self/ns/net", `/proc/${Deno.pid}/ns/net`];

/** A question in the words in which a set-up asks it, and the command whose answer is the same; itself by default. */
interface Question {
  readonly line: string;
  readonly command?: string;
}

/** What a set-up reads first; versions of tools only when they are not known. */
function questions(facts: KnownFacts): Question[] {
  const asked: Question[] = [{ line: LINKS }, { line: ADDRESSES }];
  for (const [family, tool] of [[4, "iptables"], [6, "ip6tables"]] as const) {
    for (const kind of ["nft", "legacy"]) {
      const version = `${tool}-${kind} --version`;
      if (facts.version(version) === undefined) asked.push({ line: version });
    }
    asked.push({ line: `${tool}-nft-save` });
    // Without tables of the legacy back end its list is empty, and asking would make them.
    const names = `/proc/net/${family === 4 ? "ip" : "ip6"}_tables_names`;
    const save = `${tool}-legacy-save`;
    asked.push({ line: save, command: `if read -r any <${names}; then ${save}; fi 2>/dev/null` });
    asked.push({ line: `ip -${family} rule show` }, { line: `ip -${family} route show table local` });
  }
  return asked;
}

const LINKS = `readlink ${NAMESPACE_LINKS.join(" ")}`;
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

/** Commands that only look. */
const looks =
  /^(readlink .*|ip6?tables(-\w+)?-save|ip6?tables(-\w+)? --version|ip (-\w+ )*(addr|rule|route) show\b.*)$/;

/** Commands in a namespace; see the module. */
export function quickRun(place: Place & { readonly networkNamespace: string }, facts: KnownFacts): Run {
  const plain = systemRun(place);
  const answers = new Map<string, Promise<Ran>>();
  let begun = false;
  const begin = () => {
    begun = true;
    const asked = questions(facts);
    const all = shell(place, asked.map(({ line, command }) => command ?? line));
    asked.forEach(({ line }, i) => {
      const answer = all.then((ran) => ran[i] ?? unanswered(line));
      answers.set(line, line.endsWith(" --version") ? answer.then((ran) => noted(facts, line, ran)) : answer);
    });
    const addresses = answers.get(ADDRESSES);
    for (const [line, holds] of parts) if (addresses) answers.set(line, addresses.then((ran) => partOf(ran, holds)));
  };
  const save = async (tool: string, args: readonly string[], input: string): Promise<Ran> => {
    const list = `${tool}-save`;
    const both = shell(place, [[`${tool}-restore`, ...args].join(" "), list], input);
    answers.set(list, both.then(([, listed]) => listed ?? unanswered(list)));
    return (await both)[0] ?? unanswered(tool);
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
    if (!looks.test(line) || !isPlain(line)) {
      // What `ip` changes is no rule, and the other way round.
      for (const known of answers.keys()) if (known.startsWith("ip ") === (command === "ip")) answers.delete(known);
      return plain(command, args, input);
    }
    const version = facts.version(line);
    if (version !== undefined) return { code: 0, stdout: version, stderr: "" };
    if (!begun) begin();
    return await (answers.get(line) ?? plain(command, args, input));
  };
}

/** Keeps a version that was told. */
function noted(facts: KnownFacts, line: string, ran: Ran): Ran {
  if (ran.code === 0) facts.addVersion(line, ran.stdout);
  return ran;
}

/** A trial by what it tries, without the name of its chain; undefined for what is no trial. */
function trialKey(tool: string, input: string): string | undefined {
  if (!input.includes(TRIAL_CHAIN)) return undefined;
  return `${tool} ${input.replaceAll(new RegExp(`${TRIAL_CHAIN}\\w*`, "g"), TRIAL_CHAIN)}`;
}

/** True for a command line of plain words: nothing that a shell would take for more. */
function isPlain(line: string): boolean {
  return /^[A-Za-z0-9 ._=:/-]+$/.test(line);
}

/** Runs command lines one after the other in one shell; the first reads `input`. */
async function shell(place: Place & { readonly networkNamespace: string }, lines: readonly string[], input?: string) {
  const script = lines.map((line) => `${line} 2>&1; echo "\n${MARK} $?"`).join("\n");
  const env = place.lockFile === undefined ? {} : { XTABLES_LOCKFILE: place.lockFile };
  const child = new Deno.Command("nsenter", {
    args: [...enterWords(place.networkNamespace), "sh", "-c", script],
    env,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [output] = await Promise.all([child.output(), input === undefined ? undefined : feed(child, input)]);
  const decoder = new TextDecoder();
  const said = decoder.decode(output.stdout);
  if (!said.includes(MARK)) {
    const problem = decoder.decode(output.stderr).trim();
    return lines.map((): Ran => ({ code: output.code || 1, stdout: "", stderr: problem }));
  }
  return said.split(new RegExp(`\\n?${MARK} (\\d+)\\n`)).reduce<Ran[]>((rows, part, i, parts) => {
    if (i % 2 === 1) {
      const code = Number(part);
      const text = parts[i - 1] ?? "";
      rows.push(code === 0 ? { code, stdout: text, stderr: "" } : { code, stdout: "", stderr: text });
    }
    return rows;
  }, []);
}

async function feed(child: Deno.ChildProcess, input: string): Promise<void> {
  const writer = child.stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch (error) {
    // A command that ends before it has read everything says why in its exit code.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

function unanswered(line: string): Ran {
  return { code: 1, stdout: "", stderr: `${line}: no answer` };
}
