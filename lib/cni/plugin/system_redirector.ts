/**
 * Rules by the system's packet filter tools.
 *
 * Permissions: run (nsenter), read and write (the file of known facts).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { readRegularTextSync, requireRegularSync } from "../../kernel/files/regular.ts";
import { addressedFamilies, applyRedirection } from "../../iptables/apply.ts";
import { findBackend } from "../../iptables/backend.ts";
import { differences } from "../../iptables/change.ts";
import { families } from "../../iptables/model/names.ts";
import { missingRoutes } from "../../iptables/route.ts";
import { routingOf, rulesOf } from "../../iptables/wanted.ts";
import { enterWords, type Run } from "../../iptables/run.ts";
import type { RuleKeeper, WantedRules } from "./redirector.ts";
import { unfinishedName } from "../node/replace.ts";
import { spawnNsenter } from "./enter.ts";
import type { Answers } from "./questions.ts";
import { IS_NODE, type KnownFacts, type QuickRun, quickRun } from "./quick_run.ts";

/** How the tools are run. */
export interface RedirectorOptions {
  /** Whether the lock of the legacy tools is one per pod. Default of the tools: one per node. */
  readonly scopedLock: boolean;
  /** A file in the run folder with known facts about the node; undefined: every call finds the facts again. */
  readonly factsFile: string | undefined;
  /** Number of the routing table for marked packets. The table is read with the rules. Absent: not needed. */
  readonly table?: number;
  /** Earlier outputs of commands in the namespace. These commands are not run again. */
  readonly answers?: Answers | undefined;
}

/** A redirector for a single call. The redirector caches its reads, so the next call needs a new redirector. */
export function systemRedirector(options: RedirectorOptions): RuleKeeper {
  const runs = new Map<string, QuickRun>();
  const facts = knownFacts(options.factsFile);
  const runIn = (netns: string): Run => {
    let run = runs.get(netns);
    if (run === undefined) {
      // The lock is the namespace's own file: the file exists as long as the pod, and nothing is left behind.
      run = quickRun({ networkNamespace: netns, lockFile: options.scopedLock ? netns : undefined }, facts, options);
      runs.set(netns, run);
    }
    return run.run;
  };
  return {
    async look(netns) {
      const run = runIn(netns);
      const [listed, same] = await Promise.all([run("ip", ["-o", "addr", "show"]), run(...IS_NODE)]);
      if (listed.code !== 0) throw new Error(listed.stderr.trim() || `ip addr show: exit code ${listed.code}`);
      if (same.code > 1) {
        throw new Error(
          `the identity of the network namespace cannot be read: ${same.stderr.trim() || `exit code ${same.code}`}`,
        );
      }
      return { addresses: listed.stdout, isNode: same.code === 0 };
    },
    apply: (netns, wanted) => change(runIn(netns), wanted, false),
    remove: (netns, wanted) => change(runIn(netns), wanted, true),
    check: (netns, wanted) => drift(runIn(netns), wanted),
    obstacles: toolObstacles,
    async end() {
      await Promise.all([...runs.values()].map((run) => run.end()));
    },
  };
}

async function change(run: Run, { config, dualStack }: WantedRules, cleanup: boolean): Promise<string> {
  const said: string[] = [];
  const report = { info() {}, warn: (message: string) => void said.push(message) };
  const outcomes = await applyRedirection({ config, dualStack, reconcile: true, force: false, cleanup }, run, report);
  return [...families.map((family) => `IPv${family} ${outcomes[family]}`), ...said].join("; ");
}

async function drift(run: Run, wanted: WantedRules): Promise<string[]> {
  const addressed = await addressedFamilies(run);
  const found = await Promise.all(families.map(async (family) => {
    if (!wanted.dualStack && !addressed.has(family)) return [];
    const rules = rulesOf(wanted.config, family);
    const routing = missingRoutes(routingOf(wanted.config, family), run);
    const [{ chosen, stale, evidence }, missing] = await Promise.all([findBackend(rules, run), routing]);
    if (chosen === undefined) return [`IPv${family}: no back end: ${evidence.join("; ")}`];
    const lines = [
      ...differences(chosen.listing, rules),
      ...missing.map((command) => `routing is not there: ${command}`),
      ...stale.map(({ name }) => `${name} has rules of ours too`),
    ];
    return lines.map((line) => `IPv${family}: ${line}`);
  }));
  return found.flat();
}

async function toolObstacles(): Promise<string[]> {
  const script = "ip -V; iptables-nft --version || iptables-legacy --version || iptables --version";
  try {
    const ran = await spawnNsenter({
      args: [...enterWords("/proc/self/ns/net"), "sh", "-e", "-c", script],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    return ran.success ? [] : [new TextDecoder().decode(ran.stderr).trim().replaceAll("\n", "; ")];
  } catch (error) {
    return [`nsenter: ${errorMessage(error)}`];
  }
}

/** The known facts. Without a path nothing is known, and nothing is kept. */
export function knownFacts(path: string | undefined): KnownFacts {
  return path === undefined ? nothingKnown : fileFacts(path);
}

const nothingKnown: KnownFacts = {
  has: () => false,
  add() {},
  version: () => undefined,
  addVersion() {},
  forget() {},
};

/** Stands between a command line and its version in a known fact. */
const VERSION = " => ";

/** Known facts in a file: an array of texts. The facts are hints only: an unreadable file counts as absent. */
function fileFacts(path: string): KnownFacts {
  let known: Set<string> | undefined;
  const read = () => (known ??= new Set(readTexts(path)));
  const attempt = (work: () => void) => {
    try {
      work();
    } catch {
      // A full disk costs the next call a trial, nothing else.
    }
  };
  const add = (text: string) => {
    const texts = read().add(text);
    attempt(() => {
      const unfinished = unfinishedName(path);
      requireRegularSync(unfinished);
      try {
        Deno.writeTextFileSync(unfinished, JSON.stringify([...texts]));
        Deno.renameSync(unfinished, path);
      } catch (error) {
        Deno.removeSync(unfinished);
        throw error;
      }
    });
  };
  return {
    has: (trial) => read().has(trial),
    add,
    version(line) {
      const found = [...read()].find((text) => text.startsWith(line + VERSION));
      return found?.slice(line.length + VERSION.length);
    },
    addVersion: (line, text) => add(line + VERSION + text),
    forget() {
      known = new Set();
      attempt(() => Deno.removeSync(path));
    },
  };
}

function readTexts(path: string): string[] {
  try {
    const value: unknown = JSON.parse(readRegularTextSync(path));
    return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}
