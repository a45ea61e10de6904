/**
 * A real Envoy with static resources alone.
 *
 * Permissions: read and write (temp folder), run (envoy), net (loopback).
 *
 * @module
 */
import { encode } from "../../lib/pb/codec.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { type EnvoyProcess, startEnvoyProcess } from "../../scripts/envoy.ts";

/** A serving Envoy. Each listener asks for port 0 and gets a free port. */
export interface StaticEnvoy {
  /** Port of a listener by its name. */
  port(listener: string): number;
  /** A page of the admin interface. */
  admin(page: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts Envoy and resolves when Envoy serves. */
export async function startStatic(
  path: string,
  resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources,
): Promise<StaticEnvoy> {
  const bootstrap: envoy.config.bootstrap.v3.Bootstrap = {
    node: { id: "test", cluster: "test" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    static_resources: resources,
  };
  const running = await startEnvoyProcess({
    binary: path,
    bootstrap: encode("envoy.config.bootstrap.v3.Bootstrap", bootstrap),
  });
  const stop = () => running.stop("SIGKILL");
  try {
    await running.ready();
    const ports = await portsOf(running);
    return { port: (listener) => ports.get(listener)!, admin: async (page) => (await running.page(page))!, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ListenersAnswer {
  readonly listener_statuses: readonly {
    readonly name: string;
    readonly local_address: { readonly socket_address: { readonly port_value: number } };
  }[];
}

async function portsOf(running: EnvoyProcess): Promise<Map<string, number>> {
  const { listener_statuses }: ListenersAnswer = JSON.parse((await running.page("listeners?format=json"))!);
  return new Map(listener_statuses.map((one) => [one.name, one.local_address.socket_address.port_value]));
}
