/**
 * Worlds of the goldens of gRPC libraries, and the library that is in each.
 *
 * @module
 */
import jsYaml from "js-yaml";
import { Fixture, type TestNode } from "../../discovery/fixture.ts";

/** Folder of the worlds and of what they become. */
export const folder = new URL("../../testdata/translate/proxyless/", import.meta.url);

/** A library in a workload of namespace shop. */
export const LIBRARY: TestNode = {
  namespace: "shop",
  address: "10.1.0.1",
  labels: { app: "reviews" },
  delta: false,
  metadata: { GENERATOR: { stringValue: "grpc" } },
};

/** A pipeline over the objects of a text. */
export function worldOf(yaml: string): Fixture {
  const fixture = new Fixture();
  fixture.put(...jsYaml.loadAll(yaml));
  fixture.pipeline.flush();
  return fixture;
}

/** A pipeline over the world of that name. */
export function world(name: string): Fixture {
  return worldOf(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder)));
}
