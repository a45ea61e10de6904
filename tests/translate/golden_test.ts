/**
 * Goldens: the resources of proxies in the worlds of `tests/testdata/translate`, as differences from a plain world.
 * `golden/read.ts` describes the file format. `deno task goldens` accepts a change.
 * The variable GOLDEN_TOPICS names the only topics to compare.
 */
import assert from "node:assert/strict";
import { inputNames, testGoldens } from "../golden.ts";
import { envoyPath } from "../envoy/path.ts";
import { acceptClusters, validate } from "../envoy/verdict.ts";
import { Accepted, COLLECTOR, DEPRECATED } from "./golden/accepted.ts";
import { goldenText, worldOf } from "./golden/expected.ts";
import { EXPECTED, proxiesOf, readGolden } from "./golden/read.ts";

const root = new URL("../testdata/translate/", import.meta.url);
const pem = new URL("../testdata/pem/", import.meta.url).pathname;

/** Two screens. */
const MAX_LINES = 190;

/** Longer goldens, because the resources are longer: metrics have many tags, and HTTP/3 repeats every listener. */
const LONG: ReadonlySet<string> = new Set([
  "listener/metrics_server.yaml",
  "listener/metrics_client.yaml",
  "listener/hbone_observed.yaml",
  "listener/hbone.yaml",
  "listener/inbound.yaml",
  "gateway/http3.yaml",
  "gateway/http3_ports.yaml",
  "proxyless/client.yaml",
  "waypoint/listeners.yaml",
  "waypoint/policies.yaml",
]);

/** Of all goldens together. */
const MAX_LINES_OF_ALL = 20_000;

/** Topics to compare, for who knows which of them a change can reach; empty: all, and every other test. */
const wanted = (Deno.env.get("GOLDEN_TOPICS") ?? "").split(",").filter((topic) => topic !== "");
const topics = [...Deno.readDirSync(root)].map(({ name }) => name)
  .filter((topic) => wanted.length === 0 || wanted.includes(topic)).sort();
const files = topics.flatMap((topic) => inputNames(new URL(`${topic}/`, root)).map((name) => `${topic}/${name}.yaml`));
const textOf = (file: string) => Deno.readTextFileSync(new URL(file, root));

for (const topic of topics) {
  const folder = new URL(`${topic}/`, root);
  const cases = inputNames(folder).map((name) => [name, () => goldenText(textOf(`${topic}/${name}.yaml`))] as const);
  testGoldens({ folder, suffix: ".yaml", cases: new Map(cases) });
}

Deno.test("every golden says what it proves, and fits two screens", () => {
  const lines = files.map((file) => [file, textOf(file).split("\n").length] as const);
  assert.deepEqual(
    lines.filter(([file, count]) => count > MAX_LINES && !LONG.has(file)),
    [],
    "show less, or prove it in two goldens",
  );
  if (wanted.length === 0) assert.deepEqual([...LONG].filter((file) => !files.includes(file)), []);
  assert.ok(lines.reduce((sum, [, count]) => sum + count, 0) <= MAX_LINES_OF_ALL);
  const says = (file: string) => /^[\w-]+(?:\/.*)?:(?! \{\}$)/m.test(textOf(file).split(EXPECTED)[1] ?? "");
  assert.deepEqual(files.filter((file) => !says(file)), [], "a golden that shows nothing proves nothing");
  assert.deepEqual(files.filter((file) => !/^# [A-Z]/.test(textOf(file))), [], "begin with a comment");
});

const envoy = envoyPath();
/** Patches may use fields that builders' encoders lack; modules and questions are elsewhere: tests/e2e has all of them. */
const ELSEWHERE = ["patches", "proxyless", "extension", "name_table", "on_demand"];
const checked = files.filter((file) => !ELSEWHERE.includes(file.split("/")[0]!));

/** All resources of a golden's proxies, with existing certificates. */
function acceptedOf(file: string): Accepted {
  const golden = readGolden(textOf(file).replaceAll("/etc/certs/", pem));
  const world = worldOf(golden);
  const accepted = new Accepted(file);
  for (const proxy of proxiesOf(golden.head).values()) accepted.add(world.resourcesOf(proxy));
  return accepted;
}

for (const topic of new Set(checked.map((file) => file.split("/")[0]!))) {
  Deno.test({
    name: `Envoy accepts the listeners and routes of the goldens of ${topic}, and calls no field deprecated`,
    ignore: envoy === undefined,
    async fn() {
      for (const file of checked.filter((file) => file.startsWith(`${topic}/`))) {
        const { listeners, routes, secrets } = acceptedOf(file);
        const verdict = await validate(envoy!, {
          clusters: [COLLECTOR],
          listeners: [...listeners, ...routes],
          secrets,
        });
        assert.ok(verdict.accepted, `${file}: ${verdict.output}`);
        assert.deepEqual(verdict.deprecated.filter((field) => !DEPRECATED.has(field)), [], file);
      }
    },
  });
}

Deno.test({
  name: "Envoy accepts the clusters and endpoints of all goldens, and calls no field deprecated",
  ignore: envoy === undefined,
  async fn() {
    const verdict = await acceptClusters(envoy!, checked.flatMap((file) => acceptedOf(file).clusters));
    assert.ok(verdict.accepted, verdict.output);
    assert.deepEqual(verdict.deprecated, []);
  },
});
