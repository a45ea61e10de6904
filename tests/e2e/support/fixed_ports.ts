/**
 * The ports that an Envoy was made to bind by what a test wrote.
 *
 * @module
 */
import { mayBind } from "../../../scripts/ports.ts";

/** The part of `/config_dump?resource=dynamic_listeners` that says where listeners are. */
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
 * Listeners that bind a port which is leased to nobody, such as `0.0.0.0_8080`: the test that wrote them fails where
 * another program has that port. Unlike the agent's check of readiness this reads the ports that were configured, not
 * those that the system chose, and also of listeners that are warming.
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
