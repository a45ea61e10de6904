/**
 * `/debug/ndsz`: the DNS table that the agent of a proxy should have. The form is the form of the agent's own page
 * `/debug/ndsz`, so the two can be compared.
 *
 * @module
 */
import * as z from "zod";
import { decodeNameTable } from "../dns/table/name_table_wire.ts";
import { LazyObject, longJsonResponse } from "../http/json_stream.ts";
import { type HttpResponse, textResponse } from "../http/message.ts";
import { NAME_TABLE_TYPE_URL } from "../translate/name_table/encode.ts";
import { queried } from "./query.ts";
import { chosenProxy, isAnswer, PROXY_ID } from "./select.ts";

/** The page. For an agent that asks for no table the answer is 404, because no table is made. */
export const ndsz = queried(z.object({ proxyID: PROXY_ID }), (request, view, { proxyID }): HttpResponse => {
  const connection = chosenProxy(proxyID, view);
  if (isAnswer(connection)) return connection;
  const { stream } = connection;
  const sets = stream?.watches.get(NAME_TABLE_TYPE_URL) ? stream.view.resourceSets(NAME_TABLE_TYPE_URL) ?? [] : [];
  const tables = sets.flatMap((set) => [...set]);
  if (tables.length === 0) {
    return textResponse(
      404,
      `the agent of ${connection.id} asks for no table of names; agents ask with MESH_META_DNS_CAPTURE or MESH_META_ENABLE_DNS_SERVER\n`,
    );
  }
  const names = tables.flatMap(({ value }) => Object.entries(decodeNameTable(value)));
  return longJsonResponse(new LazyObject([["table", new LazyObject(names)]]), request);
});
