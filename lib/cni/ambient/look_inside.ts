/**
 * Reads many network namespaces by few processes: two shells for all, and five short programs for each. The reading has
 * everything that a comparison of the rules needs. An agent's start reads every namespace of the node.
 *
 * Permissions: run (nsenter), and the permissions of {@link KnownFacts}.
 *
 * @module
 */
import { answerRoute } from "../../iptables/model/ambient_config.ts";
import { families } from "../../iptables/model/names.ts";
import { enterWords } from "../../iptables/run.ts";
import { spawnNsenter } from "../plugin/enter.ts";
import { commandText, ranOf } from "../plugin/namespace_shell.ts";
import { listedAddresses } from "../plugin/ownership.ts";
import {
  addressQuestion,
  type Answers,
  answersOf,
  familyQuestion,
  type FirstQuestion,
  joinedAddresses,
  ruleQuestions,
  versionQuestions,
} from "../plugin/questions.ts";
import { type KnownFacts, noteVersions } from "../plugin/quick_run.ts";
import type { LookInside, NamespaceFacts, NetworkNamespace } from "./namespaces.ts";

/** Line before the answers of a namespace. No tool prints such a line. */
const MARK = "====mesh-namespace====";

/** Shells at once. */
const SHELLS = 2;

/** Namespaces in one shell: a command line has room for some thousand paths. */
const BATCH = 500;

/** All that a comparison reads. */
const ALL: readonly FirstQuestion[] = families.flatMap((family) => [
  familyQuestion(family, answerRoute.table),
  ...ruleQuestions(family),
]);

/** A look into namespaces. Those that cannot be entered are left out. */
export function looksInside(facts: KnownFacts): LookInside {
  return async (places) => {
    const found = await readAll(places, ALL, facts);
    // A tool that cannot answer together has answered no question about addresses.
    const left = places.filter(({ netns }) => found.get(netns)?.addresses.size === 0);
    const again = left.length === 0 ? [] : await readAll(left, [addressQuestion], facts);
    for (const [netns, { addresses }] of again) found.set(netns, { ...found.get(netns)!, addresses });
    return found;
  };
}

async function readAll(
  places: readonly NetworkNamespace[],
  questions: readonly FirstQuestion[],
  facts: KnownFacts,
): Promise<Map<string, NamespaceFacts>> {
  const size = Math.min(BATCH, Math.ceil(places.length / SHELLS));
  const found = new Map<string, NamespaceFacts>();
  for (let at = 0; at < places.length; at += SHELLS * size) {
    const batches = Array.from({ length: SHELLS }, (_, i) => places.slice(at + i * size, at + (i + 1) * size));
    for (const some of await Promise.all(batches.map((batch) => readSome(batch, questions, facts)))) {
      for (const [path, one] of some) found.set(path, one);
    }
  }
  return found;
}

/** The namespaces are the script's arguments, after the commands for each. */
function scriptOf(before: readonly FirstQuestion[]): string {
  return `
stat -L -c %d:%i /proc/self/ns/net
${commandText(before.map(({ command }) => command))}
commands=$1
shift
for path in "$@"; do
  printf '%s %s\\n' '${MARK}' "$path"
  nsenter --net="$path" sh -c "$commands" 2>/dev/null
done`;
}

async function readSome(
  places: readonly NetworkNamespace[],
  questions: readonly FirstQuestion[],
  facts: KnownFacts,
): Promise<[string, NamespaceFacts][]> {
  if (places.length === 0) return [];
  const versions = families.flatMap(versionQuestions).filter(({ lines }) => facts.version(lines[0]!) === undefined);
  const commands = commandText(questions.map(({ command }) => command));
  const paths = places.map(({ netns }) => netns);
  const { stdout } = await spawnNsenter({
    args: [...enterWords("/proc/self/ns/net"), "sh", "-c", scriptOf(versions), "sh", commands, ...paths],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).output();
  const [head = "", ...parts] = new TextDecoder().decode(stdout).split(`${MARK} `);
  const node = head.slice(0, head.indexOf("\n"));
  noteVersions(facts, answersOf(versions, ranOf(head.slice(node.length + 1))));
  const identities = new Map(places.map(({ netns, identity }) => [netns, identity]));
  return parts.flatMap((part): [string, NamespaceFacts][] => {
    const end = part.indexOf("\n");
    const path = part.slice(0, end);
    const ran = ranOf(part.slice(end + 1));
    if (ran.length === 0) return [];
    const answers = answersOf(questions, ran);
    const all = new Map([...answers, ...joinedAddresses((line) => answers.get(line))]);
    const isNode = identities.get(path) === node;
    return [[path, { addresses: addressesIn(all), isNode, answers: all }]];
  });
}

function addressesIn(answers: Answers): Set<string> {
  return listedAddresses(answers.get(addressQuestion.lines[0]!)?.stdout ?? "");
}
