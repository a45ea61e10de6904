/**
 * A Gateway of the Gateway API with many routes.
 *
 * Permissions: the permissions of `../session.ts` and `../api.ts`.
 *
 * @module
 */
import { BenchApi } from "../api.ts";
import type { Shape } from "../configuration.ts";
import { atMost, connectFigures, delayFigure, editFigures, figure } from "../figures.ts";
import { ADMITTED } from "../gateway_routes.ts";
import { rowsOf } from "./proxies.ts";
import { checked, label, type LoadSpec, rounds, type Scenario, shapeOf, withSession } from "./scenario.ts";

/** Hostnames over which the routes are spread. */
const HOSTS = 100;

/** Proxies of the Gateway. */
const PROXIES = 50;

/** Services behind the routes. */
const SERVICES = 100;

function shape(routes: number, quick: boolean): Shape {
  const gateway = { routes: quick ? routes / 10 : routes, hosts: HOSTS, proxies: PROXIES };
  return { ...shapeOf(SERVICES), routed: 0, gateway };
}

/** From a folder: the proxies connect, one of the routes is edited, and others are admitted by a grant and by a label. */
export function gatewayRoutes(routes: number): Scenario {
  const name = `gateway-${routes}-routes`;
  return {
    name,
    run(options) {
      const load: LoadSpec = { services: SERVICES, proxies: PROXIES, delta: true, gzip: false };
      const ofMesh = shape(routes, options.quick);
      return withSession(load, options, async (session) => {
        const { proxies } = load;
        const row = rowsOf(
          name,
          `${ofMesh.gateway!.routes} HTTPRoutes over ${HOSTS} hosts at a Gateway, ${label(load)}`,
        );
        const connect = checked(await session.connect(), proxies);
        const edits = await rounds(options.rounds, proxies, () => session.changeGatewayRoute());
        const grants = await rounds(options.rounds, proxies, () => session.changeGrant());
        const labels = await rounds(options.rounds, proxies, () => session.changeNamespaceLabel());
        const targets = { cpu: 0.1, last: 150, only: ["VirtualHost"] };
        return [
          row("connect", "all connect", "not measured", [connect], connectFigures(connect)),
          row("edit", "one route is edited", "not measured", edits, editFigures(edits, proxies, targets)),
          row("grant", `a grant opens ${ADMITTED} routes`, "not measured", grants, editFigures(grants, proxies, {})),
          row("label", `a label admits ${ADMITTED} routes`, "not measured", labels, editFigures(labels, proxies, {})),
        ];
      }, ofMesh);
    },
  };
}

/** Writes of status at once, and then each second: the defaults of `MESH_GATEWAY_STATUS_BURST` and `PILOT_STATUS_QPS`. */
const [BURST, QPS] = [2000, 100];

/** Targets, s: the start until each route has its status, without the wait that the limit of writes imposes. */
const JUDGED: Readonly<Record<number, number>> = { 1000: 2, 5000: 8 };

/** With an API server: the start, until each route has its status. */
export function gatewayStatus(routes: number): Scenario {
  const name = `gateway-${routes}-status`;
  return {
    name,
    async run(options) {
      const ofMesh = shape(routes, options.quick);
      const load = { services: SERVICES, proxies: 0, delta: true, gzip: false };
      await using api = await BenchApi.start(ofMesh);
      let waited = 0;
      const judged = async () => {
        const ready = performance.now();
        waited = (await api.routesJudged() - ready) / 1000;
      };
      return await withSession(
        load,
        options,
        async (session) => {
          const { server, startCalibration } = session;
          const seconds = server.start.seconds + waited;
          const limited = Math.max(0, ofMesh.gateway!.routes - BURST) / QPS;
          const { cpu, delay } = await server.measure();
          const { resident } = await session.restingMemory();
          return [{
            id: name,
            work: `start on an API server with ${ofMesh.gateway!.routes} HTTPRoutes, until each has its status`,
            istio: "not measured",
            figures: [
              figure("", "CPU s", cpu),
              figure("", "s", seconds),
              figure("without the limit of writes", "s", seconds - limited, atMost(JUDGED[ofMesh.gateway!.routes])),
              figure("resident at rest", "MiB", resident),
              delayFigure(server.start.delay, delay),
            ],
            calibrations: [startCalibration],
          }];
        },
        ofMesh,
        api,
        judged,
      );
    },
  };
}
