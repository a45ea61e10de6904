/** The installer's steps, tried in every order of crashes, without a disk. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { choosePrimary, type ConfigFile, ownEntries } from "../../../lib/cni/config/libcni.ts";
import { type DesiredConfig, type InstallStep, planConfig, planRemoval } from "../../../lib/cni/install/plan.ts";

const entry = { name: "mesh-cni", type: "mesh-cni", plugin_log_level: "info" };
const chained: DesiredConfig = { placement: "chained", confName: undefined, ownedName: "02-mesh-cni.conflist", entry };
const owned: DesiredConfig = { ...chained, placement: "owned" };
const standalone: DesiredConfig = { ...chained, placement: "standalone" };

const list = (name: string, type = "bridge") =>
  `{"cniVersion":"1.0.0","name":"${name}","plugins":[{"type":"${type}"}]}\n`;
const single = (name: string) => `{ "cniVersion": "0.3.1", "name": "${name}", "type": "bridge" }`;

function after(files: readonly ConfigFile[], steps: readonly InstallStep[]): ConfigFile[] {
  const folder = new Map(files.map((file) => [file.name, file.text]));
  for (const step of steps) {
    if (step.do === "write") folder.set(step.file, step.text);
    else folder.delete(step.file);
  }
  return [...folder].map(([name, text]) => ({ name, text }));
}

function sorted(files: readonly ConfigFile[]): ConfigFile[] {
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Folders like the folders of nodes. */
const folder = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("05-a.conf", "10-b.conflist", "10-c.conf", "20-d.json", "30-e.conflist", "99-loop.conf"),
    broken: fc.boolean(),
  }),
  { selector: (file) => file.name },
).map((files) =>
  files.map(({ name, broken }): ConfigFile => ({
    name,
    text: broken ? "{" : name.endsWith(".conflist") ? list(name) : single(name),
  }))
);

const desiredStates = fc.constantFrom(
  chained,
  owned,
  standalone,
  { ...standalone, confName: "zz-own.conflist" },
  { ...chained, confName: "10-b.conflist" },
);

Deno.test({
  name: "in any folder, after each step the runtime finds a working configuration of the same network",
  permissions: "none",
  fn() {
    fc.assert(fc.property(folder, fc.array(desiredStates, { minLength: 1, maxLength: 3 }), (files, rows) => {
      const network = choosePrimary(files).primary?.name;
      let now = files;
      const takeAll = (steps: readonly InstallStep[]) => {
        for (const step of steps) {
          now = after(now, [step]);
          // A standalone configuration is not a primary network, unless it is the only configuration.
          if (network !== undefined) assert.equal(choosePrimary(now).primary?.name, network, step.file);
        }
      };
      for (const desired of rows) {
        const plan = planConfig(now, desired);
        takeAll(plan.steps);
        assert.deepEqual(planConfig(now, desired).steps, [], "a second run has nothing to do");
        if (plan.config !== undefined && desired.placement !== "standalone" && desired.confName === undefined) {
          const primary = choosePrimary(now).primary;
          assert.equal(primary?.file, plan.config);
          assert.deepEqual(primary && ownEntries(primary), [primary.plugins.length - 1]);
        }
      }
      takeAll(planRemoval(now));
      assert.deepEqual(sorted(now), sorted(files), "every byte as it was found");
    }));
  },
});

Deno.test({
  name: "an installation that was cut off anywhere is completed by the next, and taken away by an uninstallation",
  permissions: "none",
  fn() {
    fc.assert(fc.property(folder, desiredStates, desiredStates, fc.nat(5), (files, first, second, cut) => {
      const half = after(files, planConfig(files, first).steps.slice(0, cut));
      assert.deepEqual(sorted(after(half, planRemoval(half))), sorted(files));
      const plan = planConfig(half, second);
      const whole = after(half, plan.steps);
      assert.deepEqual(planConfig(whole, second).steps, []);
      assert.deepEqual(sorted(after(whole, planRemoval(whole))), sorted(files));
      const cutRemoval = after(whole, planRemoval(whole).slice(0, cut));
      assert.deepEqual(sorted(after(cutRemoval, planRemoval(cutRemoval))), sorted(files));
    }));
  },
});

