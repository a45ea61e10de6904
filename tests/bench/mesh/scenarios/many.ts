/**
 * Two thousand proxies at one server, in a small mesh: the work of the wire, which grows with the proxies, outweighs the
 * rest.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { connectFigures, editFigures } from "../figures.ts";
import { reconnectFigures, rowsOf } from "./proxies.ts";
import { checked, label, type LoadSpec, rounds, type Scenario, sized, withSession } from "./scenario.ts";

/** Proxies that connect at the same time. */
const AT_ONCE = 300;

const FULL: LoadSpec = { services: 100, proxies: 2000, delta: true, gzip: true };

export const many: Scenario = {
  name: "many-2000",
  run(options) {
    const load = sized(FULL, options);
    const { proxies, services } = load;
    return withSession(load, options, async (session) => {
      const row = rowsOf("many-2000", `${services} services, ${label(load)}`);
      const connect = checked(await session.connect(AT_ONCE), proxies);
      const routes = await rounds(options.rounds, proxies, () => session.changeRoute());
      const back = checked(await session.reconnect(AT_ONCE), proxies);
      const istio = "not measured";
      return [
        row("connect", `all connect, ${AT_ONCE} at a time`, istio, [connect], connectFigures(connect)),
        row("route", "one route rule changes", istio, routes, editFigures(routes, proxies, {})),
        row("reconnect", "all reconnect with what they have", istio, [back], reconnectFigures(back, null)),
      ];
    });
  },
};
