/**
 * The ports that an Envoy binds because of a test's configuration.
 *
 * @module
 */
import { mayBind } from "../../../scripts/ports.ts";

/** The part of `/config_dump?resource=dynamic_listeners` with the addresses of listeners. */
interface ListenerDump {
  readonly configs?: readonly {
    readonly name: string;
    readonly active_state?: State;
    readonly warming_state?: State;
  }[];
}

interface State {
  readonly listener: Listener;
}

interface Listener {
  readonly address?: { readonly socket_address?: { readonly port_value?: number } };
  readonly bind_to_port?: boolean;
}

/**
 * Listeners on a port without a lease, such as `0.0.0.0_8080`. The test with such a listener fails if another program
 * uses the port. Unlike the agent's check of readiness, this function reads the configured ports instead of the bound
 * ports, and includes warming listeners.
 *
 * @param dump Envoy's page `/config_dump?resource=dynamic_listeners`
 */
export function fixedPorts(dump: string): string[] {
  const { configs = [] } = JSON.parse(dump) as ListenerDump;
  return configs.filter(({ active_state, warming_state }) =>
    [active_state, warming_state].some((state) => {
      const port = state?.listener.address?.socket_address?.port_value;
      return port !== undefined && state!.listener.bind_to_port !== false && !mayBind(port);
    })
  ).map(({ name }) => name);
}
