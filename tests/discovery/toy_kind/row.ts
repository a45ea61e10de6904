/**
 * The third file of a kind: its row among the results.
 *
 * @module
 */
import { ofHosts } from "../../../lib/translate/machine/results/row.ts";
import { RESULTS } from "../../../lib/translate/machine/results/table.ts";
import { TOY_TYPE, toyOf } from "./builder.ts";
import { type ToyIndex, toyQuery } from "./index.ts";

/** All rows of the product, and the toy's. Gateways have no toys. */
export function withToys(index: ToyIndex) {
  const query = toyQuery(index);
  const toys = ofHosts({
    type: TOY_TYPE,
    for: ({ gateways }) => !gateways,
    builder: () => (read, host) => toyOf(read, query, host),
    failure: { name: "toys", services: ["ecds"] },
  });
  return { ...RESULTS, toys };
}
