/**
 * The injection's configuration: every mistake at once, the last good configuration stays, places in order, late places
 * too.
 */
import assert from "node:assert/strict";
import { InjectionConfiguration } from "../../../lib/discovery/injector/configuration.ts";
import { type InjectionTexts, watchInjectionTexts } from "../../../lib/discovery/injector/texts.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { openLog } from "../open_log.ts";
import { until } from "../../patience.ts";

const place = "./var/lib/mesh/inject";
const texts = (config: InjectionTexts["config"], values?: string): InjectionTexts => ({ place, config, values });

function taking(...all: readonly (InjectionTexts | undefined)[]) {
  const { log, lines } = openLog();
  const configuration = new InjectionConfiguration(log.scope("default"));
  let changes = 0;
  configuration.onChange(() => changes++);
  for (const one of all) configuration.take(one);
  return { configuration, lines, changes: () => changes };
}

Deno.test("without a text the built-in configuration injects", () => {
  const { configuration } = taking(undefined);
  assert.equal(configuration.state?.place, "built in");
  assert.equal(configuration.state?.config.policy, "enabled");
  assert.deepEqual(configuration.state?.config.defaultTemplates, ["sidecar"]);
});

Deno.test("all mistakes of both texts come at once, with field, value and expectation, and without a good one nothing is in force", () => {
  const wrong = "policy: perhaps\nneverInjectSelector:\n- matchExpressions: [{key: a, operator: In}]\n";
  const { configuration, lines } = taking(texts(wrong, "global: { imagePullSecrets: 5 }"));
  assert.equal(configuration.state, undefined);
  assert.deepEqual(configuration.problems, [
    'config: policy: got "perhaps", expected enabled or disabled',
    "config: neverInjectSelector[0].matchExpressions[0].values: got an array, expected at least one value for In",
    ...configuration.problems.slice(2),
  ]);
  assert.match(configuration.problems[2]!, /^values: global\.imagePullSecrets: got 5, expected a list of texts$/);
  assert.match(JSON.stringify(lines), /no pod is injected/);
});

Deno.test("a text that is no YAML is refused with its line", () => {
  const { configuration } = taking(texts("policy: enabled\naliases: {\n"));
  assert.match(configuration.problems.join(), /^config:\d+: /);
});

Deno.test("mistakes, an unreadable file and a loss leave the last good one in force; the same problem is logged once", () => {
  const good = texts("policy: disabled");
  const { configuration, lines, changes } = taking(good, texts("policy: 5"), texts("policy: 5"));
  assert.equal(configuration.state?.config.policy, "disabled");
  assert.equal(lines.filter(({ level }) => level === "error").length, 1);
  configuration.take(texts({ unreadable: "permission denied" }));
  assert.deepEqual(configuration.problems, ["config: the text cannot be read (permission denied)"]);
  configuration.take(undefined);
  assert.match(configuration.problems.join(), /the text is gone/);
  assert.deepEqual([configuration.state?.config.policy, changes()], ["disabled", 1]);
  configuration.take(good);
  assert.deepEqual([configuration.problems, changes()], [[], 1]);
});

Deno.test("files that come late are taken; our folder goes before Istio's", async () => {
  const folder = await Deno.makeTempDir();
  const folders = [`${folder}/mesh/inject`, `${folder}/istio/inject`];
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const seen: (InjectionTexts | undefined)[] = [];
  const options = { folders, client: undefined, namespace: "mesh-system", revision: "" };
  watchInjectionTexts(options, (now) => void seen.push(now), kernel);
  await until("the first look", () => Promise.resolve(seen.length > 0));
  assert.equal(seen.at(-1), undefined);
  for (const [index, of] of [folders[1]!, folders[0]!].entries()) {
    await Deno.mkdir(of, { recursive: true });
    await Deno.writeTextFile(`${of}/values`, `global: { meshID: m${index} }\n`);
    await until(`values of ${of}`, () => Promise.resolve(seen.at(-1)?.place === of));
    assert.deepEqual([seen.at(-1)?.config, seen.at(-1)?.values], [undefined, `global: { meshID: m${index} }\n`]);
  }
  await kernel.stopper.stop();
  await Deno.remove(folder, { recursive: true });
});
