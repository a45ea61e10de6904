/** A test whose Envoys bind a fixed port is detected, even if no other program uses the port. */
import assert from "node:assert/strict";
import { PortLease } from "../../scripts/ports.ts";
import { fixedPorts } from "./support/fixed_ports.ts";

const listener = (name: string, port: number, more: object = {}) => {
  return { name, listener: { address: { socket_address: { address: "127.0.0.1", port_value: port } }, ...more } };
};

Deno.test("listeners that bind a port which is not leased are found, in service and warming", () => {
  using lease = new PortLease(1);
  const port = lease.ports[0]!;
  const configs = [
    { name: "leased", active_state: listener("leased", port) },
    { name: "chosen by the system", active_state: listener("chosen by the system", 0) },
    { name: "redirected to", active_state: listener("redirected to", 80, { bind_to_port: false }) },
    { name: "internal", active_state: { listener: { internal_listener: {} } } },
    { name: "fixed", active_state: listener("fixed", 80) },
    { name: "warms", warming_state: listener("warms", 8080, { bind_to_port: true }) },
  ];
  assert.deepEqual(fixedPorts(JSON.stringify({ configs })), ["fixed", "warms"]);
  assert.deepEqual(fixedPorts("{}"), [], "a proxy without listeners");
});
