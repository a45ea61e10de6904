/**
 * The rules of an address family: a pure function of the configuration.
 *
 * @module
 */
import { type RedirectionConfig, usesTproxy } from "../model/config.ts";
import { chains, type Family, type TableName } from "../model/names.ts";
import type { Ruleset, Table } from "../model/rule.ts";
import { addDnsRedirect, addDnsZones } from "./dns.ts";
import { addInboundRedirect, addInboundTproxy } from "./inbound.ts";
import { addOutbound } from "./outbound.ts";
import { leave, TableBuilder, to } from "./table.ts";

/** All wanted rules of a family. */
export function buildRules(config: RedirectionConfig, family: Family): Ruleset {
  const raw = new TableBuilder();
  addDnsZones(raw, config, family);

  const mangle = new TableBuilder();
  if (config.dropInvalid) addDropInvalid(mangle, config);
  if (usesTproxy(config)) addInboundTproxy(mangle, config, family);

  const nat = new TableBuilder();
  addInboundRedirect(nat, config, family);
  addOutbound(nat, config, family);
  addDnsRedirect(nat, config, family);

  const tables: [TableName, Table][] = [["raw", raw.table()], ["mangle", mangle.table()], ["nat", nat.table()]];
  return { family, tables: new Map(tables.filter(([, table]) => table.hooks.length > 0)) };
}

/** No rules at all, for clean-up. */
export function noRules(family: Family): Ruleset {
  return { family, tables: new Map() };
}

/** Drops packets of unknown connections. Otherwise a late packet would cause a reset that ends a live connection. */
function addDropInvalid(mangle: TableBuilder, config: RedirectionConfig): void {
  for (const device of config.interfacesExcluded) mangle.add(chains.drop, { in: device }, leave, "excluded device");
  mangle.add(chains.drop, {}, { kind: "drop" }, "a packet of no known connection");
  mangle.hook("PREROUTING", { state: "INVALID" }, to(chains.drop), "packets of no known connection");
}
