/**
 * Goldens: what patches make of each world in `tests/testdata/translate/patches/in`, for a sidecar and a gateway: the
 * resources that differ from those without patches. `tests/e2e/accepted_test.ts` gives the same worlds to real Envoys.
 */
import { parseAllDocuments } from "yaml";
import { contents, Fixture, resources, type TestNode } from "../../discovery/fixture.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { TYPE_URL_PREFIX } from "../../../lib/pb/codec.ts";
import { inputNames, testGoldens } from "../../golden.ts";

const folder = new URL("../../testdata/translate/patches/", import.meta.url);

interface ObjectTree {
  readonly kind: string;
}

const WITHOUT_VHDS = "sidecar without VHDS";
const NODES: Readonly<Record<string, TestNode>> = {
  sidecar: { namespace: "shop", address: "127.0.0.1", labels: { app: "door" } },
  gateway: { namespace: "shop", address: "127.0.0.2", labels: { app: "door" }, type: "router" },
  [WITHOUT_VHDS]: { namespace: "shop", address: "127.0.0.1", labels: { app: "door" }, delta: false },
};

/** What each proxy gets of some objects, and what is found to be wrong with them. */
function served(objects: readonly ObjectTree[]) {
  const fixture = new Fixture();
  fixture.put(...objects);
  fixture.pipeline.flush();
  const states = Object.entries(NODES).map(([name, node]) => [name, fixture.join(node)] as const);
  return { states, findings: fixture.pipeline.translator.warnings(), failures: fixture.failures };
}

function text(name: string): string {
  const yaml = Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder));
  const objects = parseAllDocuments(yaml).map((document) => document.toJS() as ObjectTree);
  const plain = new Map(served(objects.filter(({ kind }) => kind !== "EnvoyFilter")).states);
  const { states, findings, failures } = served(objects);
  const changed = states.map(([name, state]) => {
    const [before, after] = [contents(plain.get(name)!), resources(state)];
    // Beside its routes the last one has what the first has.
    const shown = (key: string) => name !== WITHOUT_VHDS || key.startsWith("route/");
    const others = Object.entries(after).filter(([key, { version }]) => before[key] !== version && shown(key));
    return [name, {
      changed: Object.fromEntries(others.map(([key, { typeUrl, value, causes }]) => {
        return [key, { causes, message: readable(typeUrl.slice(TYPE_URL_PREFIX.length), value) }];
      })),
      removed: Object.keys(before).filter((key) => !(key in after)),
    }];
  });
  const found = { findings: findings.map(({ name, message }) => `${name}: ${message}`), failures };
  return `${JSON.stringify({ ...Object.fromEntries(changed), ...found }, null, 1)}\n`;
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(inputNames(new URL("in/", folder)).map((name) => [name, () => text(name)])),
});
