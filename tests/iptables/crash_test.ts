/**
 * A run that ends between any two of its commands, as in a killed container: the next run makes the wanted state, and
 * clean-up, without knowledge of either run, leaves nothing. On both back ends, against the kernel's own list.
 */
import assert from "node:assert/strict";
import { applyRedirection, type Task } from "../../lib/iptables/apply.ts";
import { differences } from "../../lib/iptables/change.ts";
import { families, TRIAL_CHAIN } from "../../lib/iptables/model/names.ts";
import { buildRules } from "../../lib/iptables/rules/build.ts";
import { type Run, systemRun } from "../../lib/iptables/run.ts";
import { hasOwnPart, parseListing } from "../../lib/iptables/state.ts";
import { type Changes, configOf, onlyBackend } from "./support/inputs.ts";
import { Cable } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

class Killed extends Error {}

/** Ends before the next change after a number of changes. */
function dying(run: Run, after: number): Run {
  let changes = 0;
  return async (command, args, input) => {
    const trial = input?.includes(TRIAL_CHAIN) === true;
    const looks = trial || /-save$/.test(command) || args.includes("show") || args.includes("--version");
    if (!looks && ++changes > after) throw new Killed();
    return await run(command, args, input);
  };
}

const redirect: Changes = { inboundPorts: "*", outboundRanges: "*" };

function tproxy(tproxyMark: string, tproxyTable: string): Changes {
  return { ...redirect, inboundMode: "TPROXY", tproxyMark, tproxyTable };
}

/** The state before, and the wanted state of the dying run; undefined for nothing. */
const turns: readonly (readonly [name: string, from: Changes | undefined, to: Changes | undefined])[] = [
  ["TPROXY where nothing was", undefined, tproxy("1500", "140")],
  ["from TPROXY to REDIRECT", tproxy("1500", "140"), redirect],
  ["another mark and table", tproxy("1500", "140"), tproxy("1600", "150")],
  ["clean-up", tproxy("1500", "140"), undefined],
];

function taskOf(changes: Changes | undefined): Task {
  const always = { dualStack: true, reconcile: true, force: false };
  return { ...always, config: configOf(changes), cleanup: changes === undefined };
}

const quiet = { info() {}, warn() {} };

/** Rules by marks, and routes to every address, of both families. */
async function routingOf(run: Run): Promise<string[]> {
  const found = await Promise.all(families.map(async (family) => {
    const rules = await run("ip", [`-${family}`, "rule", "show"]);
    const routes = await run("ip", [`-${family}`, "route", "show", "table", "all"]);
    const marks = [...rules.stdout.matchAll(/fwmark (\S+) lookup (\d+)/g)].map(([all]) => all);
    return [...marks, ...[...routes.stdout.matchAll(/^local default dev lo table \d+/gm)].map(([all]) => all)];
  }));
  return found.flat();
}

/** The output of {@link routingOf} under wanted redirection. */
function routingWanted({ inboundMode, tproxyMark, tproxyTable }: Changes = {}): string[] {
  if (inboundMode !== "TPROXY") return [];
  const mark = `fwmark 0x${Number(tproxyMark).toString(16)} lookup ${tproxyTable}`;
  return [...families].flatMap(() => [mark, `local default dev lo table ${tproxyTable}`]);
}

async function assertRules(run: Run, kind: string, wanted: Changes | undefined): Promise<void> {
  for (const family of families) {
    const tool = `${family === 4 ? "iptables" : "ip6tables"}-${kind}-save`;
    const listing = parseListing((await run(tool, [])).stdout);
    if (wanted === undefined) assert.equal(hasOwnPart(listing), false);
    else assert.deepEqual(differences(listing, buildRules(configOf(wanted), family)), []);
  }
}

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`${kind}: after a run that ends anywhere, the next one finishes, and clean-up clears`, async (t) => {
    await using cable = await Cable.lay();
    const run = onlyBackend(kind, systemRun({ networkNamespace: cable.pod }));
    // The order does not depend on the back end, so one turn is enough for the other back end.
    for (const [name, from, to] of kind === "nft" ? turns : turns.slice(-2, -1)) {
      await t.step(name, async () => {
        let ends = 0;
        for (let killed = true; killed; ends++) {
          for (const next of [to, undefined]) {
            if (from !== undefined) await applyRedirection(taskOf(from), run, quiet);
            killed = await applyRedirection(taskOf(to), dying(run, ends), quiet).then(() => false, (error) => {
              assert.ok(error instanceof Killed, String(error));
              return true;
            });
            await applyRedirection(taskOf(next), run, quiet);
            await assertRules(run, kind, next);
            assert.deepEqual(await routingOf(run), routingWanted(next), `killed after ${ends} changes`);
            await applyRedirection(taskOf(undefined), run, quiet);
          }
        }
        assert.ok(ends > 4, `it ended in ${ends} places`);
      });
    }
  }, [kind]);
}