Deno.test({
  name: "without a primary it waits and says so; an own configuration stays while the primary is away",
  permissions: "none",
  fn() {
    assert.match(planConfig([], chained).waiting ?? "", /no valid network configuration is there yet/);
    assert.match(planConfig([], { ...chained, confName: "10-x.conf" }).waiting ?? "", /10-x\.conf is not there yet/);
    const files = [{ name: "10-a.conflist", text: list("a") }];
    const whole = after(files, planConfig(files, owned).steps);
    const without = whole.filter(({ name }) => name !== "10-a.conflist");
    const plan = planConfig(without, owned);
    assert.deepEqual([plan.steps, plan.config], [[], "02-mesh-cni.conflist"]);
    assert.match(plan.waiting ?? "", /no valid/);
  },
});

Deno.test({
  name: "a primary rewritten by others: chained again, or the own configuration made anew",
  permissions: "none",
  fn() {
    const files = [{ name: "10-a.conflist", text: list("a") }];
    for (const desired of [chained, owned]) {
      const whole = after(files, planConfig(files, desired).steps);
      const rewritten = after(whole, [{ do: "write", file: "10-a.conflist", text: list("a", "cilium-cni"), like: "" }]);
      if (desired === owned) {
        assert.equal(
          choosePrimary(rewritten).primary?.plugins.at(-1)?.["type"],
          "mesh-cni",
          "never without the plugin",
        );
      }
      const restored = after(rewritten, planConfig(rewritten, desired).steps);
      assert.deepEqual(choosePrimary(restored).primary?.plugins.map((p) => p["type"]), ["cilium-cni", "mesh-cni"]);
    }
  },
});

Deno.test({
  name: "names that cannot work are refused in words: own file after the primary, a list in the way, no list ending",
  permissions: "none",
  fn() {
    const early = [{ name: "00-a.conflist", text: list("a") }];
    assert.match(
      planConfig(early, owned).waiting ?? "",
      /02-mesh-cni\.conflist, expected a name that sorts before 00-a/,
    );
    assert.match(
      planConfig(early, { ...owned, ownedName: "00.conf" }).waiting ?? "",
      /expected it to end in \.conflist/,
    );
    const both = [{ name: "10-a.conf", text: single("a") }, { name: "10-a.conflist", text: list("b") }];
    assert.match(planConfig(both, chained).waiting ?? "", /there is another file of that name; remove one of them, or/);
    assert.equal(planConfig(both, owned).waiting, undefined, "the way out that is named");
    assert.match(
      planConfig([{ name: "a.conflist", text: `{"name":"n","plugins":[{"type":"x"}]}` }], chained).waiting ?? "",
      /a\.conflist: cniVersion: got "", expected one of/,
    );
  },
});

Deno.test({
  name: "a configuration of our plugin alone is a list where its name says so, and one that a runtime takes",
  permissions: "none",
  fn() {
    for (const [confName, form] of [["90-own.conf", "single"], ["90-own.conflist", "list"]] as const) {
      const whole = after([], planConfig([], { ...standalone, confName }).steps);
      const { primary } = choosePrimary(whole);
      assert.deepEqual([primary?.file, primary?.form, primary?.plugins.at(0)?.["type"]], [confName, form, "mesh-cni"]);
      assert.deepEqual(after(whole, planRemoval(whole)), []);
    }
  },
});

Deno.test({
  name: "files that cannot be used are named with the reason while there is nothing else; a name has three endings",
  permissions: "none",
  fn() {
    const files: ConfigFile[] = [
      { name: "05-a.conflist", text: `\ufeff${list("a")}` },
      { name: "06-b.conf", text: "// no\n{}" },
      { name: "07-c.conf", text: undefined, problem: "it may not be read" },
    ];
    const { waiting } = planConfig(files, chained);
    assert.match(
      waiting ?? "",
      /^no valid network configuration is there yet; 05-a.conflist is passed over: it is not JSON/,
    );
    assert.match(
      waiting ?? "",
      /it begins with a byte order mark; 06-b.conf .*; 07-c.conf is passed over: it may not be read$/,
    );
    assert.doesNotMatch(waiting ?? "", /\n/);
    const found = (confName: string, name: string) =>
      planConfig([{ name, text: name.endsWith("list") ? list("a") : single("a") }], { ...chained, confName }).config;
    assert.equal(found("10-x.json", "10-x.conflist"), "10-x.conflist");
    assert.equal(found("10-x.conflist", "10-x.conf"), "10-x.conflist");
    assert.equal(found("10-x.conf", "10-x.conflist"), "10-x.conflist");
    assert.equal(found("10-x.conf", "10-y.conflist"), undefined);
  },
});
