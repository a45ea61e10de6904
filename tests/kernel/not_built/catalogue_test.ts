/** The catalogue of unbuilt parts has only existing names, and no name twice. */
import assert from "node:assert/strict";
import { installCni } from "../../../cmd/install-cni/commands.ts";
import { pilotAgent } from "../../../cmd/pilot-agent/commands.ts";
import { pilotDiscovery } from "../../../cmd/pilot-discovery/commands.ts";
import type { Command } from "../../../lib/cli/command.ts";
import { flagsOf } from "../../../lib/cli/locate.ts";
import type { FieldShape } from "../../../lib/config/schema/field.ts";
import { meshConfig } from "../../../lib/config/mesh/schema.ts";
import { metricCatalogue } from "../../../lib/kernel/metrics/catalogue.ts";
import {
  flagsNotBuilt,
  NOT_BUILT,
  NOT_BUILT_PARTS,
  notBuilt,
  settingsWithoutEffect,
} from "../../../lib/kernel/not_built/catalogue.ts";
import type { NotBuiltWhat } from "../../../lib/kernel/not_built/entry.ts";
import { NEEDLESS_MESH_FIELDS, NEEDLESS_SETTINGS, NEEDLESS_VALUES } from "../../../lib/kernel/not_built/needless.ts";
import { parseSourceAddress } from "../../../lib/config/mesh/config_sources.ts";
import { catalogue } from "../../../lib/kernel/settings/catalogue.ts";

function commandsOf(command: Command, line: readonly Command[]): { path: string; flags: string[] }[] {
  const path = line.map(({ name }) => name).join(" ");
  const flags = Object.keys(flagsOf({ command, line })).map((name) => `${line[0]!.name} --${name}`);
  return [{ path, flags }, ...(command.commands ?? []).flatMap((one) => commandsOf(one, [...line, one]))];
}

const commands = [pilotDiscovery, pilotAgent, installCni].flatMap((root) => commandsOf(root, [root]));

function fieldsOf(shape: FieldShape) {
  return Object.entries(shape.type === "message" ? shape.fields : {});
}

const owners: Readonly<Record<Exclude<NotBuiltWhat, "refused">, ReadonlySet<string>>> = {
  setting: new Set(Object.keys(catalogue)),
  metric: new Set(Object.keys(metricCatalogue)),
  flag: new Set(commands.flatMap(({ flags }) => flags)),
  "mesh field": new Set(
    fieldsOf(meshConfig.shape).flatMap(([name, field]) => [
      name,
      ...fieldsOf(field.shape).map(([inner]) => `${name}.${inner}`),
    ]),
  ),
  command: new Set(commands.map(({ path }) => path)),
};

Deno.test("every name of the catalogue is a name of its owner, and appears once", () => {
  const strange = NOT_BUILT.filter(({ what, name }) => what !== "refused" && !owners[what].has(name));
  assert.deepEqual(strange, []);
  const names = NOT_BUILT.map(({ what, name }) => `${what} ${name}`);
  assert.deepEqual(names.filter((name, at) => names.indexOf(name) !== at), []);
  assert.deepEqual(Object.keys(NEEDLESS_SETTINGS).filter((name) => !owners.setting.has(name)), []);
  assert.deepEqual(Object.keys(NEEDLESS_MESH_FIELDS).filter((name) => !owners["mesh field"].has(name)), []);
  const titles = NOT_BUILT_PARTS.map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length);
});

Deno.test("the catalogue answers by sort and name, never by name alone", () => {
  for (const entry of NOT_BUILT) {
    const { what, name } = entry;
    assert.equal(notBuilt(what, name), entry);
    assert.equal(notBuilt(what === "flag" ? "metric" : "flag", name), undefined);
  }
  assert.deepEqual(flagsNotBuilt("install-cni", ["ztunnel-uds-address", "configDir"]), []);
  assert.deepEqual(settingsWithoutEffect(["toString", "PILOT_DEBOUNCE_MAX", "ENABLE_VTPROTOBUF"]), [
    "ENABLE_VTPROTOBUF",
  ]);
});

Deno.test("the sources of configuration that the catalogue says are never taken are not", () => {
  const addresses = Object.keys(NEEDLESS_VALUES).map((name) => name.replace("configSources[].address ", ""));
  assert.deepEqual(addresses.map((address) => parseSourceAddress(address).kind), ["other orchestrator"]);
});
