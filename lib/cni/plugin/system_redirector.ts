/**
 * Rules by the system's packet filter tools.
 *
 * Permissions: run (nsenter), read and write (the file of known facts).
 *
 * @module
 */
import { readRegularTextSync, requireRegularSync } from "../../kernel/files/regular.ts";
import { addressedFamilies, applyRedirection } from "../../iptables/apply.ts";
import { findBackend } from "../../iptables/backend.ts";
import { differences } from "../../iptables/change.ts";
import { families } from "../../iptables/model/names.ts";
import { missingRoutes } from "../../iptables/route.ts";
import { wantedRouting } from "../../iptables/routing.ts";
import { buildRules } from "../../iptables/rules/build.ts";
import { enterWords, type Run } from "../../iptables/run.ts";
import type { PodRedirection } from "./redirection.ts";
import type { Redirector } from "./redirector.ts";
import { unfinishedName } from "../node/replace.ts";
import { spawnNsenter } from "./enter.ts";
import { IS_NODE, type KnownFacts, type QuickRun, quickRun } from "./quick_run.ts";

/** How the tools are run. */
export interface RedirectorOptions {
  /** Legacy tools lock each other out per pod instead of per node. */
  readonly scopedLock: boolean;
  /** File, in the run folder, of known facts about the node; undefined: everything is found out each time. */
  readonly factsFile: string | undefined;
}

/** A redirector for a single call. The redirector caches its reads, so the next call needs a new redirector. */
export function systemRedirector(options: RedirectorOptions): Redirector {
  const runs = new Map<string, QuickRun>();
  const facts = options.factsFile === undefined ? nothingKnown : fileFacts(options.factsFile);
  const runIn = (netns: string): Run => {
    let run = runs.get(netns);
    if (run === undefined) {
      // The lock is the namespace's own file: the file exists as long as the pod, and nothing is left behind.
      run = quickRun({ networkNamespace: netns, lockFile: options.scopedLock ? netns : undefined }, facts);
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
        throw new Error(`its identity cannot be seen: ${same.stderr.trim() || `exit code ${same.code}`}`);
      }
      return { addresses: listed.stdout, isNode: same.code === 0 };
    },
    async apply(netns, wanted) {
      const said: string[] = [];
      const report = { info() {}, warn: (message: string) => void said.push(message) };
      const task = { ...taskOf(wanted), reconcile: true, force: false, cleanup: false };
      const outcomes = await applyRedirection(task, runIn(netns), report);
      return [...families.map((family) => `IPv${family} ${outcomes[family]}`), ...said].join("; ");
    },
    check: (netns, wanted) => drift(runIn(netns), wanted),
    obstacles: toolObstacles,
    async end() {
      await Promise.all([...runs.values()].map((run) => run.end()));
    },
  };
}

function taskOf(wanted: PodRedirection) {
  return { config: wanted.config, dualStack: wanted.dualStack };
}

async function drift(run: Run, wanted: PodRedirection): Promise<string[]> {
  const addressed = await addressedFamilies(run);
  const found = await Promise.all(families.map(async (family) => {
    if (!wanted.dualStack && !addressed.has(family)) return [];
    const rules = buildRules(wanted.config, family);
    const routing = missingRoutes(wantedRouting(wanted.config, family), run);
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
    return [`nsenter: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const nothingKnown: KnownFacts = {
  has: () => false,
  add() {},
  version: () => undefined,
  addVersion() {},
  forget() {},
};

/** How a version is kept among the trials. */
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
